// Sends one question to the service and returns one whole answer. While no answer comes, the question is sent
// again under the same idempotency key, so it is decided once. INVARIANT: no answer is made up; when none
// comes in time, `UnreachableError` is thrown.

/** No answer came. A caller without an answer has no grant. */
export class UnreachableError extends Error {
  constructor(url: string, cause: unknown) {
    super(`the service at ${url} cannot be reached, or does not answer: ${whyOf(cause)}`, { cause });
    this.name = 'UnreachableError';
  }
}

/** The reason as text. `cause` is an error, or the status of a reply that is no answer. */
function whyOf(cause: unknown): string {
  if (!(cause instanceof Error)) return `status ${cause}`;
  // The platform's `fetch` holds the reason one level deeper.
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}

/** The part of the platform's `fetch` that is used. Header names are in lower case. */
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
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Makes the headers of one try: who asks, and what is valid once, such as a signature. */
  readonly headersOfTry?: ((body: string) => Promise<Readonly<Record<string, string>>>) | undefined;
  /** Milliseconds that one try may take. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly fetch: Fetch;
}

export interface WholeAnswer {
  readonly status: number;
  readonly headers: FetchReply['headers'];
  /** The parsed body; undefined when it is not JSON. */
  readonly body: unknown;
}

const triesMax = 4;
const firstPauseMs = 100;
/** The longest pause, in milliseconds, that a reply can ask for before the next try. */
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
      if (error instanceof UnreachableError) throw error;
      last = error;
      if (tries < triesMax) await pause(firstPauseMs * 2 ** (tries - 1), question.signal);
    }
  }
  throw new UnreachableError(new URL(question.url).origin, last);
}

/**
 * Sends the question once. A body that stops before its end throws, too. The key goes to no other address.
 */
async function askOnce({
  method,
  url,
  headers,
  body,
  headersOfTry,
  timeoutMs,
  signal,
  fetch,
}: Question): Promise<WholeAnswer> {
  const own = await headersOfTry?.(body ?? '');
  const { stop, release } = stopAfter(timeoutMs, signal);
  try {
    const reply = await fetch(url, {
      method,
      headers: { ...headers, ...own },
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

/**
 * A signal that aborts after `ms` milliseconds or with `signal`. `release` removes its timer, so a program
 * that asks often keeps none.
 */
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
  if (answer.status >= 500) throw new UnreachableError(new URL(url).origin, answer.status);
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
