// Fetches a document that another server offers: a bundle, keys of an issuer, an answer of a provider.
// INVARIANT: the server decides neither how much memory nor how much time a fetch takes, nor where it goes: no
// more bytes are read than are allowed, nothing is decompressed, no redirect is followed, and a server that
// sends nothing, or next to nothing, is left.

export interface FetchLimits {
  /** The longest body that is read, in bytes. */
  readonly bytesMax: number;
  /** What sets that limit, for the error; absent where nobody can change it. */
  readonly bytesSetting?: string;
  /** The longest time for all of it, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the fetch early. */
  readonly signal?: AbortSignal | null | undefined;
  /** The rate below which a server counts as stalled; `leastRate` when absent. */
  readonly rate?: Rate;
}

interface Rate {
  /** The length of the times that are looked at, one after the other, in milliseconds. */
  readonly withinMs: number;
  /** The bytes that have to come within each of these times, unless the body ends. */
  readonly bytes: number;
}

/** The slowest server that is waited for. */
const leastRate: Rate = { withinMs: 5_000, bytes: 16 * 1024 };

/**
 * Why a document could not be fetched, in words for people. A TypeError, as `fetch` throws where no answer
 * came: libraries that fetch pass it on as that.
 */
class FetchFailure extends TypeError {}

export interface FetchedDocument {
  readonly status: number;
  readonly headers: Headers;
  /** Empty for a status other than 200. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Fetches a document by GET. Any status but a redirect resolves; all else rejects with a FetchFailure. */
export async function fetchDocument(
  address: string,
  headers: Readonly<Record<string, string>>,
  limits: FetchLimits,
): Promise<FetchedDocument> {
  return await bounded(limits, async (watch) => {
    const reply = await ask(address, { headers }, watch.signal);
    const bytes = reply.status === 200 ? await bodyOf(reply, limits, watch) : new Uint8Array();
    if (reply.status !== 200) await reply.body?.cancel();
    return { status: reply.status, headers: reply.headers, bytes };
  });
}

/** A `fetch` for libraries that fetch by themselves: within the same limits, it reads the body at once. */
export function boundedFetch(limits: Omit<FetchLimits, 'signal'>) {
  return async (address: string, init: RequestInit): Promise<Response> =>
    await bounded({ ...limits, signal: init.signal }, async (watch) => {
      const reply = await ask(address, init, watch.signal);
      const { status, headers } = reply;
      const bytes = await bodyOf(reply, limits, watch);
      const hasNone = [101, 204, 205, 304].includes(status);
      return new Response(hasNone ? null : bytes, { status, headers });
    });
}

async function ask(address: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('accept-encoding', 'identity');
  const reply = await fetch(address, { ...init, headers, redirect: 'manual', signal });
  const to = reply.headers.get('location');
  if (reply.status >= 300 && reply.status < 400 && reply.status !== 304)
    throw new FetchFailure(
      to === null
        ? `the server answered ${reply.status}`
        : `the server redirects to ${shownAddress(to, address)}, which is not followed: configure that address directly`,
    );
  return reply;
}

async function bodyOf(
  reply: Response,
  { bytesMax, bytesSetting }: Pick<FetchLimits, 'bytesMax' | 'bytesSetting'>,
  watch: Watch,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLong = () =>
    new FetchFailure(
      `it has more than ${bytesMax} bytes${bytesSetting === undefined ? '' : ` (${bytesSetting})`}`,
    );
  const encoding = reply.headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new FetchFailure(
      `the server compressed the document (${encoding.slice(0, 20)}) although this was not requested`,
    );
  if (Number(reply.headers.get('content-length')) > bytesMax) throw tooLong();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of reply.body ?? []) {
    length += part.length;
    if (length > bytesMax) throw tooLong();
    watch.received(part.length);
    parts.push(part);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

interface Watch {
  readonly signal: AbortSignal;
  /** To be called for each part of the body. */
  received(bytes: number): void;
}

async function bounded<T>(
  { timeoutMs, signal, rate = leastRate }: Omit<FetchLimits, 'bytesMax'>,
  work: (watch: Watch) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const overdue = setTimeout(() => {
    ending.abort(new FetchFailure(`it took longer than ${timeoutMs / 1_000} s`));
  }, timeoutMs);
  let received = 0;
  const stalled = setInterval(() => {
    if (received < rate.bytes)
      ending.abort(
        new FetchFailure(
          `the server stalls: ${received === 0 ? 'nothing' : `${received} bytes`} came in ${rate.withinMs / 1_000} s`,
        ),
      );
    received = 0;
  }, rate.withinMs);
  const stop = () => ending.abort(signal?.reason);
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await work({
      signal: ending.signal,
      received: (bytes) => {
        received += bytes;
      },
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw error instanceof FetchFailure ? error : new FetchFailure(reasonOf(error), { cause: error });
  } finally {
    // Also ends a body that nobody reads on.
    ending.abort();
    clearTimeout(overdue);
    clearInterval(stalled);
    signal?.removeEventListener('abort', stop);
  }
}

/** `fetch` puts the reason into the `cause` of its error, and of several tries into their errors. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const one = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(one instanceof Error)) return String(one);
  const code = 'code' in one && typeof one.code === 'string' ? one.code : null;
  return code === null || one.message.includes(code) ? one.message : `${one.message} (${code})`;
}

const shownLengthMax = 200;

/** The address that a redirect names, without a password and query, which may hold secrets. */
function shownAddress(location: string, base: string): string {
  const url = URL.parse(location, base);
  return url === null ? 'an invalid address' : `${url.origin}${url.pathname}`.slice(0, shownLengthMax);
}
