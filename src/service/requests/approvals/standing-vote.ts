// What an approver may choose in place of approving once, and the choice as part of the vote. INVARIANT: a choice
// is never wider than the rule of now; without a choice an approval is for its request only.

import type { ApprovalRule } from '../../../language/model/rule-requirement.ts';
import type { StandingVote } from '../record/request-state.ts';
import type { RefusedChange, RequestChangeDeps, RequestSnapshot } from './change-request.ts';
import {
  hasStanding,
  keysOf,
  type StandingApproval,
  type StandingKey,
  type StandingRule,
  scopeDigest,
  standingCollection,
  standingId,
} from './standing-approval.ts';

/** What the approver asks for; null takes the most that the rule allows. */
export interface StandingChoice {
  readonly untilMs: number | null;
  readonly times: number | null;
}

/** The most that an approver may choose for a rule, on the request as it is. */
export interface StandingOffer {
  readonly rule: StandingRule;
  readonly keys: readonly StandingKey[];
}

/**
 * Returns what may be chosen for the rules; a rule with an unknown key is left out, and so is one whose fallback has
 * been asked: later requests ask the fallback only after a time.
 */
export function offersOf(
  rules: readonly ApprovalRule[],
  { state: { record, fallbacks } }: Pick<RequestSnapshot, 'state'>,
): readonly StandingOffer[] {
  const waitedSeconds = Math.max(0, ...fallbacks.map(({ afterSeconds }) => afterSeconds));
  const hasAskedFallback = ({ choices = [] }: ApprovalRule): boolean =>
    choices.some((choice) => choice.fallbacks?.some(({ afterSeconds }) => afterSeconds <= waitedSeconds));
  return rules.filter(hasStanding).flatMap((rule) => {
    if (hasAskedFallback(rule)) return [];
    const keys = keysOf(rule, record);
    return keys === null ? [] : [{ rule, keys }];
  });
}

/** Returns the choice for the rules that a vote is given for; a refusal when it would be wider than they allow. */
export function standingVote(
  { untilMs, times }: StandingChoice,
  offers: readonly StandingOffer[],
  { agent, nowMs }: Pick<RequestSnapshot, 'agent' | 'nowMs'>,
): StandingVote | RefusedChange {
  if (offers.length === 0)
    return {
      kind: 'conflict',
      detail: 'no rule that you approve allows a standing approval of this request',
    };
  const endMs = nowMs + Math.max(...offers.map(({ rule }) => rule.standing.seconds)) * 1000;
  if (untilMs !== null && untilMs <= nowMs) return { kind: 'conflict', detail: '`until` has passed' };
  if (untilMs !== null && untilMs > endMs)
    return { kind: 'conflict', detail: `\`until\` is ${new Date(endMs).toISOString()} at the latest` };
  const most = Math.max(...offers.map(({ rule }) => rule.standing.times ?? Number.POSITIVE_INFINITY));
  if (times !== null && times > most) return { kind: 'conflict', detail: `\`times\` is ${most} at most` };
  const rules = offers.map(({ rule: { rule, standing } }) => ({
    rule,
    per: standing.per,
    untilMs: Math.min(untilMs ?? endMs, nowMs + standing.seconds * 1000),
    times: fewer(times, standing.times),
  }));
  return { agentVersion: agent.version, rules };
}

/** Returns the smaller of two counts; null is no limit. */
export function fewer(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/**
 * Writes the documents of the chosen standing approvals, those that are not there yet. They cover nothing until
 * the votes are stored.
 */
export async function writeOffered(
  { store }: Pick<RequestChangeDeps, 'store'>,
  { state: { record }, nowMs }: Pick<RequestSnapshot, 'state' | 'nowMs'>,
  { standing, offers }: { readonly standing: StandingVote; readonly offers: readonly StandingOffer[] },
): Promise<void> {
  const collection = standingCollection(store.documents);
  for (const [at, { rule, keys }] of offers.entries()) {
    const { untilMs } = standing.rules[at]!;
    const approval: StandingApproval = {
      id: standingId(record.id, rule.rule),
      createdAtMs: nowMs,
      agentId: record.agentId,
      requestId: record.id,
      actionKey: record.actionKey,
      rule: rule.rule,
      per: keys,
      scope: scopeDigest(record.agentId, rule.rule, keys),
      untilMs,
      revoked: null,
    };
    // A conflict means that an earlier vote has written it.
    await store.documents.write([collection.put(approval, 0)], null);
  }
}
