// Who sent a request, remembered for a moment, so that an agent that asks often is looked up now and then. INVARIANT:
// what is remembered was found less than `rememberedMsMax` ago and no change through this store has been asked for or
// made since: a change made here holds from the next request on, one made by another process within that time.

import { hash, timingSafeEqual } from 'node:crypto';
import type { AgentWithKey } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { type Authentication, authenticate } from './registry.ts';

/** How long a change that another process makes to the same store may go unseen. */
export const rememberedMsMax = 500;
/** Beyond this many keys all are forgotten, and looked up again. */
const keysMax = 10_000;

export interface AgentMemory {
  /** The agent, active, whose key this is beyond doubt; null where only the store can tell. Notes the use. */
  recall(headerText: string, now: Moment): AgentWithKey | null;
  /** As `authenticate`, and remembers an agent that may ask. */
  look(headerText: string | undefined, now: Moment): Promise<Authentication>;
}

export interface Moment {
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly nowMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly steadyMs: number;
}

interface Remembered extends AgentWithKey {
  /** Of the key, in hexadecimal, as bytes. */
  readonly digest: Buffer;
  readonly changesHere: number;
  readonly foundAtMs: number;
}

export function createAgentMemory(store: Store): AgentMemory {
  const byName = new Map<string, Remembered>();
  const sent = Buffer.alloc(sha256HexLength);

  function recall(headerText: string, { nowMs, steadyMs }: Moment): AgentWithKey | null {
    const known = byName.get(nameOf(headerText));
    if (known === undefined) return null;
    const isFresh =
      steadyMs - known.foundAtMs < rememberedMsMax && known.changesHere === store.agents.changesHere();
    if (!isFresh) {
      byName.delete(nameOf(headerText));
      return null;
    }
    sent.write(hash('sha256', headerText, 'hex'), 'latin1');
    if (!timingSafeEqual(sent, known.digest)) return null;
    if (known.key.notAfterMs !== null && known.key.notAfterMs <= nowMs) return null;
    store.agents.noteUse(known.key, nowMs);
    return known;
  }

  async function look(headerText: string | undefined, { nowMs, steadyMs }: Moment): Promise<Authentication> {
    // Before the look: what changes during it makes it out of date.
    const changesHere = store.agents.changesHere();
    const found = await authenticate(store, headerText, nowMs);
    if (found.kind === 'ok') {
      if (byName.size >= keysMax) byName.clear();
      const { agent, key } = found;
      const digest = Buffer.from(key.digest, 'latin1');
      byName.set(nameOf(headerText ?? ''), { agent, key, digest, changesHere, foundAtMs: steadyMs });
    }
    return found;
  }

  return { recall, look };
}

const sha256HexLength = 64;
/** `writ_` and the id of the key: what a key is looked up by is no secret. */
const nameLength = 13;

function nameOf(headerText: string): string {
  return headerText.slice(0, nameLength);
}
