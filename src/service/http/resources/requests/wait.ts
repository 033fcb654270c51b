// Turns `Prefer: wait=N` (RFC 7240) into a pause. A pending request is looked at again when something happens
// to it, until it is decided, the time is over, the client has gone, or the service stops. INVARIANT: a wait
// changes when an answer comes and never what it contains; a caller that may no longer ask gets no answer
// from a wait that began before.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestEvents } from '../../../requests/record/request-events.ts';
import type { RequestHistory, RequestStore, Store } from '../../../store/contract/store.ts';
import { createFairShares } from '../../auth/fair-shares.ts';
import type { Parameter } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';

export interface Waits {
  /**
   * Takes one of the holder's places when the client asks to wait: by `seconds`, or by `Prefer` when
   * `seconds` is absent. Returns null when no wait is asked for. Throws a ProblemError (429) when the holder
   * has no place left. The place is given back when the reply is over.
   */
  begin(exchange: Exchange, holder: string, seconds?: number): Wait | null;
  /** Checks again whether all callers that wait may still ask. */
  recheck(): void;
  close(): void;
}

export interface Wait {
  /**
   * What the reply holds: `found`, or the request as it stands at the end of the wait. Rejects when `recheck`
   * does.
   */
  until<T extends PendingView>(pendingView: T, held: HeldReply<T>): Promise<T>;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface PendingView {
  readonly status: string;
  readonly expires_at: string;
}

export interface HeldReply<T> {
  readonly requestId: string;
  /** The request as its reader may see it; null when the reader may not. */
  readonly view: (history: RequestHistory) => T | null | Promise<T | null>;
  /** Throws or rejects when the caller may no longer ask. */
  readonly recheck: () => unknown;
}

export interface WaitsOptions {
  readonly requests: Pick<RequestStore, 'history'>;
  readonly statistics: Pick<Store['statistics'], 'lastEvent'>;
  readonly requestEvents: Pick<RequestEvents, 'subscribe'>;
  readonly clock: () => number;
  /** How many waits one agent or person may have at the same time. */
  readonly ofOneMax: number;
  /** Ends every wait when it fires. */
  readonly shutdown: AbortSignal;
  readonly onFailure: (error: unknown) => void;
}

const waitSecondsMax = 55;
/** How many waits there may be in all; each occupies its connection. */
const placesMax = 10_000;
/** How often changes by other processes are looked for, once for all waits. */
const pollMs = 500;

export const preferHeader: Parameter = {
  name: 'Prefer',
  in: 'header',
  isRequired: false,
  schema: { type: 'string' },
  example: 'wait=20, attach, receipt',
  description: `\`wait=N\` delays the reply for up to N seconds, at most ${waitSecondsMax}, while the request is pending. \`POST /v1/authorize\` also takes \`attach\`, which returns an equal request of the agent that is pending or approved, and \`receipt\` or \`receipt=AUDIENCE\`.`,
};

interface Waiter {
  readonly requestId: string;
  readonly recheck: () => unknown;
  /** The deadline of the request, by the service's clock. */
  dueAtMs: number;
  /** Called when the request may have changed, or when the wait is over. */
  wake(): void;
  /** Sleeps for `ms` or until woken; returns at once when woken since the last sleep. */
  sleep(ms: number): Promise<void>;
}

/** A waiter begins awake, because what happened to the request before the wait is not announced again. */
function createWaiter({ requestId, recheck }: HeldReply<unknown>): Waiter {
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
  const { requests, statistics, requestEvents, shutdown, onFailure } = options;
  const shares = createFairShares({ placesMax, ofOneMax: options.ofOneMax });
  const waiters = new Map<string, Set<Waiter>>();
  /** Looks that are under way; one serves all who wait for the same request. */
  const looks = new Map<string, Promise<RequestHistory | null>>();
  let polling: NodeJS.Timeout | null = null;
  let isPolling = false;
  let eventSeen: number | null = null;

  const wakeAllOf = (requestId: string) => {
    // A look that is under way may have read the request before this change.
    looks.delete(requestId);
    for (const waiter of waiters.get(requestId) ?? []) waiter.wake();
  };
  const wakeAll = () => {
    for (const requestId of waiters.keys()) wakeAllOf(requestId);
  };
  requestEvents.subscribe(({ requestId }) => wakeAllOf(requestId));
  shutdown.addEventListener('abort', wakeAll);

  function readRequest(requestId: string): Promise<RequestHistory | null> {
    const cached = looks.get(requestId);
    if (cached !== undefined) return cached;
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

  /**
   * Checks one waiter after the other: what the first one looks up, the next ones of the same agent find in
   * the cache.
   */
  async function recheckAll(): Promise<void> {
    for (const waiter of [...waiters.values()].flatMap((those) => [...those])) {
      // No event tells that a request has passed its deadline.
      if (waiter.dueAtMs <= options.clock()) waiter.wake();
      try {
        const result = waiter.recheck();
        if (result instanceof Promise) await result;
      } catch {
        // The woken waiter checks again and fails by itself.
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

  async function until<T extends PendingView>(pendingView: T, held: HeldReply<T>, over: WaitEnd): Promise<T> {
    const waiter = createWaiter(held);
    const isOver = () => over.signal.aborted || shutdown.aborted || performance.now() >= over.atMs;
    over.signal.addEventListener('abort', waiter.wake);
    add(waiter);
    try {
      let latest = pendingView;
      while (latest.status === 'pending' && !isOver()) {
        waiter.dueAtMs = Date.parse(latest.expires_at);
        await waiter.sleep(over.atMs - performance.now());
        await held.recheck();
        const history = await readRequest(held.requestId);
        latest = (history === null ? null : await held.view(history)) ?? latest;
      }
      return latest;
    } finally {
      remove(waiter);
    }
  }

  return {
    begin({ request, reply }, holder, requestedSeconds = waitSeconds(request)) {
      const seconds = Math.min(requestedSeconds, waitSecondsMax);
      if (seconds === 0) return null;
      if (!shares.enter(holder)) throw tooManyWaits();
      const gone = new AbortController();
      reply.raw.once('close', () => {
        shares.leave(holder);
        gone.abort();
      });
      const over: WaitEnd = { signal: gone.signal, atMs: performance.now() + seconds * 1000 };
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

interface WaitEnd {
  /** Fires when nobody is left to read the answer. */
  readonly signal: AbortSignal;
  /** When the wait ends, on the clock of `performance.now`. */
  readonly atMs: number;
}

function tooManyWaits(): ProblemError {
  const detail = 'your limit of waiting calls is reached: send the request without `Prefer: wait`';
  return new ProblemError('too_many_waits', detail, { headers: { 'retry-after': '1' } });
}

/** Seconds that `Prefer` asks to wait; 0 when it asks for no wait. */
function waitSeconds({ headers }: FastifyRequest): number {
  if (headers.prefer === undefined) return 0;
  const seconds = /(?:^|,)\s*wait\s*=\s*"?(\d{1,6})"?\s*(?=[,;]|$)/i.exec(String(headers.prefer))?.[1];
  return Number(seconds ?? 0);
}
