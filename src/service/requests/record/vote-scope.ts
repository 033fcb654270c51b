// The scope of a vote: the request and the rules that it was given for, and which rules a number of votes
// satisfies. INVARIANT: an approval counts for the request whose digest it carries and for the rules that it
// names, with unchanged conditions, and for no others; a person counts once.

import { hash } from 'node:crypto';
import type { ApprovalRequirement } from '../../../language/model/decision.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import type { RequestFacts } from '../../../language/model/request.ts';
import {
  type ApprovalRule,
  isExcepted,
  isNamedBy,
  type NamingFields,
  type PersonIdentity,
} from '../../../language/model/rule-requirement.ts';
import { createHmacOf } from '../../agents/hmac.ts';
import { deriveKey } from '../../agents/sealing.ts';
import { canonicalJson } from '../../store/contract/canonical-json.ts';
import { controlOwnerGroup } from '../../store/contract/control-owner-group.ts';
import { assignPeople } from './assign-people.ts';

// The digest of a request's body into the form in which it is stored. A body may hold a short secret. From a
// plain SHA-256, anyone with the file could find the secret by trial; a keyed digest prevents that.

const noBody = new Uint8Array();

/** Returns a function from the SHA-256 of a body to the HMAC-SHA256 of that digest, both in hexadecimal. */
export function createBodyDigest(masterKey: Uint8Array): (sha256: string) => string {
  const hmacOf = createHmacOf(deriveKey(masterKey, 'request bodies'));
  return (sha256) => hmacOf({ head: sha256, body: noBody });
}

/** What a person may answer for. */
export interface VoterRights {
  /** Groups that the person may approve for. */
  readonly groups: readonly string[];
  /** Whether the person may answer what asks them in person: by name, or as the control owner of the agent. */
  readonly inPerson: boolean;
  readonly isOwner: boolean;
}

/** Whether the person is one of those who may answer. INVARIANT: nobody answers for an unknown approver. */
export function answers(
  { group, anyOf = [{ group }] }: Pick<ApprovalRequirement, 'group' | 'anyOf'>,
  { groups, inPerson, isOwner, ...person }: VoterRights & PersonIdentity,
): boolean {
  return anyOf.some((one) => {
    if ('unknown' in one) return false;
    if ('person' in one) return inPerson && isNamedBy(person, one.person);
    return one.group === controlOwnerGroup ? inPerson && isOwner : groups.includes(one.group);
  });
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
  /** The person in whose place the vote was given; absent when it is the voter's own. */
  readonly standsInFor?: PersonIdentity;
  readonly digest: string;
  readonly rules: readonly ApprovedRule[];
  /** Why the vote no longer counts; null when it counts. */
  readonly invalidReason: string | null;
  /** What the person may answer for now; absent until the vote has been judged. */
  readonly voterRights?: VoterRights;
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

function isForGroup({ rules }: Pick<ScopedVote, 'rules'>, rule: ApprovalRule, groupText: string): boolean {
  const { id, group, condition } = approvedRule(rule, groupText);
  return rules.some((one) => one.id === id && one.group === group && one.condition === condition);
}

export interface ApprovalScope {
  readonly votes: readonly ScopedVote[];
  /** Digest of the request that is decided. */
  readonly digest: string;
  /** Whether a person is the control owner of the request's agent. */
  readonly isOwner: (person: PersonIdentity) => boolean;
  /** The request that is decided. */
  readonly names: NamingFields;
  /** What the decision asks, with the approvers that data name today. */
  readonly approvals?: readonly ApprovalRequirement[];
}

/** The last vote of each person, if it counts for this request; a person and their stand-in have one. */
function lastVotes({ votes, digest }: ApprovalScope): readonly ScopedVote[] {
  const last = new Map(votes.filter((vote) => vote.isApproved).map((vote) => [vote.person, vote]));
  const counting = [...last.values()].filter((vote) => vote.invalidReason === null && vote.digest === digest);
  return counting.filter((vote) => earlierVote(vote, counting) === null);
}

type PlacedVote = Pick<ScopedVote, 'person' | 'standsInFor'>;

/**
 * The vote that counts in place of a stand-in's: that of the person for whom it was given, or of a stand-in of theirs
 * who voted earlier. Null when the vote counts itself.
 */
export function earlierVote<Vote extends PlacedVote>(
  vote: PlacedVote,
  counting: readonly Vote[],
): Vote | null {
  const absent = vote.standsInFor?.id;
  if (absent === undefined) return null;
  const own = counting.find(({ person }) => person === absent);
  const first = counting.find(({ standsInFor }) => standsInFor?.id === absent);
  return own ?? (first === undefined || first.person === vote.person ? null : first);
}

/** Whether a vote may count for a group of a rule as both are today. */
function covers(vote: ScopedVote, rule: ApprovalRule, group: string, approved: ApprovalScope): boolean {
  if (!isForGroup(vote, rule, group)) return false;
  const person = { id: vote.person, email: vote.email };
  if (!mayApprove(rule, { ...person, standsInFor: vote.standsInFor }, approved)) return false;
  const approval = approved.approvals?.find((one) => one.group === group);
  if (rule.choices?.some(({ text }) => text === group) !== true) return true;
  return (
    approval !== undefined &&
    vote.voterRights !== undefined &&
    answers(approval, { ...vote.voterRights, ...person })
  );
}

/** Returns how many people of a group have approved for the rule as it is today, if all others count elsewhere. */
export function approvalsOf(rule: ApprovalRule, group: string, approved: ApprovalScope): number {
  return lastVotes(approved).filter((vote) => covers(vote, rule, group, approved)).length;
}

/** A person who approves, for themselves or in the place of another. */
export interface ApprovingPerson extends PersonIdentity {
  readonly standsInFor?: PersonIdentity | undefined;
}

/**
 * Whether an approval by a person of the rule's group counts for the rule. INVARIANT: a stand-in's approval counts only
 * if it would count for both people, and never for a request of the stand-in's own.
 */
export function mayApprove(
  rule: Pick<ApprovalRule, 'needs' | 'except'>,
  { standsInFor: absent, ...person }: ApprovingPerson,
  scope: Pick<ApprovalScope, 'isOwner' | 'names'>,
): boolean {
  if (absent === undefined) return isAccepted(rule, person, scope);
  return isAccepted(rule, person, scope) && isAccepted(rule, absent, scope) && !isOwnRequestOf(person, scope);
}

function isAccepted(
  { needs, except }: Pick<ApprovalRule, 'needs' | 'except'>,
  person: PersonIdentity,
  { isOwner, names }: Pick<ApprovalScope, 'isOwner' | 'names'>,
): boolean {
  return !(needs > 1 && isOwner(person)) && !isExcepted(except, names, person);
}

/** Whether the request is of the person's agent, or the agent asks for the person. */
export function isOwnRequestOf(
  person: PersonIdentity,
  { isOwner, names }: Pick<ApprovalScope, 'isOwner' | 'names'>,
): boolean {
  const { id, email } = names.request.user ?? {};
  return isOwner(person) || [id, email].some((text) => text !== undefined && isNamedBy(person, text));
}

/** Returns those of the rules for which enough people have approved. */
export function satisfiedRules(
  rules: readonly ApprovalRule[],
  approved: ApprovalScope,
): readonly ApprovalRule[] {
  return rulesMet(rules, lastVotes(approved), (vote, rule, group) => covers(vote, rule, group, approved));
}

/** Whether a vote may count for a group of a rule. */
type Covers<Vote> = (vote: Vote, rule: ApprovalRule, group: string) => boolean;

/**
 * Returns those of the rules for which there are enough votes; each person has one vote. A vote counts for one
 * group, which several rules may ask; a vote for several groups counts where people are missing.
 */
export function rulesMet<Vote extends { readonly person: string }>(
  rules: readonly ApprovalRule[],
  votes: readonly Vote[],
  counts: Covers<Vote>,
): readonly ApprovalRule[] {
  const groups = [...new Set(rules.flatMap((rule) => rule.groups))];
  const counted = votes.map((vote) => ({
    vote,
    groups: groups.filter((group) => rules.some((rule) => counts(vote, rule, group))),
  }));
  const fixed = counted.filter((one) => one.groups.length === 1);
  const flexible = counted.filter((one) => one.groups.length > 1);
  const countOf = (some: readonly CountedVote<Vote>[], rule: ApprovalRule, group: string): number =>
    some.filter((one) => one.groups.includes(group) && counts(one.vote, rule, group)).length;
  const placed = placeFlexible(flexible, rules, { counts, given: (...of) => countOf(fixed, ...of) });
  return rules.filter((rule) =>
    rule.groups.every((group) => {
      const own = flexible.filter(({ vote }) => placed.get(vote.person) === group);
      return countOf(fixed, rule, group) + countOf(own, rule, group) >= rule.needs;
    }),
  );
}

/** A vote with the groups of rules that it may count for. */
interface CountedVote<Vote> {
  readonly vote: Vote;
  readonly groups: readonly string[];
}

/** Returns the group that each person counts for whose vote is for several groups. */
function placeFlexible<Vote extends { readonly person: string }>(
  flexible: readonly CountedVote<Vote>[],
  rules: readonly ApprovalRule[],
  {
    counts,
    given,
  }: {
    readonly counts: Covers<Vote>;
    readonly given: (rule: ApprovalRule, group: string) => number;
  },
): ReadonlyMap<string, string> {
  if (flexible.length === 0) return new Map();
  const groups = [...new Set(rules.flatMap((rule) => rule.groups))];
  const lacking = (group: string): readonly ApprovalRule[] =>
    rules.filter((rule) => rule.groups.includes(group) && given(rule, group) < rule.needs);
  const needed = groups.map((group) => ({
    group,
    needs: Math.max(0, ...lacking(group).map((rule) => rule.needs - given(rule, group))),
  }));
  const people = flexible.map(({ vote, groups: own }) => ({
    person: vote.person,
    groups: own.filter((group) => lacking(group).every((rule) => counts(vote, rule, group))),
  }));
  return assignPeople(needed, people);
}

export function isSatisfied(rule: ApprovalRule, approved: ApprovalScope): boolean {
  return satisfiedRules([rule], approved).length > 0;
}
