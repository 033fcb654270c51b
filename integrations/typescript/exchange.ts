// One question to the service into one whole answer: sent again under the same idempotency key while nothing came back, so
// that a question is decided once. INVARIANT: no answer is made up; where none comes in time, `Unreachable` is thrown.

/** No answer came. Nothing is granted to a caller that did not hear of it. */
export class Unreachable extends Error {
  constructor(url: string, cause: unknown) {
    super(`the service at ${url} cannot be reached, or does not answer: ${whyOf(cause)}`, { cause });
    this.name = 'Unreachable';
  }
}

/** An error, or the status of an answer that is none. */
function whyOf(cause: unknown): string {
  if (!(cause instanceof Error)) return `status ${cause}`;
  // The platform's `fetch` says what it was one level deeper.
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}

/** As much of the platform's `fetch` as is asked of it. Header names are in lower case. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly redirect: 'error';
    readonly signal: AbortSignal;
    readonly body?: string;
  },
) => Promise<FetchReply>;

export interface FetchReply {
  readonly status: number;
  readonly headers: { readonly get: (name: string) => string | null };
  readonly text: () => Promise<string>;
}

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Signs a try for itself: a signature is good once. */
  readonly sign?: ((body: string) => Promise<string>) | undefined;
  /** How long one try may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly fetch: Fetch;
}

export interface WholeAnswer {
  readonly status: number;
  readonly headers: FetchReply['headers'];
  /** Undefined where it is not JSON. */
  readonly body: unknown;
}

const triesMax = 4;
const firstPauseMs = 100;
/** So long a client is told to wait at most before it gives up. */
const pauseMaxMs = 5_000;

export async function exchange(question: Question): Promise<WholeAnswer> {
  let last: unknown = null;
  for (let tries = 1; tries <= triesMax; tries += 1) {
    question.signal?.throwIfAborted();
    try {
      const answer = await askOnce(question);
      if (!isWorthAnotherTry(answer) || tries === triesMax) return settled(answer, question);
      last = answer.status;
      await pause(pauseOf(answer, tries), question.signal);
    } catch (error) {
      question.signal?.throwIfAborted();
      if (error instanceof Unreachable) throw error;
      last = error;
      if (tries < triesMax) await pause(firstPauseMs * 2 ** (tries - 1), question.signal);
    }
  }
  throw new Unreachable(new URL(question.url).origin, last);
}

/** A body that stops before its end fails here, too. No other address is ever told the key. */
async function askOnce({
  method,
  url,
  headers,
  body,
  sign,
  timeoutMs,
  signal,
  fetch,
}: Question): Promise<WholeAnswer> {
  const signature = sign === undefined ? {} : { 'x-service-signature': await sign(body ?? '') };
  const { stop, release } = stopAfter(timeoutMs, signal);
  try {
    const reply = await fetch(url, {
      method,
      headers: { ...headers, ...signature },
      redirect: 'error',
      signal: stop,
      ...(body === undefined ? {} : { body }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: parsed(text) };
  } finally {
    release();
  }
}

/** Nothing of it outlives the try: a program that asks often keeps no timers. */
function stopAfter(ms: number, signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(new Error(`no answer in ${ms} ms`)), ms);
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  return {
    stop: controller.signal,
    release() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isWorthAnotherTry({ status }: WholeAnswer): boolean {
  return status === 429 || status >= 500;
}

function settled(answer: WholeAnswer, { url }: Question): WholeAnswer {
  if (answer.status >= 500) throw new Unreachable(new URL(url).origin, answer.status);
  return answer;
}

function pauseOf({ headers }: WholeAnswer, tries: number): number {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return seconds >= 0 ? Math.min(seconds * 1000, pauseMaxMs) : firstPauseMs * 2 ** (tries - 1);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
