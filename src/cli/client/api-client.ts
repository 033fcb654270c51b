// Calls the management API for a command, and turns each failure into one line that names what to do.
// INVARIANT: a token comes from the environment or an option, goes to the service's address alone, and is
// never printed.

import type { Command } from 'commander';
import { type ExitCode, exitCodes, printError, printJson, UsageError } from '../output/output.ts';
import { printable } from '../output/table.ts';

export interface ApiOptions {
  readonly url?: string;
  readonly token?: string;
  readonly json?: boolean;
}

/** The default address of `writ serve`. */
const defaultUrl = 'http://127.0.0.1:8181';

/** Adds the options that every client has. */
export function withApiOptions(command: Command): Command {
  return command
    .option('--url <address>', `the address of the service (WRIT_URL; default: ${defaultUrl})`)
    .option('--token <token>', 'a personal token (WRIT_TOKEN hides it from other users of the machine)')
    .option('--json', 'print the result as JSON');
}

export const apiHelp = `
Create a personal token in the dashboard, under your account. WRIT_URL and WRIT_TOKEN replace the two options.`;

export interface Api {
  get<T>(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  put<T>(path: string, body: unknown): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  delete<T = void>(path: string): Promise<T>;
}

/**
 * The service refused a call or did not answer; the command prints the message. A class because it is thrown.
 */
export class ApiError extends Error {
  /** True when nothing answered at the address; the service may be back later. */
  readonly isAway: boolean;

  constructor(message: string, isAway = false) {
    super(message);
    this.isAway = isAway;
  }
}

/** Ends the command with `message` as its error. Always throws an ApiError. */
export function refuse(message: string): never {
  throw new ApiError(message);
}

/**
 * Runs a command against the service. Prints an ApiError as a line and resolves to the exit code. `withoutToken`
 * ends the error of a missing token: what to do without one.
 */
export async function withApi(
  options: ApiOptions,
  run: (api: Api) => Promise<void>,
  withoutToken = '',
): Promise<ExitCode> {
  try {
    await run(openApi(options, withoutToken));
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    printError(`error: ${error.message}\n`);
    return exitCodes.wrong;
  }
}

/** Prints `result` as JSON when `--json` is set, otherwise through `print`. */
export function show<T>({ json }: ApiOptions, result: T, print: (result: T) => void): void {
  if (json === true) printJson(result);
  else print(result);
}

/** Encodes an id as one step of a path. Throws a UsageError when the text cannot be an id. */
export function step(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new UsageError(`\`${id}\` is not an id`);
  return encodeURIComponent(id);
}

/**
 * The address of the service, without a slash at its end. Throws a UsageError when the address is not HTTP or
 * HTTPS, or holds credentials.
 */
export function serviceAddress({ url }: ApiOptions): string {
  return baseOf(url ?? environment('WRIT_URL') ?? defaultUrl);
}

function openApi(options: ApiOptions, withoutToken: string): Api {
  const base = serviceAddress(options);
  const { token } = options;
  const secret = token ?? environment('WRIT_TOKEN');
  if (secret === undefined)
    throw new UsageError(
      `a personal token is missing: make one in the dashboard, under Your account, and set WRIT_TOKEN (or use --token)${withoutToken}`,
    );
  if (!/^[\x21-\x7e]+$/.test(secret)) throw new UsageError('the token contains invalid characters');
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const reply = await send(base, { method, path, secret, body });
    const text = await reply.text().catch(() => '');
    if (!reply.ok) throw problemOf(reply.status, text);
    return text === '' ? undefined : parse(text);
  };
  return {
    get: async <T>(path: string, query: Readonly<Record<string, string | undefined>> = {}) =>
      (await call('GET', path + queryText(query))) as T,
    post: async <T>(path: string, body?: unknown) => (await call('POST', path, body)) as T,
    put: async <T>(path: string, body: unknown) => (await call('PUT', path, body)) as T,
    patch: async <T>(path: string, body: unknown) => (await call('PATCH', path, body)) as T,
    delete: async <T>(path: string) => (await call('DELETE', path)) as T,
  };
}

/** Reads an environment variable; an empty one counts as unset. */
function environment(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}

function baseOf(text: string): string {
  const url = URL.parse(text);
  const isHttp = url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
  if (!isHttp || url.username !== '' || url.password !== '')
    throw new UsageError(`\`${text}\` is not an address such as https://writ.example.com`);
  return url.origin + url.pathname.replace(/\/$/, '');
}

interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly secret: string;
  readonly body: unknown;
}

const timeoutMs = 30_000;

async function send(base: string, { method, path, secret, body }: ApiCall): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${secret}`, accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  try {
    return await fetch(base + path, {
      method,
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new ApiError(
      `${base} does not answer (${reasonOf(error)}): is the service running, and is --url correct?`,
      true,
    );
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.name === 'TimeoutError' ? `no reply within ${timeoutMs / 1_000} s` : error.message;
}

interface Problem {
  readonly type?: unknown;
  readonly detail?: unknown;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

const help: Readonly<Record<string, string>> = {
  not_allowed: 'check the roles of your token',
  unknown_route: 'is --url the address of a Writ service?',
};

function problemOf(status: number, text: string): ApiError {
  const problem = parse(text) as Problem | null;
  const isProblem = typeof problem === 'object' && problem !== null && typeof problem.detail === 'string';
  if (!isProblem)
    return new ApiError(`the reply (status ${status}) is not from a Writ service: is --url correct?`);
  const places = (problem.errors ?? []).map(({ pointer, detail }) => `\n  ${pointer}: ${detail}`).join('');
  const code = String(problem.type).replace('urn:writ:error:', '');
  const hint = help[code] === undefined ? '' : ` (${help[code]})`;
  return new ApiError(`${status} ${code}: ${printable(String(problem.detail))}${hint}${printable(places)}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const parameters = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor?: string | null;
}

/** Fetches all pages of a list and returns their items. */
export async function allItems<T>(
  api: Api,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Page<T> = await api.get(path, { ...query, limit: pageSize, cursor });
    all.push(...page.items);
    cursor = page.next_cursor ?? null;
  }
  return all;
}

/** The most items that the service returns in one page. */
const pageSize = '200';

/** Prints on standard error how to list the next page, when there is one. */
export function printRest({ next_cursor: next }: Page<unknown>): void {
  if (next) printError(`for the next page: --cursor ${next}\n`);
}
