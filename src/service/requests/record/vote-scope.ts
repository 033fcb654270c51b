// The scope of a vote: the request and the rules that it was given for, and which rules a number of votes
// satisfies. INVARIANT: an approval counts for the request whose digest it carries and for the rules that it
// names, with unchanged conditions, and for no others; a person counts once.

import { hash } from 'node:crypto';
import type { JsonObject } from '../../../language/model/json.ts';
import type { RequestFacts } from '../../../language/model/request.ts';
import {
  type ApprovalRule,
  isExcepted,
  type NamingFields,
  type PersonIdentity,
} from '../../../language/model/rule-requirement.ts';
import { createHmacOf } from '../../agents/hmac.ts';
import { deriveKey } from '../../agents/sealing.ts';
import { canonicalJson } from '../../store/contract/canonical-json.ts';

// The digest of a request's body into the form in which it is stored. A body may hold a short secret. From a
// plain SHA-256, anyone with the file could find the secret by trial; a keyed digest prevents that.

const noBody = new Uint8Array();

/** Returns a function from the SHA-256 of a body to the HMAC-SHA256 of that digest, both in hexadecimal. */
export function createBodyDigest(masterKey: Uint8Array): (sha256: string) => string {
  const hmacOf = createHmacOf(deriveKey(masterKey, 'request bodies'));
  return (sha256) => hmacOf({ head: sha256, body: noBody });
}

/** A rule as it was when a person approved. */
export interface ApprovedRule {
  readonly id: string;
  readonly group: string;
  /** SHA-256 of the condition's text. */
  readonly condition: string;
}

export interface ScopedVote {
  readonly isApproved: boolean;
  readonly person: string;
  readonly email: string;
  readonly digest: string;
  readonly rules: readonly ApprovedRule[];
  /** Why the vote no longer counts; null when it counts. */
  readonly invalidReason: string | null;
}

/**
 * Returns SHA-256, in hexadecimal, over the canonical text of agent, action, payload and the person the agent
 * asks for. Secrets in the payload are digests already.
 */
export function requestDigest({
  agentId: agent,
  actionKey: action,
  payload,
  request: { user },
}: {
  readonly agentId: string;
  readonly actionKey: string;
  readonly payload: JsonObject;
  readonly request: Pick<RequestFacts, 'user'>;
}): string {
  const scope = { agent, action, payload };
  return hash('sha256', canonicalJson(user === undefined ? scope : { ...scope, user: user.id ?? '' }));
}

/** Returns the rule as it is approved for one of the groups that it asks. */
export function approvedRule(
  { rule: id, conditionDigest: condition }: ApprovalRule,
  group: string,
): ApprovedRule {
  return { id, group, condition };
}

/** Whether a vote was given for the rule as it is today. */
export function isFor({ rules }: Pick<ScopedVote, 'rules'>, rule: ApprovalRule): boolean {
  return rule.groups.some((group) => isForGroup({ rules }, rule, group));
}

function isForGroup({ rules }: Pick<ScopedVote, 'rules'>, rule: ApprovalRule, asked: string): boolean {
  const { id, group, condition } = approvedRule(rule, asked);
  return rules.some((one) => one.id === id && one.group === group && one.condition === condition);
}

export interface ApprovalScope {
  readonly votes: readonly ScopedVote[];
  /** Digest of the request that is decided. */
  readonly digest: string;
  /** Whether a person is the control owner of the request's agent. */
  readonly isOwner: (person: PersonIdentity) => boolean;
  /** The request that is decided. */
  readonly asked: NamingFields;
}

/**
 * Returns how many people of a group have approved for the rule as it is today. Each person counts by their
 * last vote, if that vote counts.
 */
export function approvalsOf(rule: ApprovalRule, group: string, approved: ApprovalScope): number {
  const { votes, digest } = approved;
  const last = new Map(votes.filter((vote) => vote.isApproved).map((vote) => [vote.person, vote]));
  return [...last.values()].filter(
    (vote) =>
      vote.invalidReason === null &&
      vote.digest === digest &&
      isForGroup(vote, rule, group) &&
      mayApprove(rule, { id: vote.person, email: vote.email }, approved),
  ).length;
}

/** Whether an approval by a person of the rule's group counts for the rule. */
export function mayApprove(
  { needs, except }: Pick<ApprovalRule, 'needs' | 'except'>,
  person: PersonIdentity,
  { isOwner, asked }: Pick<ApprovalScope, 'isOwner' | 'asked'>,
): boolean {
  return !(needs > 1 && isOwner(person)) && !isExcepted(except, asked, person);
}

export function isSatisfied(rule: ApprovalRule, approved: ApprovalScope): boolean {
  return rule.groups.every((group) => approvalsOf(rule, group, approved) >= rule.needs);
}
