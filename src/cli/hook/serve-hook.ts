// The helper that keeps the key of an enforcement point from the coding agent: a process of another user, which
// listens on a Unix socket and asks the service about the events that hooks send. INVARIANT: whoever reaches the
// socket can have events decided and nothing else. Key, agent, session, address and the longest wait are the
// helper's; no answer has the key; nothing is released or withdrawn for a caller, and what is reported is that a granted
// call was executed, with a result.

import { chmodSync, lstatSync, statSync, unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../output/output.ts';
import { answerEvent, answerWithin, bytesOf, type HookAnswer, refusedAnswer } from './answer-hook.ts';
import { type DialectName, dialectNames, dialects } from './dialects.ts';

export interface HelperOptions {
  readonly url: string;
  readonly key: string;
  readonly agent: string;
  readonly session: string;
  /** Actions whose tools answer with JSON text. */
  readonly jsonText: readonly string[];
  /** The longest that people are waited for, in milliseconds. */
  readonly waitMsMax: number;
}

/** Events that are answered at a time. */
const connectionsMax = 64;
/** Milliseconds for sending an event, and for all work besides waiting for people. */
const slackMs = 5_000;

/** The helper, which does not listen yet. */
export function createHelper(options: HelperOptions): Server {
  const limits = { headersTimeout: slackMs, requestTimeout: slackMs, connectionsCheckingInterval: 1_000 };
  const server = createServer(limits, (request, response) => {
    answer(options, request, response).then(
      (answered) => reply(response, answered),
      (error: Error) => reply(response, refusedAnswer(`Nothing was granted: ${error.message}`)),
    );
  });
  server.maxConnections = connectionsMax;
  return server;
}

function reply(response: ServerResponse, answered: HookAnswer): void {
  response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(answered));
}

async function answer(
  options: HelperOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<HookAnswer> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://helper');
  const dialect = dialectNames.find((name) => pathname === hookPath(name));
  if (request.method !== 'POST' || dialect === undefined)
    return refusedAnswer('Nothing was granted: this helper answers only hook events.');
  const waitSeconds = Number(searchParams.get('wait') ?? '0');
  const waitMs = Math.min(waitSeconds > 0 ? waitSeconds * 1_000 : 0, options.waitMsMax);
  const left = new AbortController();
  response.on('close', () => left.abort(new Error('the hook disconnected')));
  return answerWithin(waitMs + slackMs, async (over) => {
    const event = await bytesOf(request);
    if (!request.complete) return refusedAnswer('Nothing was granted: the event is incomplete.');
    const form = {
      waitMs,
      isDeferring: searchParams.has('defer'),
      isApart: searchParams.has('apart'),
      isAfter: searchParams.has('after'),
    };
    const target = { ...options, dialect: dialects[dialect], withinMs: waitMs + slackMs };
    return answerEvent({ ...target, ...form }, event, AbortSignal.any([over, left.signal]));
  });
}

export function hookPath(dialect: DialectName): string {
  return `/hook/${dialect}`;
}

/**
 * Listens on the socket, for the users of the group of this process. Throws a UsageError when somebody else could put
 * another socket in its place, or the place is taken.
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  refuseOpenFolder(path);
  await removeLeftSocket(path);
  const before = process.umask(0o117);
  try {
    await new Promise<void>((done, failed) => {
      server.once('error', (error) => failed(new UsageError(`cannot listen on ${path}: ${error.message}`)));
      server.listen(path, done);
    });
    chmodSync(path, 0o660);
  } finally {
    process.umask(before);
  }
}

function refuseOpenFolder(path: string): void {
  const folder = dirname(resolve(path));
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) throw new UsageError(`the folder ${folder} for the socket does not exist`);
  if ((stats.mode & 0o022) !== 0)
    throw new UsageError(
      `others can write to ${folder} and could replace this socket with their own: chmod go-w ${folder}, or use another folder`,
    );
}

/** Removes the socket that an earlier helper has left behind. */
async function removeLeftSocket(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw new UsageError(`${path} already exists and is not a socket`);
  const isAnswered = await new Promise<boolean>((done) => {
    const probe = connect(path, () => {
      probe.destroy();
      done(true);
    });
    probe.on('error', () => done(false));
  });
  if (isAnswered) throw new UsageError(`another helper is listening on ${path}`);
  unlinkSync(path);
}
