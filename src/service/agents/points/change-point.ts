// Adds, changes, disables and revokes enforcement points, and gives them new keys. A user's mistake is a
// returned value; only the store rejects. INVARIANT: a key is returned once, when it is made, and each change
// is recorded with the person who made it.

import { randomUUID } from 'node:crypto';
import { nameProblem } from '../../../language/value/visible-text.ts';
import type { CanonicalValue } from '../../store/contract/canonical-json.ts';
import type { ReadDocument } from '../../store/contract/collection.ts';
import type { DocumentResult, DocumentStore, DocumentWrite } from '../../store/contract/documents.ts';
import type { AgentStatus } from '../../store/contract/records.ts';
import { lastUseOf, usesForgotten } from '../document-uses.ts';
import { createApiKey } from '../keys.ts';
import { type EnforcementPoint, type PointKey, pointKeyPrefix, pointKeyUses, pointsIn } from './point.ts';

export interface PointDraft {
  readonly name: string;
  /** The ids of agents; the caller has checked that these agents exist. */
  readonly agents: readonly string[];
  readonly mayRelease: boolean;
}

/** Who makes a change, when, and in which store. */
export interface PointChanger {
  readonly documents: DocumentStore;
  /** The person's name in the record. */
  readonly who: string;
  readonly nowMs: number;
}

export interface PointProblem {
  readonly field: keyof PointDraft;
  /** One sentence in lower case without a final full stop. */
  readonly detail: string;
}

export type PointChangeResult =
  | { readonly kind: 'changed'; readonly point: EnforcementPoint }
  | { readonly kind: 'invalid'; readonly problems: readonly PointProblem[] }
  | { readonly kind: 'unknown' | 'revoked' | 'conflict' };

/** `apiKey` is the only copy there will ever be. */
export type NewPointKey =
  | { readonly kind: 'made'; readonly point: EnforcementPoint; readonly apiKey: string }
  | Exclude<PointChangeResult, { readonly kind: 'changed' }>
  | { readonly kind: 'too-many-keys' };

const nameLengthMax = 100;
export const pointAgentsMax = 1_000;
/** Valid keys of a point at a time: the current one, and one that has been replaced. */
const goodKeysMax = 2;

/** Registers an active point and makes its first key. */
export async function addPoint(by: PointChanger, draft: PointDraft): Promise<NewPointKey> {
  const problems = problemsOf(draft);
  if (problems.length > 0) return { kind: 'invalid', problems };
  const point: EnforcementPoint = {
    id: randomUUID(),
    name: draft.name,
    status: 'active',
    agents: [...draft.agents],
    mayRelease: draft.mayRelease,
    createdAtMs: by.nowMs,
    changedAtMs: by.nowMs,
  };
  const { text, key } = newKey(point.id, by.nowMs);
  const { points, keys } = pointsIn(by.documents);
  const result = await write(by, [points.put(point, 0), keys.put(key, 0)], {
    what: 'point-added',
    subject: point.id,
    before: null,
    after: { ...shown(point), key_id: key.id },
  });
  return result === 'changed' ? { kind: 'made', point, apiKey: text } : refused(result);
}

/** Changes what a draft says of a point; absent fields stay unchanged. */
export function describePoint(
  by: PointChanger,
  id: string,
  change: Partial<PointDraft>,
): Promise<PointChangeResult> {
  return changePoint(by, { id, what: 'point-changed' }, (point) => ({ ...point, ...change }));
}

export function setPointStatus(
  by: PointChanger,
  id: string,
  status: AgentStatus,
): Promise<PointChangeResult> {
  const what = ({ active: 'point-enabled', disabled: 'point-disabled', revoked: 'point-revoked' } as const)[
    status
  ];
  return changePoint(by, { id, what }, (point) => ({ ...point, status }));
}

async function changePoint(
  by: PointChanger,
  { id, what }: { readonly id: string; readonly what: string },
  make: (point: EnforcementPoint) => EnforcementPoint,
): Promise<PointChangeResult> {
  const { points } = pointsIn(by.documents);
  const storedEnforcementPoint = await points.find(id);
  if (storedEnforcementPoint === null) return { kind: 'unknown' };
  const { value: before, version } = storedEnforcementPoint;
  if (before.status === 'revoked') return { kind: 'revoked' };
  const point = { ...make(before), changedAtMs: by.nowMs };
  const problems = problemsOf(point);
  if (problems.length > 0) return { kind: 'invalid', problems };
  const result = await write(by, [points.put(point, version)], {
    what,
    subject: id,
    before: shown(before),
    after: shown(point),
  });
  return result === 'changed' ? { kind: 'changed', point } : refused(result);
}

/** Gives the point a new key, sets an end for its present keys, and forgets keys that have ended. */
export async function rotatePointKey(by: PointChanger, id: string, graceMs: number): Promise<NewPointKey> {
  const { points, keys } = pointsIn(by.documents);
  const storedEnforcementPoint = await points.find(id);
  if (storedEnforcementPoint === null) return { kind: 'unknown' };
  if (storedEnforcementPoint.value.status === 'revoked') return { kind: 'revoked' };
  const { text, key } = newKey(id, by.nowMs);
  const notAfterMs = by.nowMs + graceMs;
  const present = await keys.list({ parent: id, countMax: keysListed });
  const good = present.filter(({ value }) => value.notAfterMs === null || value.notAfterMs > by.nowMs);
  if (graceMs > 0 && good.length >= goodKeysMax) return { kind: 'too-many-keys' };
  const point = { ...storedEnforcementPoint.value, changedAtMs: by.nowMs };
  const over = present.filter((one) => !good.includes(one));
  const ended = [
    ...good.map(endingKey),
    ...over.map(({ value, version }) => keys.remove(value, version)),
    ...(await usesForgotten(
      by.documents,
      pointKeyUses,
      over.map(({ value }) => value.id),
    )),
  ];
  const result = await write(
    by,
    [points.put(point, storedEnforcementPoint.version), keys.put(key, 0), ...ended],
    {
      what: 'point-key-rotated',
      subject: id,
      before: { key_ids: good.map(({ value }) => value.id) },
      after: { key_id: key.id, old_keys_end_ms: notAfterMs },
    },
  );
  return result === 'changed' ? { kind: 'made', point, apiKey: text } : refused(result);

  function endingKey({ value, version }: ReadDocument<PointKey>): DocumentWrite {
    const endsMs = Math.min(value.notAfterMs ?? notAfterMs, notAfterMs);
    return keys.put({ ...value, notAfterMs: endsMs }, version);
  }
}

/** The most keys listed for a point: more than it can have, since each rotation forgets ended keys. */
const keysListed = 10;

export interface UsedPointKey extends PointKey {
  /** The time of the last use, to the minute; null before the first use. */
  readonly lastUsedAtMs: number | null;
}

/** Returns the keys of a point, the oldest first. */
export async function keysOf(documents: DocumentStore, pointId: string): Promise<readonly UsedPointKey[]> {
  const storedPointKeys = await pointsIn(documents).keys.list({ parent: pointId, countMax: keysListed });
  const used = storedPointKeys.map(async ({ value }) => ({
    ...value,
    lastUsedAtMs: await lastUseOf(documents, pointKeyUses, value.id),
  }));
  return (await Promise.all(used)).toReversed();
}

function newKey(pointId: string, nowMs: number): { readonly text: string; readonly key: PointKey } {
  const { id, text, digest } = createApiKey(pointKeyPrefix);
  return { text, key: { id, pointId, digest, createdAtMs: nowMs, notAfterMs: null } };
}

function problemsOf({ name, agents }: Pick<PointDraft, 'name' | 'agents'>): readonly PointProblem[] {
  const ofName = nameProblem(name, nameLengthMax);
  return [
    ...(ofName === null ? [] : [{ field: 'name', detail: `the name ${ofName}` } as const]),
    ...(agents.length <= pointAgentsMax
      ? []
      : [{ field: 'agents', detail: `name at most ${pointAgentsMax} agents` } as const]),
    ...(new Set(agents).size === agents.length
      ? []
      : [{ field: 'agents', detail: 'name each agent once' } as const]),
  ];
}

function shown({ name, status, agents, mayRelease }: EnforcementPoint) {
  return { name, status, agents: [...agents], may_release: mayRelease };
}

interface PointChange {
  readonly what: string;
  readonly subject: string;
  readonly before: CanonicalValue;
  readonly after: CanonicalValue;
}

function write(
  { documents, who, nowMs: atMs }: PointChanger,
  writes: readonly DocumentWrite[],
  change: PointChange,
): Promise<DocumentResult> {
  return documents.write(writes, { ...change, who, atMs });
}

function refused(result: Exclude<DocumentResult, 'changed'>) {
  return result === 'name-taken'
    ? ({
        kind: 'invalid',
        problems: [{ field: 'name', detail: 'another enforcement point has this name' }],
      } as const)
    : ({ kind: 'conflict' } as const);
}
