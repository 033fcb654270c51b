// The straight way for a request for a decision: from Node's HTTP server into ask.ts and back, without the framework
// in between, which costs more than all that is decided and stored. It takes only what is ordinary beyond doubt, before
// it has read a byte of the body; all else, and every other address, goes the framework's way in routes/authorize.ts.
// INVARIANT: whichever way a request goes, its reply is the same but for its id and its times; a law holds them equal.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { FastifyBaseLogger } from 'fastify';
import { createRequestId } from '../requests/id.ts';
import type { RequestView } from '../requests/reply.ts';
import { type Ask, type Asked, contentTypeFault } from './ask.ts';
import type { Identifier, Recalled } from './identify.ts';
import type { Metrics } from './metrics.ts';
import { toProblem } from './plugins/errors.ts';
import { shownRequestId } from './plugins/request-id.ts';
import { type ProblemError, problemBody, problems, problemType } from './problem.ts';
import { authorizePath, locationOf } from './routes/authorize.ts';

export interface DirectOptions {
  readonly recall: Identifier['recall'];
  readonly ask: Ask;
  readonly bodyBytesMax: number;
  readonly metrics: Metrics;
  readonly log: FastifyBaseLogger;
  readonly stopping: AbortSignal;
}

/** Whether it has taken the request; where not, nothing has happened to it. */
export type Direct = (message: IncomingMessage, response: ServerResponse) => boolean;

export function createDirect(options: DirectOptions): Direct {
  const replyLater = createReplies(options);
  return (message, response) => {
    if (message.method !== 'POST' || message.url !== authorizePath || options.stopping.aborted) return false;
    if (!isOrdinary(message, options.bodyBytesMax)) return false;
    const startedAtMs = performance.now();
    const { headers, socket } = message;
    const clientAddress = socket.remoteAddress;
    const keyText = headers['x-agent-api-key'];
    if (clientAddress === undefined || typeof keyText !== 'string') return false;
    const recalled = options.recall(keyText, startedAtMs);
    if (recalled === null) return false;
    const asked: Asked = {
      identity: recalled.identity,
      headers,
      url: authorizePath,
      id: createRequestId(Date.now()),
      clientAddress,
      startedAtMs,
    };
    const exchange: Exchange = { message, response, asked, recalled };
    readBody(message, {
      onBody: (body) =>
        void options.ask.decide(asked, body).then(
          (view) => replyLater(exchange, view),
          (error: unknown) => refuse(exchange, options, { error, body }),
        ),
      onFailure: (error) => void refuse(exchange, options, { error, body: null }),
    });
    return true;
  };
}

/**
 * Replies leave together at the end of a turn of the event loop: the first wakes whoever waits for it on this machine,
 * which costs more than the reply, and finds the others on their way.
 */
function createReplies(options: DirectOptions): (exchange: Exchange, view: RequestView) => void {
  let waiting: { readonly exchange: Exchange; readonly view: RequestView }[] = [];
  const send = () => {
    const replies = waiting;
    waiting = [];
    for (const { exchange, view } of replies) {
      try {
        reply(exchange, options.stopping, view);
      } catch (error) {
        void refuse(exchange, options, { error, body: null });
      }
    }
  };
  return (exchange, view) => {
    if (waiting.push({ exchange, view }) === 1) setImmediate(send);
  };
}

/** The headers ask for nothing out of the ordinary, and say how long the body is; Node holds it to that. */
function isOrdinary({ headers, httpVersionMinor }: IncomingMessage, bytesMax: number): boolean {
  const bytes = Number(headers['content-length']);
  return (
    httpVersionMinor === 1 &&
    headers.host !== undefined &&
    headers.prefer === undefined &&
    headers.expect === undefined &&
    headers.upgrade === undefined &&
    headers['transfer-encoding'] === undefined &&
    bytes > 0 &&
    bytes <= bytesMax &&
    contentTypeFault(headers) === null
  );
}

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly asked: Asked;
  readonly recalled: Recalled;
}

interface BodyReader {
  readonly onBody: (body: Buffer) => void;
  readonly onFailure: (error: Error) => void;
}

/** Calls one of the two, once: a connection may break when the whole body is there. */
function readBody(message: IncomingMessage, { onBody, onFailure }: BodyReader): void {
  let first: Buffer | null = null;
  let chunks: Buffer[] | null = null;
  message.on('data', (chunk: Buffer) => {
    if (first === null) first = chunk;
    else if (chunks === null) chunks = [first, chunk];
    else chunks.push(chunk);
  });
  message.on('end', () => onBody(chunks === null ? (first ?? Buffer.alloc(0)) : Buffer.concat(chunks)));
  message.on('error', (error) => {
    if (!message.readableEnded) onFailure(error);
  });
}

function reply({ response, asked, recalled }: Exchange, stopping: AbortSignal, view: RequestView): void {
  const body = JSON.stringify(view);
  const headers = headersOf(asked, recalled, stopping);
  if (view.status === 'pending') headers.push('location', locationOf(view));
  headers.push('content-type', 'application/json; charset=utf-8');
  headers.push('content-length', String(Buffer.byteLength(body)));
  response.writeHead(200, headers).end(body);
}

interface Failed {
  readonly error: unknown;
  /** Null where it was not read. */
  readonly body: Buffer | null;
}

/** As the error handlers of the framework's way. */
async function refuse(exchange: Exchange, options: DirectOptions, failed: Failed): Promise<void> {
  const { asked } = exchange;
  const problem = toProblem(failed.error as Error);
  options.metrics.took(performance.now() - asked.startedAtMs);
  try {
    await options.ask.refuse(problem, asked, failed.body);
    replyProblem(exchange, options, problem);
  } catch (error) {
    replyProblem(exchange, options, toProblem(error as Error));
  }
}

function replyProblem(exchange: Exchange, options: DirectOptions, problem: ProblemError): void {
  const { response, asked, recalled, message } = exchange;
  const { status } = problems[problem.code];
  // Half of a reply cannot be taken back, and must not be taken for a whole one.
  if (response.headersSent) return void response.destroy();
  options.metrics.refused(problem.code);
  if (status >= 500) {
    const fields = { reqId: asked.id, err: problem.cause ?? problem, code: problem.code };
    options.log.error(fields, 'request failed');
  }
  const headers = headersOf(asked, recalled, options.stopping);
  if (!message.readableEnded && !options.stopping.aborted) headers.push('connection', 'close');
  for (const [name, value] of Object.entries(problem.options.headers ?? {})) headers.push(name, value);
  const body = JSON.stringify(problemBody(problem, asked.id));
  headers.push('content-type', problemType, 'content-length', String(Buffer.byteLength(body)));
  response.writeHead(status, headers).end(body);
}

/** Names and values in turn, which Node takes as they are. */
function headersOf({ headers: sent, id }: Asked, { headers }: Recalled, stopping: AbortSignal): string[] {
  const list = ['x-request-id', shownRequestId(sent['x-request-id'], id), 'cache-control', 'no-store'];
  for (const name in headers) list.push(name, headers[name] ?? '');
  if (stopping.aborted) list.push('connection', 'close');
  return list;
}
