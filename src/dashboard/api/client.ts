// Calls the management API, typed by its OpenAPI document. When a session ends, the person signs in again and
// the call goes on. A read that does not reach the service is tried again; a change is never repeated by
// itself. INVARIANT: a change carries the CSRF token of the session that is open when it is sent.

import { type OperationId, type Operations, operations, type Reply } from '../../api/operations.ts';
import { reportReachable } from './connection.ts';
import { ApiProblem, isCutOff, problemOf, unreachable } from './problem.ts';

export type CallOptions<Id extends OperationId> = ParameterOf<'params', Operations[Id]['params']> &
  ParameterOf<'query', Operations[Id]['query']> &
  ParameterOf<'body', Operations[Id]['body']> & { readonly signal?: AbortSignal; readonly isQuiet?: boolean };

type ParameterOf<Name extends string, Value> = [Value] extends [undefined]
  ? { readonly [name in Name]?: undefined }
  : undefined extends Value
    ? { readonly [name in Name]?: Value }
    : { readonly [name in Name]: Value };

interface Hooks {
  /** Resolves once somebody has signed in again, to whether the call goes on. */
  readonly signInAgain: () => Promise<boolean>;
  /**
   * Checks whose session is open now, because another window may have signed in again. Resolves to whether
   * the call goes on.
   */
  readonly lookAgain: () => Promise<boolean>;
}

let csrfToken: string | null = null;
let hooks: Hooks = { signInAgain: async () => false, lookAgain: async () => false };

export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

export function setHooks(callbacks: Hooks): void {
  hooks = callbacks;
}

const lookTriesMax = 4;
const firstPauseMs = 400;

/** Throws an ApiProblem. `isQuiet`: the caller handles a session that has ended. */
export async function call<Id extends OperationId>(
  id: Id,
  ...[options]: Record<string, never> extends CallOptions<Id> ? [CallOptions<Id>?] : [CallOptions<Id>]
): Promise<Reply<Id>> {
  const callOptions = (options ?? {}) as AnyCall;
  const [method] = operations[id];
  const read = async (reply: Response): Promise<unknown> =>
    reply.status === 204 ? undefined : await bodyOf(reply, method, callOptions.signal);
  return (await callAndRead(id, callOptions, read)) as Reply<Id>;
}

/**
 * Calls an operation that answers line by line, and passes on each line as it arrives. Throws an ApiProblem,
 * also when the lines are cut off.
 */
export async function callLines<Id extends OperationId>(
  id: Id,
  options: CallOptions<Id>,
  onLine: (line: Reply<Id>) => void,
): Promise<void> {
  const callOptions = options as AnyCall;
  await callAndRead(id, callOptions, (reply) =>
    readLines(reply, callOptions.signal, onLine as (line: unknown) => void),
  );
}

async function callAndRead<T>(
  id: OperationId,
  callOptions: AnyCall,
  read: (reply: Response) => Promise<T>,
): Promise<T> {
  const [method] = operations[id];
  const address = addressOf(id, callOptions);
  for (let tries = 1; ; tries += 1) {
    try {
      return await read(await send(method, address, callOptions));
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (error.code === 'not_signed_in' && callOptions.isQuiet !== true && (await hooks.signInAgain()))
        continue;
      if (error.code === 'cross_site_request' && tries === 1 && (await hooks.lookAgain())) continue;
      const isWorthAnother = isCutOff(error) && method === 'GET' && tries < lookTriesMax;
      if (!isWorthAnother || callOptions.signal?.aborted === true) throw error;
      await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** tries));
    }
  }
}

interface AnyCall {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly isQuiet?: boolean;
}

/** The address of an operation, for a link to its reply. */
export function addressOf(id: OperationId, { params = {}, query = {} }: AnyCall): string {
  const path = operations[id][1].replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const parameters = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const text = new URLSearchParams(parameters).toString();
  return text === '' ? path : `${path}?${text}`;
}

async function send(method: string, address: string, { body, signal }: AnyCall): Promise<Response> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (method !== 'GET' && csrfToken !== null) headers['x-csrf-token'] = csrfToken;
  const reply = await fetch(address, {
    method,
    headers,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    reportReachable('no');
    throw unreachable(method);
  });
  if (reply.ok) {
    reportReachable('yes');
    return reply;
  }
  const problem = await problemOf(reply);
  reportReachable(isCutOff(problem) ? 'no' : 'yes');
  throw problem;
}

/** A reply may be cut off, as well as never arrive. */
async function bodyOf(reply: Response, method: string, signal: AbortSignal | undefined): Promise<unknown> {
  return await reply.json().catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw unreachable(method);
  });
}

async function readLines(
  { body }: Response,
  signal: AbortSignal | undefined,
  onLine: (line: unknown) => void,
): Promise<void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const read = await reader?.read().catch((error: unknown) => {
      if (signal?.aborted === true) throw error;
      throw unreachable('GET');
    });
    if (read === undefined || read.done) return;
    const lines = (rest + read.value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(JSON.parse(line));
  }
}
