// Serves clients over streamable HTTP, of both eras. Each POST is one message, and messages that belong to it
// go back on its reply. INVARIANT: a client is known by its own key, which goes to the service and nowhere
// else; a session answers only to the key that began it; a header of which one value is read has one.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import { isSingular, repeatedHeader } from '../../../src/service/http/connection/repeated-headers.ts';
import { metaNames, versionOf, versionsWithSessions } from '../protocol/eras.ts';
import {
  errorAnswer,
  errorCodes,
  isRequest,
  type Message,
  type RpcRequest,
  readFromClient,
} from '../protocol/messages.ts';
import { mirrorFault } from '../protocol/mirrored-headers.ts';
import { type Exchange, openExchange } from './http-exchange.ts';
import { type ClientSessions, createSessions, type SessionParts } from './http-sessions.ts';

export interface HttpFront extends SessionParts {
  /** Origins of pages that may call, in addition to those of this machine. */
  readonly origins: readonly string[];
  /** Host names under which clients reach this address, in addition to those of this machine. */
  readonly hosts: readonly string[];
  /** The key for clients that bring none; null when each client has to bring its own. */
  readonly sharedKey: string | null;
}

const bodyBytesMax = 4 * 1024 * 1024;

export function createHttpFront(front: HttpFront): Server {
  const sessions = createSessions(front);
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    handle(front, sessions, openExchange(request, response)).catch((error: Error) => {
      front.warn(`a request failed: ${error.message}`);
      response.destroy();
    });
  });
  server.on('close', sessions.close);
  return server;
}

async function handle(front: HttpFront, sessions: ClientSessions, exchange: Exchange): Promise<void> {
  const { request, refuse } = exchange;
  const repeated = repeatedHeader(request, (name) => name.startsWith('mcp-') || isSingular(name));
  if (repeated !== null)
    return refuse(400, errorCodes.invalidRequest, `the header \`${repeated}\` is given more than once`);
  const [path] = (request.url ?? '').split('?');
  if (path !== '/mcp') return refuse(404, errorCodes.invalidRequest, 'the address is /mcp');
  if (!isLocal(front, request))
    return refuse(403, errorCodes.invalidRequest, 'this origin or host may not call');
  const key = keyOf(front, request);
  if (key === null)
    return refuse(401, errorCodes.invalidRequest, 'send `Authorization: Bearer` with the key of an agent');
  switch (request.method) {
    case 'POST':
      return post(sessions, exchange, key);
    case 'GET':
      return sessions.listen(exchange, key);
    case 'DELETE':
      return sessions.end(exchange, key);
    default:
      return refuse(405, errorCodes.invalidRequest, 'this method is not supported');
  }
}

/**
 * Whether a request comes from this machine or an allowed page. Protects from pages that make a browser call
 * an address of this machine.
 */
function isLocal({ origins, hosts }: HttpFront, { headers }: IncomingMessage): boolean {
  const { origin, host = '' } = headers;
  const isKnownHost = isLoopback(nameOf(`http://${host}`)) || hosts.includes(nameOf(`http://${host}`) ?? '');
  return isKnownHost && (origin === undefined || origins.includes(origin) || isLoopback(nameOf(origin)));
}

function nameOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).hostname : null;
}

function isLoopback(name: string | null): boolean {
  return name === 'localhost' || name === '127.0.0.1' || name === '[::1]';
}

function keyOf({ sharedKey }: HttpFront, { headers }: IncomingMessage): string | null {
  const { authorization } = headers;
  if (authorization === undefined) return sharedKey;
  return /^Bearer (writ_[\w-]+)$/i.exec(authorization)?.[1] ?? null;
}

async function post(sessions: ClientSessions, exchange: Exchange, key: string): Promise<void> {
  const { request, refuse } = exchange;
  const { accept = '', 'content-type': type = '' } = request.headers;
  if (!type.startsWith('application/json'))
    return refuse(415, errorCodes.invalidRequest, 'send application/json');
  if (!takesBoth(accept))
    return refuse(406, errorCodes.invalidRequest, 'accept application/json and text/event-stream');
  const body = await bodyOf(request);
  if (body === null) return refuse(413, errorCodes.invalidRequest, 'the message is too large');
  const read = readFromClient(body);
  if (!read.ok) return exchange.answer(400, read.answer);
  const { message } = read;
  if ('method' in message && isStateless(message, request))
    return stateless(sessions, exchange, { message, key });
  const version = request.headers['mcp-protocol-version'];
  if (version !== undefined && !versionsWithSessions.some((one) => one === version))
    return refuse(400, errorCodes.invalidRequest, 'the protocol version is not known');
  return sessions.take(exchange, message, key);
}

function takesBoth(accept: string): boolean {
  return (
    accept.includes('*/*') || (accept.includes('application/json') && accept.includes('text/event-stream'))
  );
}

/**
 * Whether a message is of the stateless era, by the message or by the header. When the two differ, the
 * message is refused later.
 */
function isStateless(message: Message, { headers }: IncomingMessage): boolean {
  const version = String(headers['mcp-protocol-version'] ?? '');
  const isLater = version > versionsWithSessions.at(-1)!;
  return isLater || versionOf('params' in message ? message.params : undefined) !== null;
}

interface StatelessCall {
  readonly message: Message;
  readonly key: string;
}

async function stateless(sessions: ClientSessions, exchange: Exchange, call: StatelessCall): Promise<void> {
  const { message, key } = call;
  if (!isRequest(message)) return exchange.accept();
  if (versionOf(message.params) === null) {
    const why = `_meta has no ${metaNames.version}`;
    return exchange.answer(400, errorAnswer(message.id, errorCodes.invalidParams, why));
  }
  const fault = await headerFault(sessions, exchange, { message, key });
  if (fault !== null)
    return exchange.answer(
      400,
      errorAnswer(message.id, errorCodes.headerMismatch, `Header mismatch: ${fault}`),
    );
  return sessions.takeAlone(exchange, message, key);
}

async function headerFault(
  sessions: ClientSessions,
  { request }: Exchange,
  { message, key }: { readonly message: RpcRequest; readonly key: string },
): Promise<string | null> {
  const version = versionOf(message.params);
  if (request.headers['mcp-protocol-version'] !== version)
    return 'the header mcp-protocol-version does not match the message';
  return mirrorFault(message, sessions.schemaOf(key), request.headers);
}

/** The body; null when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > bodyBytesMax) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
