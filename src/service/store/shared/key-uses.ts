// Uses of keys into the minute of the last one, gathered for a second and written together: a request never waits for
// this write and never causes one of its own. Losing it loses only a time of last use.

import type { KeyRow } from '../contract/records.ts';

export interface KeyUse {
  readonly keyId: string;
  readonly atMs: number;
}

export interface KeyUses {
  note(key: Pick<KeyRow, 'id' | 'lastUsedAtMs'>, nowMs: number): void;
  /** Writes what was noted so far. */
  flush(): Promise<void>;
}

const minuteMs = 60_000;
const gatherMs = 1_000;
/** Beyond this many the rows decide again, at the cost of a write. */
const keysMax = 10_000;

export function createKeyUses(write: (uses: readonly KeyUse[]) => Promise<unknown>): KeyUses {
  const noted = new Map<string, number>();
  /** The latest minute of each key that was handed on: the row that a caller holds may be older. */
  const handedOn = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (noted.size === 0) return;
    const uses = [...noted].map(([keyId, atMs]) => ({ keyId, atMs }));
    if (handedOn.size >= keysMax) handedOn.clear();
    for (const [keyId, atMs] of noted) handedOn.set(keyId, atMs);
    noted.clear();
    // A store that cannot write says so where it matters; the next use is noted again.
    await write(uses).catch(() => {});
  }

  return {
    note(key, nowMs) {
      const atMs = nowMs - (nowMs % minuteMs);
      const known = noted.get(key.id) ?? handedOn.get(key.id) ?? -1;
      if (Math.max(known, key.lastUsedAtMs ?? -1) >= atMs) return;
      noted.set(key.id, atMs);
      timer ??= setTimeout(flush, gatherMs).unref();
    },
    flush,
  };
}
