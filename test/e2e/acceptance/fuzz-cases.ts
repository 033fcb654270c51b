// Turns a seed and a number into the bytes of one connection: requests close to what the service accepts,
// with something wrong in the body, the headers, the framing or the bytes. Also gives the most grants that
// the bytes may lead to.

import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../../src/language/json/parse.ts';
import type { OpenApiDocument } from '../../../src/service/http/contract/openapi.ts';
import { createDocumentRequests, type DocumentRequest } from './document-requests.ts';
import { createDraw, type Draw } from './draw.ts';

export interface Case {
  readonly bytes: Buffer;
  /** Positions at which the bytes are cut into pieces, rising. */
  readonly cuts: readonly number[];
  /** The case is exactly one well-framed request that asks to close its connection, and must be answered. */
  readonly isWhole: boolean;
  /** Whether the sending side is closed after the last byte. */
  readonly isEnded: boolean;
  /** The most replies that may be an ALLOW: one for each body that the strict reading accepts. */
  readonly grantsMax: number;
  /**
   * The statuses that the document announces for the request; null when the request matches no operation of
   * the document.
   */
  readonly statuses: ReadonlySet<string> | null;
}

export interface Cases {
  /** The case number `index`; depends only on the seed and on `index`. */
  next(index: number): Case;
}

/** The service's document, and the key of an agent. */
export interface Target {
  readonly apiKey: string;
  readonly document: OpenApiDocument;
}

export function createCases(seed: number, { apiKey, document }: Target): Cases {
  const requests = createDocumentRequests(document, apiKey);
  return {
    next(index) {
      const draw = createDraw(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
      const kind = draw.below(20);
      if (kind < 10) return wholeCase(draw, apiKey);
      if (kind < 14) return documentCase(requests.next(draw));
      return kind < 19 ? brokenCase(draw, apiKey) : rawCase(draw);
    },
  };
}

/** A request made from the document, with violations, in one piece. */
function documentCase({ bytes, body, mayGrant, statuses }: DocumentRequest): Case {
  const grantsMax = mayGrant ? grantsOf(body) : 0;
  return { bytes, cuts: [], isWhole: true, isEnded: false, grantsMax, statuses };
}

/** Random bytes, or words of the protocol in random order. */
function rawCase(draw: Draw): Case {
  const isBytes = draw.chance(0.5);
  const parts = Array.from({ length: 1 + draw.below(60) }, () =>
    isBytes ? Buffer.from([draw.below(256)]) : Buffer.from(draw.from(protocolWords), 'latin1'),
  );
  const bytes = Buffer.concat(parts);
  const cuts = draw.chance(0.3) ? cutsOf(draw, bytes.length) : [];
  return { bytes, cuts, isWhole: false, isEnded: draw.chance(0.95), grantsMax: 0, statuses: null };
}

const protocolWords = [
  'POST ',
  'GET ',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'CONNECT ',
  'HTTP/1.1',
  'HTTP/0.9',
  ' ',
  '\r\n',
  '\r\n\r\n',
  '/v1/authorize',
  '/healthz',
  'Host: x',
  'Content-Length: 3',
  'Transfer-Encoding: chunked',
  '0\r\n\r\n',
  '5;x=y\r\n',
  'ffffffffffffffff\r\n',
  'Upgrade: h2c',
  'Connection: upgrade',
  '\x16\x03\x01\x02\x00',
  '\0',
  '{}',
  ':',
] as const;

/** A well-framed request with any content. */
function wholeCase(draw: Draw, apiKey: string): Case {
  const body = makeBody(draw);
  const request = makeRequest(draw, { apiKey, body, isLast: true });
  const { bytes, isAnswered } = request;
  const cuts = draw.chance(0.1) ? cutsOf(draw, bytes.length) : [];
  return {
    bytes,
    cuts,
    isWhole: isAnswered,
    isEnded: false,
    grantsMax: request.mayGrant ? grantsOf(body) : 0,
    statuses: null,
  };
}

/** Several requests on one connection, and damage somewhere in their bytes. */
function brokenCase(draw: Draw, apiKey: string): Case {
  const bodies = Array.from({ length: 1 + draw.below(3) }, () => makeBody(draw));
  const whole = Buffer.concat(
    bodies.map(
      (body, index) => makeRequest(draw, { apiKey, body, isLast: index === bodies.length - 1 }).bytes,
    ),
  );
  const bytes = damage(draw, whole);
  return {
    bytes,
    isWhole: false,
    isEnded: draw.chance(0.95),
    cuts: draw.chance(0.3) ? cutsOf(draw, bytes.length) : [],
    // Damage may repair a body, but never adds another one.
    grantsMax: bodies.length,
    statuses: null,
  };
}

function cutsOf(draw: Draw, length: number): readonly number[] {
  return Array.from({ length: 1 + draw.below(4) }, () => draw.below(length)).sort((a, b) => a - b);
}

/** 1 when the definition of strict JSON accepts the body and the body is an authorization request, else 0. */
function grantsOf(body: Buffer): number {
  if (!isUtf8(body) || body.length > 256 * 1024) return 0;
  const parsed = parseJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(body), 32);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null) return 0;
  const names = Object.keys(parsed.value).sort().join();
  return names === 'action_key,payload' ? 1 : 0;
}

const goodPayload = '{"amount":0.01,"currency":"USD","vendor":"Staples","description":"paper"}';

function makeBody(draw: Draw): Buffer {
  const text = draw.chance(0.5) ? `{"action_key":"payment.create","payload":${goodPayload}}` : envelope(draw);
  const changed = draw.chance(0.35) ? spoil(draw, text) : text;
  const bytes = Buffer.from(changed, 'utf8');
  if (draw.chance(0.05)) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
  if (draw.chance(0.05)) bytes[draw.below(bytes.length)] = draw.below(256);
  return bytes;
}

function envelope(draw: Draw): string {
  const members = [
    `"action_key":${draw.chance(0.8) ? '"payment.create"' : value(draw, 0)}`,
    `"payload":${draw.chance(0.8) ? payload(draw) : value(draw, 0)}`,
  ];
  if (draw.chance(0.1))
    members.push(`"${draw.from(['extra', '__proto__', 'payload', 'action_key'])}":${value(draw, 0)}`);
  if (draw.chance(0.1)) members.pop();
  if (draw.chance(0.2)) members.reverse();
  return `{${members.join(draw.from([',', ', ', ' ,\n']))}}`;
}

const fields = [
  '"amount":120',
  '"amount":-0',
  '"amount":1e2',
  '"amount":1.20',
  '"amount":1e400',
  '"amount":1e-400',
  '"amount":0.1234567890123456',
  '"amount":123456789012345678',
  '"amount":0.30000000000000004',
  '"amount":9007199254740993',
  '"amount":null',
  '"amount":"120"',
  '"currency":"USD"',
  '"currency":"usd"',
  '"vendor":"Staples"',
  '"vendor":"\\u0053taples"',
  '"vendor":"\\ud800"',
  '"vendor":"\\ud83c\\udf31"',
  '"description":"paper"',
  '"__proto__":{"amount":1}',
  '"constructor":{"prototype":{}}',
  '"vendor":"a\\u0000b"',
  '"description":"\u202e"',
  '"toString":1',
] as const;

function payload(draw: Draw): string {
  const chosen = Array.from({ length: draw.below(7) }, () => draw.from(fields));
  const base = draw.chance(0.6) ? goodPayload.slice(1, -1).split(',') : [];
  return `{${[...base, ...chosen].join(',')}}`;
}

function value(draw: Draw, depth: number): string {
  const kind = draw.below(depth > 3 ? 6 : 9);
  switch (kind) {
    case 0:
      return draw.from(['null', 'true', 'false']);
    case 1:
      return draw.from([
        '0',
        '-0',
        '1e5',
        '9007199254740993',
        '1E+2',
        '0.1',
        '-1.5',
        '01',
        '+1',
        '.5',
        'NaN',
      ]);
    case 2:
      return JSON.stringify('é🌱\u0000"\\/'.repeat(draw.below(4)));
    case 3:
      return '"x"';
    case 4:
      return `${'['.repeat(draw.below(40))}${']'.repeat(draw.below(40))}`;
    case 5:
      return `"${'a'.repeat(draw.below(300))}"`;
    case 6:
      return `[${Array.from({ length: draw.below(4) }, () => value(draw, depth + 1)).join(',')}]`;
    default:
      return `{${Array.from({ length: draw.below(4) }, () => `"${draw.from(['a', 'b', '__proto__'])}":${value(draw, depth + 1)}`).join(',')}}`;
  }
}

/** One small change of a text, most often a mistake. */
function spoil(draw: Draw, text: string): string {
  const at = draw.below(text.length);
  const inserted = draw.from([
    ',',
    '"',
    '{',
    '}',
    '[',
    ']',
    ':',
    '\\',
    ' ',
    '\t',
    '\u0001',
    '0',
    '\\ud800',
    '/**/',
    '\ufeff',
  ]);
  switch (draw.below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + inserted + text.slice(at);
    case 2:
      return text.slice(0, at);
    default:
      return `${text}${draw.from(['}', ' ', '\n', '{}', ',', '\u0000'])}`;
  }
}

interface MadeRequest {
  readonly bytes: Buffer;
  readonly mayGrant: boolean;
  readonly isAnswered: boolean;
}

interface RequestParts {
  readonly apiKey: string;
  readonly body: Buffer;
  readonly isLast: boolean;
}

function makeRequest(draw: Draw, { apiKey, body, isLast }: RequestParts): MadeRequest {
  const isPlain = draw.chance(0.7);
  const method = isPlain
    ? 'POST'
    : draw.from(['POST', 'GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND']);
  const path = isPlain ? '/v1/authorize' : draw.from(paths);
  const type = isPlain ? 'application/json' : draw.from(types);
  const key = isPlain
    ? apiKey
    : draw.from([apiKey, apiKey, '', 'writ_x', `${apiKey.slice(0, -1)}!`, ` ${apiKey}`]);
  const extra = Array.from({ length: draw.below(3) }, () => draw.from(extraHeaders));
  const isChunked = draw.chance(0.15);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Content-Type: ${type}`,
    `X-Agent-API-Key: ${key}`,
    ...extra,
    isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
    ...(isLast ? ['Connection: close'] : []),
  ];
  const sent = isChunked ? chunked(draw, body) : body;
  return {
    bytes: Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), sent]),
    mayGrant: method === 'POST' && key.trim() === apiKey,
    // A GET leaves a body unread, so the connection may close before the reply is read.
    isAnswered: method !== 'GET',
  };
}

const paths = [
  '/v1/authorize',
  '/v1/authorize?x=1',
  '/v1/authorize/',
  '/V1/authorize',
  '/v1//authorize',
  '/%76%31/authorize',
  '/',
  '/%',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/plants',
  '/v1/requests/x',
  '/v1/requests/%00',
  ...[
    `/v1/requests/${'a'.repeat(300)}`,
    '/../v1/authorize',
    '*',
    'http://127.0.0.1/v1/authorize',
    '/v1/requests/',
  ],
] as const;

const types = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  'text/plain',
  '',
  'application/problem+json',
  'multipart/form-data',
  'application/json, text/plain',
] as const;

const extraHeaders = [
  ...[
    'Idempotency-Key: a',
    'Idempotency-Key: ',
    'Idempotency-Key: \xe9',
    `Idempotency-Key: ${'k'.repeat(300)}`,
  ],
  'X-Request-ID: call-1',
  'X-Request-ID: a b',
  'X-Agent-Session: s',
  'X-Agent-Session: \x7f',
  'Prefer: wait=0',
  'X-Service-Signature: sha256=00',
  'Expect: 100-continue',
  'Expect: x',
  'Content-Encoding: gzip',
  'Upgrade: websocket',
  'TE: trailers',
  'Authorization: Bearer x',
  'X-Forwarded-For: 10.0.0.1',
  'Cookie: a=b',
  ...[`X-Long: ${'x'.repeat(4_000)}`, 'X-Agent-API-Key: second', '__proto__: x', 'constructor: y'],
] as const;

function chunked(draw: Draw, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    const piece = body.subarray(from, from + 1 + draw.below(60));
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
    from += piece.length;
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function damage(draw: Draw, bytes: Buffer): Buffer {
  const at = draw.below(bytes.length);
  const before = bytes.subarray(0, at);
  const insert = (text: string) => Buffer.concat([before, Buffer.from(text, 'latin1'), bytes.subarray(at)]);
  switch (draw.below(8)) {
    case 0:
      return before;
    case 1:
      return insert(draw.from(['\0', '\r', '\n', '\r\n', ' ', ':', '\r\n\r\n', '\xff', '\t', '0\r\n\r\n']));
    case 2:
      return insert(draw.from(['\r\nContent-Length: 5', '\r\nTransfer-Encoding: chunked', '\r\n Folded: x']));
    case 3:
      return insert('x'.repeat(20_000));
    case 4:
      return Buffer.concat([before, bytes.subarray(at + 1 + draw.below(10))]);
    case 5: {
      const copy = Buffer.from(bytes);
      for (let count = 1 + draw.below(5); count > 0; count--) copy[draw.below(copy.length)] = draw.below(256);
      return copy;
    }
    case 6:
      return Buffer.from(
        bytes.toString('latin1').replace('HTTP/1.1', draw.from(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9', ''])),
        'latin1',
      );
    default:
      return Buffer.from(
        bytes.toString('latin1').replace(/Content-Length: \d+/, draw.from(contentLengths)),
        'latin1',
      );
  }
}

const contentLengths = [
  'Content-Length: 0',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Content-Length: 0x10',
  'Content-Length: 5, 5',
  'Content-Length: +5',
  'Content-Length: 300000',
  'Content-Length:',
  'X: y',
] as const;
