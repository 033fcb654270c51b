// Which agent a key belongs to, and for which agent an enforcement point asks, kept for a moment as `found-keys.ts` has it.

import type { AgentWithKey } from '../store/contract/records.ts';
import type { Store } from '../store/contract/store.ts';
import { createFoundKeys, type Moment } from './found-keys.ts';
import {
  type ActingAs,
  authenticatePoint,
  type PointAuthentication,
  pointKeyPrefix,
  type SentByPoint,
} from './points/point.ts';
import { type Authentication, authenticate } from './registry.ts';

export interface AgentCache {
  /** The active agent whose key this is; null where only the store can tell. Notes the use. */
  cached(headerText: string, now: Moment): AgentWithKey | null;
  /** As `authenticate`, and keeps an active agent. What has not changed is the same object as before. */
  look(headerText: string | undefined, now: Moment): Promise<Authentication>;
  /** Whether what was found for this key is still what this cache holds. */
  isCurrent(headerText: string, found: AgentWithKey, now: Moment): boolean;
  readonly points: PointCache;
}

/** The same for a key of an enforcement point and the agent that comes with it. */
export interface PointCache {
  cached(sent: SentByPoint, now: Moment): ActingAs | null;
  look(sent: SentByPoint, now: Moment): Promise<PointAuthentication>;
  isCurrent(keyText: string, found: ActingAs, now: Moment): boolean;
}

export function createAgentCache(store: Store): AgentCache {
  const known = createFoundKeys<AgentWithKey>(store.agents.changesHere);
  return {
    cached(headerText, now) {
      const found = known.cached(agentKeyName(headerText), headerText, now);
      if (found !== null) store.agents.noteUse(found.key, now.nowMs);
      return found;
    },
    async look(headerText, now) {
      const begun = known.begin(now);
      const found = await authenticate(store, headerText, now.nowMs);
      if (found.kind !== 'ok') return found;
      const { kind, agent, key } = found;
      return { kind, ...known.keep([agentKeyName(headerText ?? '')], { agent, key }, begun) };
    },
    isCurrent: (headerText, found, now) => known.isCurrent(agentKeyName(headerText), found, now),
    points: createPointCache(store),
  };
}

function createPointCache({ agents, documents }: Store): PointCache {
  // A point is written together with its keys.
  const known = createFoundKeys<ActingAs>(() => agents.changesHere() + documents.changesHere('point'));
  return {
    cached: ({ keyText, agentName }, now) =>
      agentName === null ? null : known.cached(actingName(keyText, agentName), keyText, now),
    async look(sent, now) {
      const begun = known.begin(now);
      const found = await authenticatePoint({ agents, documents }, sent, now.nowMs);
      if (found.kind !== 'ok') return found;
      const { kind, agent, key, point } = found;
      const names = [agent.id, sent.agentName ?? agent.id].map((name) => actingName(sent.keyText, name));
      return { kind, ...known.keep(names, { agent, key, point }, begun) };
    },
    isCurrent: (keyText, found, now) => known.isCurrent(actingName(keyText, found.agent.id), found, now),
  };
}

const keyIdLength = 8;
const agentKeyNameLength = 'writ_'.length + keyIdLength;

/** What a key is looked up by is no secret. */
function agentKeyName(headerText: string): string {
  return headerText.slice(0, agentKeyNameLength);
}

function actingName(keyText: string, agentName: string): string {
  return `${keyText.slice(0, pointKeyPrefix.length + keyIdLength)} ${agentName}`;
}
