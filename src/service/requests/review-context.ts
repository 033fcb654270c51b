// What approvers should know about a request before they decide: texts that may deceive a reader, a high risk, and
// earlier grants of the same thing. INVARIANT: nothing is decided by it, and the work is bounded by the payload and
// by the grants that it is compared with.

import type { Json, JsonObject } from '../../language/model/json.ts';
import { hasInvisible } from '../../language/value/invisible.ts';
import { isMixedScript } from '../../language/value/scripts.ts';
import type { GrantedRequest } from '../store/contract/agent-activity.ts';
import { canonicalJson } from '../store/contract/canonical-json.ts';
import { type Confusable, findConfusables } from './confusables.ts';
import { type RequestRecord, recordTitle } from './record/record.ts';
import type { RequestState } from './record/request-state.ts';

export const reviewWarnings = ['deceptive_letters', 'high_risk'] as const;
export type ReviewWarning = (typeof reviewWarnings)[number];

/** From this risk on, 0 to 100, a request is not approved together with others. */
export const highRiskMin = 80;
export const earlierGrantsMax = 5;

export interface EarlierGrant {
  readonly requestId: string;
  readonly createdAtMs: number;
  /** Whether the payload is the same; otherwise only its numbers and the texts in the title are. */
  readonly isIdentical: boolean;
}

/** What the record of a request and the grants before it show; the same each time. */
export interface RecordReview {
  readonly findConfusables: readonly Confusable[];
  /** Whether letters of several scripts in a word, a look-alike or invisible characters may deceive a reader. */
  readonly isDeceptive: boolean;
  /** The latest first. */
  readonly earlierGrants: readonly EarlierGrant[];
}

/** A grant with its payload, read once for all requests that are compared with it. */
export interface ReadGrant extends Pick<GrantedRequest, 'id' | 'createdAtMs'> {
  readonly payload: JsonObject;
  /** The payload as canonical JSON. */
  readonly canonical: string;
}

export function readGrant({ id, createdAtMs, payloadJson }: GrantedRequest): ReadGrant {
  // The payload was written by `requestRow`, so it is valid JSON.
  const payload = JSON.parse(payloadJson) as JsonObject;
  return { id, createdAtMs, payload, canonical: canonicalJson(payload) };
}

/** Reviews a record. `granted` has the agent's grants for the action, the latest first. */
export function reviewRecord(record: RequestRecord, granted: readonly ReadGrant[]): RecordReview {
  const earlier = granted.filter(
    ({ id, createdAtMs }) => createdAtMs < record.createdAtMs && id !== record.id,
  );
  const alike = findConfusables(
    record.payload,
    earlier.map(({ payload }) => payload),
  );
  return {
    findConfusables: alike,
    isDeceptive: alike.length > 0 || isDeceptive(record),
    earlierGrants: earlierGrants(record, earlier),
  };
}

export function warningsOf(
  { decision }: Pick<RequestState, 'decision'>,
  { isDeceptive }: RecordReview,
): readonly ReviewWarning[] {
  return [
    ...(isDeceptive ? (['deceptive_letters'] as const) : []),
    ...(decision.risk.high >= highRiskMin ? (['high_risk'] as const) : []),
  ];
}

function isDeceptive(record: RequestRecord): boolean {
  const names = [recordTitle(record), record.actionKey, record.agent.name ?? '', record.decision.reason];
  if (names.some((text) => isMixedScript(text) || hasInvisible(text))) return true;
  return leavesOf(record.payload).some(
    ({ path, value }) => hasInvisible(path) || (typeof value === 'string' && hasInvisible(value)),
  );
}

function earlierGrants(record: RequestRecord, earlier: readonly ReadGrant[]): readonly EarlierGrant[] {
  const whole = canonicalJson(record.payload);
  const title = recordTitle(record);
  const subject = subjectOf(record.payload, title);
  const found: EarlierGrant[] = [];
  for (const { id: requestId, createdAtMs, payload, canonical } of earlier) {
    if (found.length === earlierGrantsMax) break;
    const isIdentical = canonical === whole;
    const isSame = isIdentical || (subject !== null && subjectOf(payload, title) === subject);
    if (isSame) found.push({ requestId, createdAtMs, isIdentical });
  }
  return found;
}

/**
 * The numbers of a payload and its texts that the title shows, such as an amount and its payee, as one text; null
 * without a number or without a text, because many different requests have one of them in common.
 */
function subjectOf(payload: JsonObject, title: string): string | null {
  const leaves = leavesOf(payload);
  const numbers = leaves.filter(({ value }) => typeof value === 'number');
  const texts = leaves.filter(
    ({ value }) => typeof value === 'string' && value !== '' && title.includes(value),
  );
  if (numbers.length === 0 || texts.length === 0) return null;
  return JSON.stringify([...numbers, ...texts].map(({ path, value }) => [path, value]).sort());
}

interface Leaf {
  readonly path: string;
  readonly value: Json;
}

function leavesOf(value: Json, path = ''): readonly Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, `${path}/${name}`));
}
