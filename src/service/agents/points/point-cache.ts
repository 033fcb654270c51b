// For which agent an enforcement point asks, kept for a moment as `found-keys.ts` has it.

import type { Store } from '../../store/contract/store.ts';
import { createFoundKeys, type Moment } from '../found-keys.ts';
import {
  type ActingAs,
  authenticatePoint,
  findPoint,
  type PointAuthentication,
  type PointKnown,
  pointKeyPrefix,
  type SentByPoint,
} from './point.ts';
import { createPointUses } from './point-uses.ts';

export interface PointCache {
  /** Null where only the store can tell. */
  cached(sent: SentByPoint, now: Moment): ActingAs | null;
  /** As `authenticatePoint`, keeps what may act, and notes its use. What has not changed is the same object as before. */
  look(sent: SentByPoint, now: Moment): Promise<PointAuthentication>;
  /** The point by itself, whomever it asks for; notes the use of its key. */
  find(keyText: string, nowMs: number): Promise<PointKnown>;
  /** Whether what was found for this key is still what this cache holds. */
  isCurrent(keyText: string, found: ActingAs, now: Moment): boolean;
}

export function createPointCache({ agents, documents }: Pick<Store, 'agents' | 'documents'>): PointCache {
  // A point is written together with its keys.
  const uses = createPointUses(documents);
  const known = createFoundKeys<ActingAs>(() => agents.changesHere() + documents.changesHere('point'));
  return {
    cached: ({ keyText, agentName }, now) =>
      agentName === null ? null : known.cached(nameOf(keyText, agentName), keyText, now),
    async look(sent, now) {
      const begun = known.begin(now);
      const found = await authenticatePoint({ agents, documents }, sent, now.nowMs);
      if (found.kind !== 'ok') return found;
      const { kind, agent, key, point } = found;
      uses.note(key, now.nowMs);
      const names = [agent.id, sent.agentName ?? agent.id].map((name) => nameOf(sent.keyText, name));
      return { kind, ...known.keep(names, { agent, key, point }, begun) };
    },
    async find(keyText, nowMs) {
      const found = await findPoint(documents, keyText, nowMs);
      if (found.kind === 'ok')
        uses.note({ id: `${pointKeyPrefix}${found.key.id}`, lastUsedAtMs: null }, nowMs);
      return found;
    },
    isCurrent: (keyText, found, now) => known.isCurrent(nameOf(keyText, found.agent.id), found, now),
  };
}

/** With the id of the key, which is no secret. */
const nameLength = pointKeyPrefix.length + 8;

function nameOf(keyText: string, agentName: string): string {
  return `${keyText.slice(0, nameLength)} ${agentName}`;
}
