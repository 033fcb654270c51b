// Enforcement points: programs that stand between agents and what agents use, such as a proxy, a hook or the host of an SDK.
// A point has keys of its own and asks for the agents that are assigned to it. INVARIANT: whoever acts as a point is active,
// with a good key, for an assigned agent; the point's version stands for all three, so a grant can be stored on it.

import { type Collection, createCollection } from '../../store/contract/collection.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { SeenDocument } from '../../store/contract/grant-basis.ts';
import type { AgentRow, AgentStatus, KeyRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { isSameDigest, parseApiKey } from '../keys.ts';

/** What the key of an enforcement point begins with. */
export const pointKeyPrefix = 'writpep_';

export interface EnforcementPoint {
  readonly id: string;
  /** Unique, upper and lower case ASCII letters taken as equal. */
  readonly name: string;
  /** `revoked` is final. */
  readonly status: AgentStatus;
  /** The ids of the agents that it asks for. */
  readonly agents: readonly string[];
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

/** Written together with its point, whose version so grows with each change of its keys. */
export interface PointKey {
  /** The eight characters after the prefix. */
  readonly id: string;
  readonly pointId: string;
  /** SHA-256 of the whole key, in hexadecimal. */
  readonly digest: string;
  readonly createdAtMs: number;
  /** From this moment the key is refused; null while it is the current one. */
  readonly notAfterMs: number | null;
}

/** The point by which a request comes, as it was seen. */
export interface ActingPoint {
  readonly id: string;
  readonly name: string;
  readonly version: number;
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

/** What a grant rests on that comes by this point. */
export function seenPoint({ id, version }: ActingPoint): SeenDocument {
  return { kind: pointKind, id, version };
}

export interface ActingAs {
  readonly agent: AgentRow;
  readonly key: KeyRow;
  readonly point: ActingPoint;
}

export interface SentByPoint {
  readonly keyText: string;
  /** By name or id; null where none is named. */
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

/** Compared with where there is no such key, so that its absence takes no less time. */
const noDigest = '0'.repeat(64);

/** A point that has sent a good key, whomever it asks for. */
export interface KnownPoint {
  readonly value: EnforcementPoint;
  readonly version: number;
  readonly key: PointKey;
}

export type PointKnown =
  | (KnownPoint & { readonly kind: 'ok' })
  | { readonly kind: 'malformed' | 'unknown' | 'expired' }
  | { readonly kind: 'point-disabled' | 'point-revoked'; readonly name: string };

/** Which active point has sent this key. Reads the store each time. */
export async function findPoint(
  documents: DocumentStore,
  keyText: string,
  nowMs: number,
): Promise<PointKnown> {
  const parsed = parseApiKey(keyText, pointKeyPrefix);
  if (parsed === null) return { kind: 'malformed' };
  const { points, keys } = pointsIn(documents);
  const key = (await keys.find(parsed.id))?.value;
  if (!isSameDigest(key?.digest ?? noDigest, parsed.digest) || key === undefined) return { kind: 'unknown' };
  if (key.notAfterMs !== null && key.notAfterMs <= nowMs) return { kind: 'expired' };
  const found = await points.find(key.pointId);
  if (found === null) return { kind: 'unknown' };
  const { name, status } = found.value;
  return status === 'active' ? { kind: 'ok', ...found, key } : { kind: `point-${status}`, name };
}

/** Which point has sent this key, and for which agent it asks. Reads the store each time. */
export async function authenticatePoint(
  { documents, agents }: Pick<Store, 'documents' | 'agents'>,
  { keyText, agentName }: SentByPoint,
  nowMs: number,
): Promise<PointAuthentication> {
  const known = await findPoint(documents, keyText, nowMs);
  if (known.kind !== 'ok') return known;
  const { id, name, agents: assigned } = known.value;
  if (agentName === null) return { kind: 'not-named', name };
  const agent = await agents.find(agentName);
  // A caller that may not act for an agent does not learn whether it exists.
  if (agent === null || !assigned.includes(agent.id)) return { kind: 'not-assigned', name };
  const point = { id, name, version: known.version };
  const key = keyRow(known.key, agent);
  return { kind: agent.status === 'active' ? 'ok' : agent.status, agent, key, point };
}

/** As the records name the key, which is not one of the agent's. */
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

/** A key as the records name it, as it is now; null where there is none any more. */
export async function keyNow(
  documents: DocumentStore,
  recordedId: string,
): Promise<Pick<KeyRow, 'id' | 'notAfterMs'> | null> {
  const found = await pointsIn(documents).keys.find(recordedId.slice(pointKeyPrefix.length));
  return found === null ? null : { id: recordedId, notAfterMs: found.value.notAfterMs };
}

/** How a point stands to a request that came by it. */
export interface PointNow extends ActingPoint {
  /** Why nothing is granted by it any more; null where it may be. One sentence in lower case. */
  readonly stopped: string | null;
}

/** The point by which a request of the agent came, as it is now. */
export async function pointNow(
  documents: DocumentStore,
  { id, name }: { readonly id: string; readonly name: string },
  agentId: string,
): Promise<PointNow> {
  const found = await pointsIn(documents).points.find(id);
  if (found === null) return { id, name, version: 0, stopped: `the enforcement point \`${name}\` is gone` };
  const { value, version } = found;
  return { id, name: value.name, version, stopped: whyStopped(value, agentId) };
}

function whyStopped({ name, status, agents }: EnforcementPoint, agentId: string): string | null {
  if (status !== 'active') return `the enforcement point \`${name}\` is ${status}`;
  return agents.includes(agentId) ? null : `the enforcement point \`${name}\` is not for this agent any more`;
}
