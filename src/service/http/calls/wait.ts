// `Prefer: wait=N` (RFC 7240) into a pause: a pending request is looked at again when something becomes of it, until it is
// decided, the time is over, the client has gone, or the service stops. INVARIANT: a wait changes when an answer comes and
// never what it says; a caller that may not ask any more gets no answer from a wait that began before.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestEvents } from '../../requests/record/request-events.ts';
import type { RequestHistory, RequestStore, Store } from '../../store/contract/store.ts';
import type { Parameter } from '../contract/operation.ts';
import { ProblemError } from '../contract/problem.ts';
import { createFairShares } from './fair-shares.ts';

export interface Waits {
  /**
   * Takes one of the holder's places where the client asks for a wait, by `Prefer` unless said otherwise; null where it does not. Throws a ProblemError
   * (429) where the holder has no place left. It is given back when the reply is over.
   */
  begin(exchange: Exchange, holder: string, seconds?: number): Wait | null;
  /** Looks again whether all who wait may still ask. */
  recheck(): void;
  close(): void;
}

export interface Wait {
  /** What the reply is to say: `found`, or what has become of it by the end of the wait. Rejects with what `recheck` does. */
  until<T extends Pending>(found: T, held: Held<T>): Promise<T>;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface Pending {
  readonly status: string;
  readonly expires_at: string;
}

export interface Held<T> {
  readonly requestId: string;
  /** The request for its reader; null where it is not for them. */
  readonly view: (history: RequestHistory) => T | null | Promise<T | null>;
  /** Throws or rejects where the caller may not ask any more. */
  readonly recheck: () => unknown;
}

export interface WaitsOptions {
  readonly requests: Pick<RequestStore, 'history'>;
  readonly statistics: Pick<Store['statistics'], 'lastEvent'>;
  readonly news: Pick<RequestEvents, 'subscribe'>;
  readonly clock: () => number;
  /** How many waits one agent or person may have. */
  readonly ofOneMax: number;
  /** Ends every wait. */
  readonly shutdown: AbortSignal;
  readonly onFailure: (error: unknown) => void;
}

const waitSecondsMax = 55;
/** All waits together; each takes a connection's turn. */
const placesMax = 10_000;
/** What other processes change is looked for so often, once for all. */
const pollMs = 500;

export const preferHeader: Parameter = {
  name: 'Prefer',
  in: 'header',
  isRequired: false,
  schema: { type: 'string' },
  example: 'wait=20, attach, receipt',
  description: `\`wait=N\` holds the answer for up to N seconds, at most ${waitSecondsMax}, while the request is pending. Asking for a decision also takes \`attach\`, the request that the agent already has, waiting or approved, where it asks the same again; and \`receipt\` or \`receipt=AUDIENCE\`.`,
};

interface Waiter {
  readonly requestId: string;
  readonly recheck: () => unknown;
  /** When the request is past its deadline, by the service's clock. */
  dueAtMs: number;
  /** The request may stand otherwise, or the wait is over. */
  wake(): void;
  /** Until it is woken, at once where it was since the sleep before; or for so long. */
  sleep(ms: number): Promise<void>;
}

/** It begins awake: what became of the request before it was waited for is not told again. */
function createWaiter({ requestId, recheck }: Held<unknown>): Waiter {
  let isWoken = true;
  let resolve: () => void = () => undefined;
  return {
    requestId,
    recheck,
    dueAtMs: Infinity,
    wake() {
      isWoken = true;
      resolve();
    },
    async sleep(ms) {
      if (!isWoken) {
        const woken = Promise.withResolvers<void>();
        resolve = woken.resolve;
        const timer = setTimeout(resolve, ms);
        await woken.promise;
        clearTimeout(timer);
      }
      isWoken = false;
    },
  };
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a closure over the waiters and the one look that they share.
export function createWaits(options: WaitsOptions): Waits {
  const { requests, statistics, news, shutdown, onFailure } = options;
  const shares = createFairShares({ placesMax, ofOneMax: options.ofOneMax });
  const waiters = new Map<string, Set<Waiter>>();
  /** One look serves all who wait for the same request. */
  const looks = new Map<string, Promise<RequestHistory | null>>();
  let polling: NodeJS.Timeout | null = null;
  let isPolling = false;
  let eventSeen: number | null = null;

  const wakeAllOf = (requestId: string) => {
    // A look that is under way may have been too early.
    looks.delete(requestId);
    for (const waiter of waiters.get(requestId) ?? []) waiter.wake();
  };
  const wakeAll = () => {
    for (const requestId of waiters.keys()) wakeAllOf(requestId);
  };
  news.subscribe(({ requestId }) => wakeAllOf(requestId));
  shutdown.addEventListener('abort', wakeAll);

  function look(requestId: string): Promise<RequestHistory | null> {
    const known = looks.get(requestId);
    if (known !== undefined) return known;
    const fresh = requests.history(requestId);
    looks.set(requestId, fresh);
    return fresh.finally(() => {
      if (looks.get(requestId) === fresh) looks.delete(requestId);
    });
  }

  async function poll(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    try {
      const last = await statistics.lastEvent();
      const isNew = eventSeen !== null && last !== eventSeen;
      eventSeen = last;
      if (isNew) wakeAll();
      await recheckAll();
    } finally {
      isPolling = false;
    }
  }

  /** One after the other: what the first one looks up the next ones of the same agent find in the cache. */
  async function recheckAll(): Promise<void> {
    for (const waiter of [...waiters.values()].flatMap((those) => [...those])) {
      // That a request is past its deadline is told by nobody.
      if (waiter.dueAtMs <= options.clock()) waiter.wake();
      try {
        const result = waiter.recheck();
        if (result instanceof Promise) await result;
      } catch {
        // It finds out for itself.
        waiter.wake();
      }
    }
  }

  function add(waiter: Waiter): void {
    const those = waiters.get(waiter.requestId) ?? new Set();
    waiters.set(waiter.requestId, those.add(waiter));
    polling ??= setInterval(() => void poll().catch(onFailure), pollMs).unref();
  }

  function remove(waiter: Waiter): void {
    const those = waiters.get(waiter.requestId);
    those?.delete(waiter);
    if (those?.size === 0) waiters.delete(waiter.requestId);
    if (waiters.size === 0) stopPolling();
  }

  function stopPolling(): void {
    if (polling !== null) clearInterval(polling);
    [polling, eventSeen] = [null, null];
  }

  async function until<T extends Pending>(found: T, held: Held<T>, over: Over): Promise<T> {
    const waiter = createWaiter(held);
    const isOver = () => over.signal.aborted || shutdown.aborted || performance.now() >= over.atMs;
    over.signal.addEventListener('abort', waiter.wake);
    add(waiter);
    try {
      let latest = found;
      while (latest.status === 'pending' && !isOver()) {
        waiter.dueAtMs = Date.parse(latest.expires_at);
        await waiter.sleep(over.atMs - performance.now());
        await held.recheck();
        const history = await look(held.requestId);
        latest = (history === null ? null : await held.view(history)) ?? latest;
      }
      return latest;
    } finally {
      remove(waiter);
    }
  }

  return {
    begin({ request, reply }, holder, asked = waitSeconds(request)) {
      const seconds = Math.min(asked, waitSecondsMax);
      if (seconds === 0) return null;
      if (!shares.enter(holder)) throw tooManyWaits();
      const gone = new AbortController();
      reply.raw.once('close', () => {
        shares.leave(holder);
        gone.abort();
      });
      const over: Over = { signal: gone.signal, atMs: performance.now() + seconds * 1000 };
      return {
        async until(found, held) {
          const latest = await until(found, held, over);
          request.replyHeaders['preference-applied'] = `wait=${seconds}`;
          return latest;
        },
      };
    },
    recheck: () => void recheckAll().catch(onFailure),
    close: stopPolling,
  };
}

interface Over {
  /** Fires when nobody is there to read the answer. */
  readonly signal: AbortSignal;
  /** On the clock of `performance.now`. */
  readonly atMs: number;
}

function tooManyWaits(): ProblemError {
  const detail = 'as many answers are held for you as may be at a time: ask without `Prefer: wait`';
  return new ProblemError('too_many_waits', detail, { headers: { 'retry-after': '1' } });
}

/** 0 where no wait is asked for. */
function waitSeconds({ headers }: FastifyRequest): number {
  if (headers.prefer === undefined) return 0;
  const asked = /(?:^|,)\s*wait\s*=\s*"?(\d{1,6})"?\s*(?=[,;]|$)/i.exec(String(headers.prefer))?.[1];
  return Number(asked ?? 0);
}
