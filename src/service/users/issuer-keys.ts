// Keeps the public keys of an issuer of tokens up to date in the background. INVARIANT: a caller that asks
// for the keys gets at once what is known at that moment; keys that the issuer has not confirmed for an hour
// are no longer known.

import { open } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import type { createLocalJWKSet, JSONWebKeySet } from 'jose';
import { fetchDocument } from '../fetching/fetch-document.ts';

type Keys = ReturnType<typeof createLocalJWKSet>;

export interface KeyTiming {
  /** Time between two reads of the keys, in milliseconds. */
  readonly everyMs: number;
  /** The least time between two reads, whatever tokens come, in milliseconds. */
  readonly leastMs: number;
  /** How long keys count as known after they were last read, in milliseconds. */
  readonly staleMs: number;
}

const timingDefault: KeyTiming = { everyMs: 300_000, leastMs: 5_000, staleMs: 3_600_000 };
const timeoutMs = 5_000;
const documentBytesMax = 1_000_000;

export interface IssuerKeys {
  /** Returns the same function as long as the keys are unchanged; null when no keys are known. */
  current(): Keys | null;
  /** To be called when a token names a key that is not among the known ones: reads the keys soon. */
  missed(): void;
  start(): void;
  close(): void;
}

export interface KeySource {
  readonly issuer: string;
  /** The address of the keys, or of a file with them (`file:`); null when the issuer's discovery document names it. */
  readonly keys: string | null;
  /** The address of the issuer's discovery document; where OpenID Connect puts it when absent. */
  readonly metadata?: string;
  readonly timing?: Partial<KeyTiming>;
  /** Called for the first failure after a success, and not again until the next success. */
  readonly onFailure: (error: unknown) => void;
}

export function watchIssuerKeys(source: KeySource): IssuerKeys {
  const { everyMs, leastMs, staleMs } = { ...timingDefault, ...source.timing };
  let seen: { readonly text: string; readonly keys: Keys; readonly atMs: number } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let dueAtMs = Number.POSITIVE_INFINITY;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let isLooking = false;
  let hasFailed = false;
  const stop = new AbortController();

  function lookIn(delayMs: number): void {
    const atMs = performance.now() + delayMs;
    if (stop.signal.aborted || (timer !== null && dueAtMs <= atMs)) return;
    if (timer !== null) clearTimeout(timer);
    dueAtMs = atMs;
    timer = setTimeout(() => void refresh(), delayMs).unref();
  }

  async function refresh(): Promise<void> {
    timer = null;
    if (isLooking || stop.signal.aborted) return;
    isLooking = true;
    lookedAtMs = performance.now();
    try {
      const text = await readKeys(source, stop.signal);
      const keys = seen?.text === text ? seen.keys : await keySetOf(text);
      seen = { text, keys, atMs: lookedAtMs };
      hasFailed = false;
    } catch (error) {
      if (!hasFailed && !stop.signal.aborted) source.onFailure(error);
      hasFailed = true;
    }
    isLooking = false;
    lookIn(hasFailed ? Math.min(everyMs, 2 * leastMs) : everyMs);
  }

  return {
    current: () => (seen !== null && performance.now() - seen.atMs < staleMs ? seen.keys : null),
    missed: () => lookIn(Math.max(0, lookedAtMs + leastMs - performance.now())),
    start: () => lookIn(0),
    close: () => {
      stop.abort();
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Returns the issuer's key document (JWKS) as JSON text. Rejects when it cannot be read. */
export async function readKeys(
  { issuer, keys, metadata }: Pick<KeySource, 'issuer' | 'keys' | 'metadata'>,
  stop: AbortSignal,
): Promise<string> {
  const standard = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  return await readText(keys ?? (await discover(issuer, metadata ?? standard, stop)), stop);
}

async function discover(issuer: string, at: string, stop: AbortSignal): Promise<string> {
  const metadata: unknown = JSON.parse(await readText(at, stop));
  const { issuer: named, jwks_uri: address } = Object(metadata) as Readonly<Record<string, unknown>>;
  if (named !== issuer) throw new Error('the discovery document names another issuer');
  const isPlain = at.startsWith('http:');
  const url = typeof address === 'string' ? URL.parse(address) : null;
  if (url === null || !(url.protocol === 'https:' || (isPlain && url.protocol === 'http:')))
    throw new Error('the discovery document has no encrypted address for the keys');
  return url.href;
}

async function readText(address: string, stop: AbortSignal): Promise<string> {
  if (address.startsWith('file:')) return await readKeyFile(fileURLToPath(address));
  const limits = { bytesMax: documentBytesMax, timeoutMs, signal: stop };
  const { status, bytes } = await fetchDocument(address, { accept: 'application/json' }, limits);
  if (status !== 200) throw new Error(`the issuer answers with ${status}`);
  return Buffer.from(bytes).toString('utf8');
}

async function readKeyFile(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(documentBytesMax + 1));
    if (bytesRead > documentBytesMax) throw new Error('the file of the keys is too large');
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The keys of a key document, as a function that finds the one of a token. */
export async function keySetOf(text: string): Promise<Keys> {
  const { createLocalJWKSet } = await import('jose');
  return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
}
