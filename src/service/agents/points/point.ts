// Enforcement points: programs that stand between agents and what agents use, such as a proxy, a hook or the
// host of an SDK. A point has keys of its own and asks for the agents that are assigned to it. INVARIANT: a
// caller acts as a point only if the point is active, the key valid and the agent assigned; the point's
// version covers all three, so a grant can be stored on it.

import { type Collection, createCollection } from '../../store/contract/collection.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { DocumentVersion } from '../../store/contract/grant-precondition.ts';
import type { AgentRow, AgentStatus, KeyRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { isSameDigest, parseApiKey } from '../keys.ts';

/** The prefix of an enforcement point's key. */
export const pointKeyPrefix = 'writpep_';

export const pointKeyUses = { kind: 'point-key-use', prefix: pointKeyPrefix } as const;

export interface EnforcementPoint {
  readonly id: string;
  /** Unique; ASCII letters in upper and lower case count as equal. */
  readonly name: string;
  /** `revoked` is final. */
  readonly status: AgentStatus;
  /** The ids of the agents that the point asks for. */
  readonly agents: readonly string[];
  /**
   * Whether a report by this point that a grant is not used takes the grant out of the meters. Whoever has the key of
   * such a point can empty the meters of its agents.
   */
  readonly mayRelease: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

/** A key is written together with its point, so the point's version grows with each change of its keys. */
export interface PointKey {
  /** The eight characters after the prefix. */
  readonly id: string;
  readonly pointId: string;
  /** SHA-256 of the whole key, in hexadecimal. */
  readonly digest: string;
  readonly createdAtMs: number;
  /** The key is refused from this moment on; null while it is the current key. */
  readonly notAfterMs: number | null;
}

/** The enforcement point that sends a request, as it was when it was looked up. */
export interface ActingPoint {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  /** Absent where it is not needed. */
  readonly mayRelease?: boolean;
}

export interface Points {
  readonly points: Collection<EnforcementPoint>;
  readonly keys: Collection<PointKey>;
}

const pointKind = 'point';

export function pointsIn(documents: DocumentStore): Points {
  return {
    points: createCollection<EnforcementPoint>(documents, pointKind, ({ name }) => ({ name })),
    keys: createCollection<PointKey>(documents, 'point-key', ({ pointId }) => ({ parent: pointId })),
  };
}

/** What a grant rests on when its request came by this point. */
export function pointVersion({ id, version }: ActingPoint): DocumentVersion {
  return { kind: pointKind, id, version };
}

export interface ActingAs {
  readonly agent: AgentRow;
  readonly key: KeyRow;
  readonly point: ActingPoint;
}

export interface SentByPoint {
  readonly keyText: string;
  /** The agent's name or id; null when none is named. */
  readonly agentName: string | null;
}

export type PointAuthentication =
  | (ActingAs & { readonly kind: 'ok' })
  | (ActingAs & { readonly kind: 'disabled' | 'revoked' })
  | { readonly kind: 'malformed' | 'unknown' | 'expired' }
  | {
      readonly kind: 'point-disabled' | 'point-revoked' | 'not-named' | 'not-assigned';
      readonly name: string;
    };

/** The digest compared when no such key exists, so that the answer takes as long as for a key that exists. */
const noDigest = '0'.repeat(64);

/** A point that has sent a valid key, whichever agent it asks for. */
export interface PointWithKey {
  readonly value: EnforcementPoint;
  readonly version: number;
  readonly key: PointKey;
}

export type PointLookup =
  | (PointWithKey & { readonly kind: 'ok' })
  | { readonly kind: 'malformed' | 'unknown' | 'expired' }
  | { readonly kind: 'point-disabled' | 'point-revoked'; readonly name: string };

/** Finds the active point that has sent this key. Reads the store each time. */
export async function findPoint(
  documents: DocumentStore,
  keyText: string,
  nowMs: number,
): Promise<PointLookup> {
  const parsed = parseApiKey(keyText, pointKeyPrefix);
  if (parsed === null) return { kind: 'malformed' };
  const { points, keys } = pointsIn(documents);
  const key = (await keys.find(parsed.id))?.value;
  if (!isSameDigest(key?.digest ?? noDigest, parsed.digest) || key === undefined) return { kind: 'unknown' };
  if (key.notAfterMs !== null && key.notAfterMs <= nowMs) return { kind: 'expired' };
  const storedEnforcementPoint = await points.find(key.pointId);
  if (storedEnforcementPoint === null) return { kind: 'unknown' };
  const { name, status } = storedEnforcementPoint.value;
  return status === 'active'
    ? { kind: 'ok', ...storedEnforcementPoint, key }
    : { kind: `point-${status}`, name };
}

/** Finds the point that has sent this key, and the agent it asks for. Reads the store each time. */
export async function authenticatePoint(
  { documents, agents }: Pick<Store, 'documents' | 'agents'>,
  { keyText, agentName }: SentByPoint,
  nowMs: number,
): Promise<PointAuthentication> {
  const lookup = await findPoint(documents, keyText, nowMs);
  if (lookup.kind !== 'ok') return lookup;
  const { id, name, agents: assigned, mayRelease } = lookup.value;
  if (agentName === null) return { kind: 'not-named', name };
  const agent = await agents.find(agentName);
  // A caller that may not act for an agent does not learn whether the agent exists.
  if (agent === null || !assigned.includes(agent.id)) return { kind: 'not-assigned', name };
  const point = { id, name, version: lookup.version, mayRelease };
  const key = keyRow(lookup.key, agent);
  return { kind: agent.status === 'active' ? 'ok' : agent.status, agent, key, point };
}

/**
 * A point's key in the form of the records, with the agent that it is used for; the key is not that agent's
 * own.
 */
function keyRow({ id, digest, createdAtMs, notAfterMs }: PointKey, agent: AgentRow): KeyRow {
  return {
    id: `${pointKeyPrefix}${id}`,
    agentId: agent.id,
    digest,
    createdAtMs,
    notAfterMs,
    lastUsedAtMs: null,
  };
}

/** Returns a point's key, by its id in the records, as it is now; null when it no longer exists. */
export async function keyNow(
  documents: DocumentStore,
  recordedId: string,
): Promise<Pick<KeyRow, 'id' | 'notAfterMs'> | null> {
  const storedPointKey = await pointsIn(documents).keys.find(recordedId.slice(pointKeyPrefix.length));
  return storedPointKey === null ? null : { id: recordedId, notAfterMs: storedPointKey.value.notAfterMs };
}

/** A point as it is now, for a request that came by it. */
export interface CurrentPoint extends ActingPoint {
  /**
   * Why nothing more is granted by the point, as one sentence in lower case; null when grants are possible.
   */
  readonly stopped: string | null;
}

/** Returns the point that sent a request of the agent, as it is now. */
export async function pointNow(
  documents: DocumentStore,
  { id, name }: { readonly id: string; readonly name: string },
  agentId: string,
): Promise<CurrentPoint> {
  const storedEnforcementPoint = await pointsIn(documents).points.find(id);
  if (storedEnforcementPoint === null)
    return { id, name, version: 0, stopped: `the enforcement point \`${name}\` no longer exists` };
  const { value, version } = storedEnforcementPoint;
  return { id, name: value.name, version, stopped: whyStopped(value, agentId) };
}

function whyStopped({ name, status, agents }: EnforcementPoint, agentId: string): string | null {
  if (status !== 'active') return `the enforcement point \`${name}\` is ${status}`;
  return agents.includes(agentId)
    ? null
    : `the enforcement point \`${name}\` is no longer assigned to this agent`;
}
