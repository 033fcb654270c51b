// Remembers what may be sent once: the nonces of signatures, and the ids of proofs of possession. INVARIANT: a
// nonce is accepted once, also across a restart; until the nonces of an earlier run are read, and when there is
// no more room, none is accepted.

import type { NonceStore } from '../store/contract/store.ts';

/** How far the time of a nonce may be away, in seconds. */
export const skewSecondsMax = 300;
const nonceKeptMs = 600_000;
const countMaxDefault = 1_000_000;

interface NonceOptions {
  /** Keeps nonces beyond the life of the process; without it, they are forgotten with the cache. */
  readonly store?: NonceStore;
  readonly countMax?: number;
}

export interface NonceCache {
  /** Whether a signature's time is too far from now, or from the latest time seen if that is later. */
  isStale(timeMs: number, nowMs: number): boolean;
  use(nonce: string, timeMs: number, nowMs: number): 'fresh' | 'used' | 'no-room' | 'forgotten' | 'not-ready';
}

/** The part of a store's nonces that one cache reads, so that no sender can use up the room of another kind. */
export function nonceStoreOf(store: NonceStore, isOwn: (nonce: string) => boolean): NonceStore {
  return {
    note: (use) => store.note(use),
    validFromMs: () => store.validFromMs(),
    list: async () => (await store.list()).filter(({ nonce }) => isOwn(nonce)),
  };
}

/**
 * Remembers each nonce for 600 s, the oldest first in the map; refuses signatures rather than forget a nonce
 * early.
 */
export function createNonceCache({ store, countMax = countMaxDefault }: NonceOptions = {}): NonceCache {
  const keptUntil = new Map<string, number>();
  /** The latest time seen. A clock that goes back forgets no nonce and makes none valid again. */
  let latestMs = -Infinity;
  let state: 'unread' | 'reading' | 'ready' = store === undefined ? 'ready' : 'unread';
  const forgetOld = (nowMs: number) => {
    for (const [nonce, untilMs] of keptUntil) {
      if (nowMs <= untilMs) return;
      keptUntil.delete(nonce);
    }
  };
  /**
   * For signatures of an earlier time it is unknown which nonces were used; allows for senders whose clocks
   * are ahead.
   */
  let validFromMs = -Infinity;
  const read = async () => {
    if (state !== 'unread' || store === undefined) return;
    state = 'reading';
    try {
      for (const { nonce, usedAtMs, keptUntilMs } of await store.list()) {
        keptUntil.set(nonce, keptUntilMs);
        latestMs = Math.max(latestMs, usedAtMs);
      }
      validFromMs = ((await store.validFromMs()) ?? -Infinity) + skewSecondsMax * 1000;
      state = 'ready';
    } catch {
      // The next signature tries again; until then none is valid.
      state = 'unread';
    }
  };
  void read();
  return {
    isStale: (timeMs, nowMs) => Math.abs(Math.max(latestMs, nowMs) - timeMs) > skewSecondsMax * 1000,
    use(nonce, timeMs, givenMs) {
      if (state !== 'ready') {
        void read();
        return 'not-ready';
      }
      if (timeMs < validFromMs) return 'forgotten';
      const nowMs = Math.max(latestMs, givenMs);
      latestMs = nowMs;
      forgetOld(nowMs);
      if (keptUntil.has(nonce)) return 'used';
      if (keptUntil.size >= countMax) return 'no-room';
      const usedAtMs = Math.trunc(nowMs);
      const keptUntilMs = usedAtMs + nonceKeptMs;
      keptUntil.set(nonce, keptUntilMs);
      store?.note({ nonce, usedAtMs, keptUntilMs });
      return 'fresh';
    },
  };
}
