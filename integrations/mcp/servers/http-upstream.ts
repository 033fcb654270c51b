// Connects to a server over streamable HTTP: each message is a POST of its own, and the reply is one message
// or a stream of events. In the era of sessions the connection keeps the server's session id, and listens on
// a further stream.

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Upstream } from '../calls/conversation.ts';
import { eraOf, versionOf } from '../protocol/eras.ts';
import { readEvents, type SentEvent } from '../protocol/events.ts';
import {
  errorAnswer,
  errorCodes,
  type Id,
  isRequest,
  isResponse,
  type JsonObject,
  type Message,
  member,
  type RpcRequest,
  readFromServer,
  writeMessage,
} from '../protocol/messages.ts';
import { mirroredHeaders } from '../protocol/mirrored-headers.ts';
import type { UpstreamEvents } from './child-upstream.ts';

export interface HttpServer {
  readonly url: URL;
  /** Headers of every message; by them the server knows the operator. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The input schema of a tool, or null when it is not known. Some arguments may have to be repeated in
   * headers.
   */
  readonly schemaOf: (tool: string) => JsonObject | null;
}

interface Line {
  readonly server: HttpServer;
  readonly events: UpstreamEvents;
  /** The session id; null before the server has given one. */
  session: string | null;
  /** The protocol version that was agreed on when the session began. */
  version: string | null;
  readonly open: Set<ClientRequest>;
  isListening: boolean;
  isClosed: boolean;
}

const bodyCharactersMax = 64 * 1024 * 1024;

export function connectServer(server: HttpServer, events: UpstreamEvents): Upstream {
  const line: Line = {
    server,
    events,
    session: null,
    version: null,
    open: new Set(),
    isListening: false,
    isClosed: false,
  };
  return {
    send: (message) => post(line, message),
    close() {
      line.isClosed = true;
      for (const open of line.open) open.destroy();
      if (line.session !== null) exchange(line, 'DELETE', sessionHeader(line)).on('error', ignore).end();
    },
  };
}

function post(line: Line, message: Message): void {
  const params = 'params' in message ? message.params : undefined;
  const body = writeMessage(message);
  const sent = exchange(line, 'POST', {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(Buffer.byteLength(body)),
    ...versionHeader(line, params),
    ...('method' in message && eraOf(params) === 'stateless'
      ? mirroredHeaders(message, line.server.schemaOf)
      : sessionHeader(line)),
  });
  const asked = isRequest(message) ? message : null;
  const failed = (error: Error) => fail(line, asked, `the server cannot be reached: ${error.message}`);
  sent.on('error', failed);
  sent.on('response', (response) => {
    // From this point on, errors are reported by the response.
    sent.off('error', failed).on('error', ignore);
    take(line, response, asked);
  });
  sent.end(body);
  const isBegun =
    !isRequest(message) && !isResponse(message) && message.method === 'notifications/initialized';
  if (isBegun && line.session !== null) listen(line, null);
}

function versionHeader({ version }: Line, params: JsonObject | undefined): Readonly<Record<string, string>> {
  const said = versionOf(params) ?? version;
  return said === null ? {} : { 'mcp-protocol-version': said };
}

function sessionHeader({ session }: Line): Readonly<Record<string, string>> {
  return session === null ? {} : { 'mcp-session-id': session };
}

function exchange({ server, open }: Line, method: string, headers: Readonly<Record<string, string>>) {
  const send = server.url.protocol === 'https:' ? httpsRequest : httpRequest;
  const sent = send(server.url, { method, headers: { ...server.headers, ...headers } });
  open.add(sent);
  sent.on('close', () => open.delete(sent));
  // Without this, a reply that switches to another protocol would end the request without an error.
  sent.on('upgrade', (_response, socket) => {
    socket.destroy();
    sent.emit('error', new Error('it answers in another protocol'));
  });
  return sent;
}

/** Answers the request with an error. No result is made up. */
function fail({ events, isClosed }: Line, asked: RpcRequest | null, why: string): void {
  if (asked !== null && !isClosed)
    events.onMessage(errorAnswer(asked.id, errorCodes.internal, why), asked.id);
}

function take(line: Line, response: IncomingMessage, asked: RpcRequest | null): void {
  const { headers } = response;
  if (asked?.method === 'initialize' && typeof headers['mcp-session-id'] === 'string')
    line.session = headers['mcp-session-id'];
  if (headers['content-type']?.startsWith('text/event-stream') === true) takeEvents(line, response, asked);
  else takeBody(line, response, asked);
}

/**
 * Takes a body of one message, or of several messages on a line each, as some servers send messages before an
 * answer.
 */
function takeBody(line: Line, response: IncomingMessage, asked: RpcRequest | null): void {
  const decoder = new TextDecoder();
  let text = '';
  let areLines = true;
  let isAnswered = asked === null;
  const give = (message: Message): void => {
    isAnswered ||= isResponse(message);
    const isUnnamed = isResponse(message) && message.id === null && message.error !== undefined;
    const named = isUnnamed && asked !== null ? { ...message, id: asked.id } : message;
    hand(line, named, asked?.id ?? null, response.statusCode);
  };
  const takeLines = (): void => {
    for (let end = text.indexOf('\n'); areLines && !isAnswered && end >= 0; end = text.indexOf('\n')) {
      const message = readFromServer(text.slice(0, end));
      areLines = message !== null;
      if (message === null) return;
      text = text.slice(end + 1);
      give(message);
    }
  };
  const giveUp = (why: string): void => {
    if (!isAnswered) fail(line, asked, why);
    isAnswered = true;
  };
  response.on('data', (part: Buffer) => {
    const piece = decoder.decode(part, { stream: true });
    text += piece;
    if (text.length > bodyCharactersMax) response.destroy(new Error('the body has no end'));
    if (piece.includes('\n')) takeLines();
  });
  response.on('error', () => giveUp('the answer of the server stopped before its end'));
  response.on('end', () => {
    const message = isAnswered ? null : readFromServer(text);
    if (message !== null) give(message);
    giveUp(`the server answers with HTTP status ${response.statusCode}`);
  });
}

/** Hands on a message, and keeps the agreed protocol version for later messages. */
function hand(line: Line, message: Message, relatedTo: Id | null, status?: number): void {
  const version = isResponse(message) ? member(message.result, 'protocolVersion') : undefined;
  if (typeof version === 'string') line.version = version;
  line.events.onMessage(message, relatedTo, status);
}

const retryMsDefault = 1_000;
const resumesMax = 1_000;

interface Stream {
  readonly asked: RpcRequest | null;
  lastEventId: string | null;
  retryMs: number;
  isAnswered: boolean;
  resumes: number;
}

function takeEvents(line: Line, response: IncomingMessage, asked: RpcRequest | null): void {
  const stream: Stream = {
    asked,
    lastEventId: null,
    retryMs: retryMsDefault,
    isAnswered: asked === null,
    resumes: 0,
  };
  readStream(line, response, stream);
}

function readStream(line: Line, response: IncomingMessage, stream: Stream): void {
  readEvents(response, {
    onEvent: (event) => takeEvent(line, event, stream),
    onEnd: () => resume(line, stream),
  });
}

function takeEvent(line: Line, { id, retryMs, data }: SentEvent, stream: Stream): void {
  if (id !== null) stream.lastEventId = id;
  if (retryMs !== null) stream.retryMs = retryMs;
  const message = data === '' ? null : readFromServer(data);
  if (message === null) return;
  if (isResponse(message) && message.id === stream.asked?.id) stream.isAnswered = true;
  hand(line, message, stream.asked?.id ?? null);
}

/** Resumes a stream: a server may close the connection and let its client come back for the rest. */
function resume(line: Line, stream: Stream): void {
  const { asked, lastEventId, retryMs } = stream;
  if (line.isClosed || stream.isAnswered) return;
  if (lastEventId === null || stream.resumes >= resumesMax) {
    fail(line, asked, 'the answer of the server stopped before its end');
    return;
  }
  stream.resumes += 1;
  setTimeout(() => {
    if (!line.isClosed) listen(line, stream);
  }, retryMs).unref();
}

/**
 * Listens on a stream to resume, or, when `stream` is null, for messages that the server sends by itself in
 * the era of sessions.
 */
function listen(line: Line, stream: Stream | null): void {
  if (stream === null && line.isListening) return;
  line.isListening ||= stream === null;
  const resumed = stream?.lastEventId ?? null;
  const sent = exchange(line, 'GET', {
    accept: 'text/event-stream',
    ...versionHeader(line, undefined),
    ...sessionHeader(line),
    ...(resumed === null ? {} : { 'last-event-id': resumed }),
  });
  sent.on('error', () =>
    fail(line, stream?.asked ?? null, 'the answer of the server stopped before its end'),
  );
  sent.on('response', (response) => {
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
    if (response.statusCode !== 200 || !isStream) {
      response.resume();
      fail(line, stream?.asked ?? null, 'the answer of the server stopped before its end');
    } else if (stream !== null) readStream(line, response, stream);
    else
      readEvents(response, { onEvent: (event) => takeUnasked(line, event), onEnd: () => listenAgain(line) });
  });
  sent.end();
}

function takeUnasked(line: Line, { data }: SentEvent): void {
  const message = data === '' ? null : readFromServer(data);
  if (message !== null) hand(line, message, null);
}

function listenAgain(line: Line): void {
  line.isListening = false;
  setTimeout(() => {
    if (!line.isClosed) listen(line, null);
  }, retryMsDefault).unref();
}

function ignore(): void {}
