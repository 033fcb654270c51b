// Turns uses of keys into the minute of the last use. Uses are gathered for a second and written together: a
// request never waits for this write and never causes one of its own. A loss costs only a time of last use.

import type { KeyRow } from '../contract/records.ts';

export interface KeyUse {
  readonly keyId: string;
  readonly atMs: number;
}

export interface KeyUses {
  note(key: Pick<KeyRow, 'id' | 'lastUsedAtMs'>, nowMs: number): void;
  /** Writes the uses noted so far. */
  flush(): Promise<void>;
}

const minuteMs = 60_000;
const gatherMs = 1_000;
/**
 * Beyond this number of keys, `handedOn` is emptied and the stored rows decide again, which costs a write.
 */
const keysMax = 10_000;

export function createKeyUses(write: (uses: readonly KeyUse[]) => Promise<unknown>): KeyUses {
  const noted = new Map<string, number>();
  /** The latest minute of each key that was given to `write`; the row that a caller holds may be older. */
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
    // A store that cannot write reports that where it matters; the next use of the key is noted again.
    await write(uses).catch(() => {});
  }

  return {
    note(key, nowMs) {
      const atMs = nowMs - (nowMs % minuteMs);
      const notedMs = noted.get(key.id) ?? handedOn.get(key.id) ?? -1;
      if (Math.max(notedMs, key.lastUsedAtMs ?? -1) >= atMs) return;
      noted.set(key.id, atMs);
      timer ??= setTimeout(flush, gatherMs).unref();
    },
    flush,
  };
}
