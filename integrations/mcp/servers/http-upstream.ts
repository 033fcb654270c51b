// Connects to a server over streamable HTTP: each message is a POST of its own, and the reply is one message
// or a stream of events. In the era of sessions the connection keeps the server's session id, and listens on
// a further stream. INVARIANT: what a server sends is bounded in size and in silence, and is never unpacked.

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
  /** How long the server may send nothing while a request waits for its answer, in milliseconds. */
  readonly silenceMsMax: number;
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

const bodyCharactersMax = 16 * 1024 * 1024;

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
  const request = isRequest(message) ? message : null;
  const failed = (error: Error) =>
    fail(line, request, reasonOf(error, `the server cannot be reached: ${error.message}`));
  sent.on('error', failed);
  limitSilence(line, sent);
  sent.on('response', (response) => {
    // From this point on, errors are reported by the response.
    sent.off('error', failed).on('error', ignore);
    take(line, response, request);
  });
  sent.end(body);
  const isBegun =
    !isRequest(message) && !isResponse(message) && message.method === 'notifications/initialized';
  if (isBegun && line.session !== null) listen(line, null);
}

function versionHeader({ version }: Line, params: JsonObject | undefined): Readonly<Record<string, string>> {
  const requestVersion = versionOf(params) ?? version;
  return requestVersion === null ? {} : { 'mcp-protocol-version': requestVersion };
}

function sessionHeader({ session }: Line): Readonly<Record<string, string>> {
  return session === null ? {} : { 'mcp-session-id': session };
}

function exchange({ server, open }: Line, method: string, headers: Readonly<Record<string, string>>) {
  const send = server.url.protocol === 'https:' ? httpsRequest : httpRequest;
  const requestHeaders = { ...server.headers, ...headers, 'accept-encoding': 'identity' };
  const sent = send(server.url, { method, headers: requestHeaders });
  open.add(sent);
  sent.on('close', () => open.delete(sent));
  // Without this, a reply that switches to another protocol would end the request without an error.
  sent.on('upgrade', (_response, socket) => {
    socket.destroy();
    sent.emit('error', new Error('it answers in another protocol'));
  });
  return sent;
}

/** Why the proxy has given up an answer, in words for the client. */
class GivenUp extends Error {
  constructor(why: string) {
    super(`${why}: the call was abandoned, and its outcome is unknown`);
  }
}

function reasonOf(error: Error | null, otherwise: string): string {
  return error instanceof GivenUp ? error.message : otherwise;
}

/** Gives up an exchange on which the server sends nothing for too long. */
function limitSilence({ server }: Line, sent: ClientRequest): void {
  const { silenceMsMax } = server;
  const timer = setTimeout(() => {
    const silence = new GivenUp(`the server has sent nothing for ${silenceMsMax / 1_000} s of its answer`);
    if (answer === null) sent.destroy(silence);
    else answer.destroy(silence);
  }, silenceMsMax).unref();
  let answer: IncomingMessage | null = null;
  sent.on('response', (response) => {
    answer = response;
    timer.refresh();
    response.on('data', () => timer.refresh());
  });
  sent.on('close', () => clearTimeout(timer));
}

/** Why the body of a response is not read; null when it is. */
function unreadBody({ headers, statusCode = 0 }: IncomingMessage): string | null {
  const { 'content-encoding': encoding = 'identity', location } = headers;
  if (statusCode >= 300 && statusCode < 400)
    return `the server answers with HTTP status ${statusCode} and leads to another address${location === undefined ? '' : ` (${location})`}, which is not asked: name that address with --url`;
  return encoding === 'identity'
    ? null
    : `the server compressed its answer (${encoding}) although this was not requested; the proxy does not decompress answers`;
}

/** Answers the request with an error. No result is made up. */
function fail({ events, isClosed }: Line, request: RpcRequest | null, why: string): void {
  if (request !== null && !isClosed)
    events.onMessage(errorAnswer(request.id, errorCodes.internal, why), request.id);
}

function take(line: Line, response: IncomingMessage, request: RpcRequest | null): void {
  const { headers } = response;
  if (request?.method === 'initialize' && typeof headers['mcp-session-id'] === 'string')
    line.session = headers['mcp-session-id'];
  const unread = unreadBody(response);
  if (response.statusCode === 404 && line.session !== null && request?.method !== 'initialize') {
    response.destroy();
    endSession(line);
  } else if (unread !== null) {
    response.destroy();
    fail(line, request, unread);
  } else if (headers['content-type']?.startsWith('text/event-stream') === true)
    takeEvents(line, response, request);
  else takeBody(line, response, request);
}

/**
 * Takes a body of one message, or of several messages on a line each, as some servers send messages before an
 * answer.
 */
function takeBody(line: Line, response: IncomingMessage, request: RpcRequest | null): void {
  const decoder = new TextDecoder();
  let text = '';
  let areLines = true;
  let isAnswered = request === null;
  const give = (message: Message): void => {
    isAnswered ||= isResponse(message);
    const isUnnamed = isResponse(message) && message.id === null && message.error !== undefined;
    const named = isUnnamed && request !== null ? { ...message, id: request.id } : message;
    hand(line, named, request?.id ?? null, response.statusCode);
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
    if (!isAnswered) fail(line, request, why);
    isAnswered = true;
  };
  response.on('data', (part: Buffer) => {
    const piece = decoder.decode(part, { stream: true });
    text += piece;
    if (text.length > bodyCharactersMax)
      response.destroy(new GivenUp(`the answer of the server has more than ${bodyCharactersMax} characters`));
    if (piece.includes('\n')) takeLines();
  });
  response.on('error', (error) => giveUp(reasonOf(error, stopped)));
  response.on('end', () => {
    const message = isAnswered ? null : readFromServer(text);
    if (message !== null) give(message);
    giveUp(`the server answers with HTTP status ${response.statusCode}`);
  });
}

/** The server knows the session no more, such as after a restart, and only a new session can go on. */
function endSession(line: Line): void {
  if (line.isClosed) return;
  line.isClosed = true;
  line.session = null;
  for (const open of line.open) open.destroy();
  line.events.onEnd('the server has ended the session');
}

/** Hands on a message, and keeps the agreed protocol version for later messages. */
function hand(line: Line, message: Message, relatedTo: Id | null, status?: number): void {
  const version = isResponse(message) ? member(message.result, 'protocolVersion') : undefined;
  if (typeof version === 'string') line.version = version;
  line.events.onMessage(message, relatedTo, status);
}

const stopped = 'the answer of the server stopped before its end';
const retryMsDefault = 1_000;
const retryMsMax = 60_000;
const resumesMax = 1_000;

interface Stream {
  readonly request: RpcRequest | null;
  lastEventId: string | null;
  retryMs: number;
  isAnswered: boolean;
  resumes: number;
}

function takeEvents(line: Line, response: IncomingMessage, request: RpcRequest | null): void {
  const stream: Stream = {
    request,
    lastEventId: null,
    retryMs: retryMsDefault,
    isAnswered: request === null,
    resumes: 0,
  };
  readStream(line, response, stream);
}

function readStream(line: Line, response: IncomingMessage, stream: Stream): void {
  readEvents(response, {
    onEvent: (event) => takeEvent(line, event, stream),
    onEnd(error) {
      if (error instanceof GivenUp) giveUpStream(line, stream, error.message);
      else resume(line, stream);
    },
  });
}

function takeEvent(line: Line, { id, retryMs, data }: SentEvent, stream: Stream): void {
  if (id !== null) stream.lastEventId = id;
  if (retryMs !== null) stream.retryMs = retryMs;
  const message = data === '' ? null : readFromServer(data);
  if (message === null) return;
  if (isResponse(message) && message.id === stream.request?.id) stream.isAnswered = true;
  hand(line, message, stream.request?.id ?? null);
}

/** Resumes a stream: a server may close the connection and let its client come back for the rest. */
function resume(line: Line, stream: Stream): void {
  const { lastEventId, retryMs } = stream;
  if (line.isClosed || stream.isAnswered) return;
  if (lastEventId === null || stream.resumes >= resumesMax) {
    giveUpStream(line, stream, stopped);
    return;
  }
  stream.resumes += 1;
  setTimeout(
    () => {
      if (!line.isClosed) listen(line, stream);
    },
    Math.min(retryMs, retryMsMax),
  ).unref();
}

function giveUpStream(line: Line, stream: Stream, why: string): void {
  if (!stream.isAnswered) fail(line, stream.request, why);
  stream.isAnswered = true;
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
  const failed = (why: string): void => {
    if (stream !== null) giveUpStream(line, stream, why);
  };
  // A server may have nothing to say by itself for hours; while a request waits, its silence counts.
  if (stream !== null) limitSilence(line, sent);
  sent.on('error', (error) => failed(reasonOf(error, stopped)));
  sent.on('response', (response) => {
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
    const unread = unreadBody(response);
    if (response.statusCode !== 200 || !isStream || unread !== null) {
      response.destroy();
      failed(unread ?? stopped);
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
