// To what an approval is bound, and which rules a number of them satisfies. INVARIANT: an approval counts for the
// request whose digest it carries, for the rules that it names with their conditions as they were, and for no others;
// a person counts once.

import { hash } from 'node:crypto';
import type { ApprovalRule } from '../model/asked.ts';
import type { JsonObject } from '../model/json.ts';
import { canonicalJson } from '../store/canonical-json.ts';

/** A rule as it was when somebody approved. */
export interface BoundRule {
  readonly id: string;
  readonly group: string;
  /** SHA-256 of the condition's text. */
  readonly condition: string;
}

export interface BoundWord {
  readonly isApproved: boolean;
  readonly person: string;
  readonly email: string;
  readonly digest: string;
  readonly rules: readonly BoundRule[];
}

/** SHA-256, in hexadecimal, over the canonical text of who wants to do what; secrets are digests already. */
export function requestDigest({
  agentId: agent,
  actionKey: action,
  payload,
}: {
  readonly agentId: string;
  readonly actionKey: string;
  readonly payload: JsonObject;
}): string {
  return hash('sha256', canonicalJson({ agent, action, payload }));
}

export function bind({ rule: id, group, conditionDigest: condition }: ApprovalRule): BoundRule {
  return { id, group, condition };
}

/** Whether a word was given for the rule as it is today. */
export function isFor({ rules }: Pick<BoundWord, 'rules'>, rule: ApprovalRule): boolean {
  const { id, group, condition } = bind(rule);
  return rules.some((bound) => bound.id === id && bound.group === group && bound.condition === condition);
}

export interface Approved {
  readonly words: readonly BoundWord[];
  /** Of the request that is decided. */
  readonly digest: string;
  /** Whether a person is the control owner of the request's agent. */
  readonly isOwner: (person: { readonly id: string; readonly email: string }) => boolean;
}

/** How many people have approved for the rule as it is today: each by their last word. */
export function approvalsOf(rule: ApprovalRule, { words, digest, isOwner }: Approved): number {
  const last = new Map(words.filter((word) => word.isApproved).map((word) => [word.person, word]));
  return [...last.values()].filter(
    (word) =>
      word.digest === digest &&
      isFor(word, rule) &&
      !(rule.needs > 1 && isOwner({ id: word.person, email: word.email })),
  ).length;
}

export function isSatisfied(rule: ApprovalRule, approved: Approved): boolean {
  return approvalsOf(rule, approved) >= rule.needs;
}
