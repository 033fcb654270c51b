// Standing approvals as documents, by which they are found, listed and revoked. What one covers is not read from
// here but from the votes of its request. INVARIANT: a document without the votes of a granted request covers
// nothing, so it may be written before them.

import { hash } from 'node:crypto';
import type { StandingScope } from '../../../language/model/policy.ts';
import {
  type ApprovalRule,
  type NamingFields,
  type StandingValue,
  standingValues,
} from '../../../language/model/rule-requirement.ts';
import { canonicalJson } from '../../store/contract/canonical-json.ts';
import { type Collection, createCollection } from '../../store/contract/collection.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';

export const standingKind = 'standing-approval';

export interface StandingApproval {
  /** Made of the request and the rule, so that several votes write one document. */
  readonly id: string;
  /** When the first person chose it. */
  readonly createdAtMs: number;
  readonly agentId: string;
  /** The request that was approved. */
  readonly requestId: string;
  readonly actionKey: string;
  /** `policy/rule`. */
  readonly rule: string;
  /** Its keys with their values, sorted by key; the agent is always part of it. */
  readonly per: readonly StandingKey[];
  /** Digest of agent, rule and keys. */
  readonly scope: string;
  /** When it ends at the latest. */
  readonly untilMs: number;
  /** Who has revoked it; null when nobody has. */
  readonly revoked: { readonly who: string; readonly atMs: number } | null;
  /** What people and webhooks have been told of it; absent when nothing. */
  readonly told?: readonly StandingNewsKind[];
}

/** `used_up`: the last use was taken. `ending`: it ends soon. */
export const standingNewsKinds = ['given', 'used_up', 'ending', 'revoked'] as const;
export type StandingNewsKind = (typeof standingNewsKinds)[number];

export interface StandingKey {
  readonly key: string;
  readonly value: StandingValue;
}

export type StandingRule = ApprovalRule & { readonly standing: StandingScope };

export function hasStanding(rule: ApprovalRule): rule is StandingRule {
  return rule.standing !== undefined;
}

export function standingCollection(documents: DocumentStore): Collection<StandingApproval> {
  return createCollection<StandingApproval>(documents, standingKind, ({ scope, untilMs }) => ({
    parent: scope,
    endsAtMs: untilMs,
  }));
}

/** Returns the id of a request's standing approval for a rule, in the form of a UUID. */
export function standingId(requestId: string, rule: string): string {
  const text = hash('sha256', canonicalJson(['standing approval', requestId, rule]));
  return [8, 12, 16, 20, 32].map((end, at, ends) => text.slice(ends[at - 1] ?? 0, end)).join('-');
}

/** Returns the keys of the rule with the values of a request; null when one is not known. */
export function keysOf({ standing }: StandingRule, request: NamingFields): readonly StandingKey[] | null {
  const values = standingValues(standing, request);
  return values && standing.per.map((key, at) => ({ key, value: values[at]! }));
}

/** Returns the digest by which standing approvals of equal scope are found. */
export function scopeDigest(agentId: string, rule: string, keys: readonly StandingKey[]): string {
  const values = keys.map(({ key, value }) => [key, value]);
  return hash('sha256', canonicalJson([agentId, rule, values]));
}
