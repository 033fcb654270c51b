// Turns facts and the truths of evaluated rules into a decision. INVARIANT: evaluation is synchronous and
// leaves nothing behind, so its working arrays can be used again for the next request.

import {
  type Decision,
  defaultDenyReason,
  type Requirements,
  type ResolvedApprover,
  resolvedApprover,
} from '../../model/decision.ts';
import type { Approver, Choice, NamedApprover } from '../../model/policy.ts';
import { type Facts, type MetRequirements, nothingSatisfied } from '../../model/request.ts';
import type { RuleHead, Term } from '../../program/program.ts';
import { between, type Kleene, type RuntimeQuantity } from '../runtime/quantity.ts';
import { isFixed } from '../runtime/show.ts';
import type { ApproverCode, ReasonCode, RuleCode, State } from '../runtime/state.ts';
import { askedChoices, firing, type RuleTruths, requirements, riskOf, validity, weigh } from './combine.ts';

/** An action that is ready to decide requests. */
export interface Decider {
  decide(facts: Facts): Decision;
  /** Makes the same decision, but evaluates every rule. */
  decideAll(facts: Facts): DecidedAll;
  /** Returns the places of the rules that `decide` tries, each once, in no order. */
  tried(facts: Facts): readonly number[];
}

/** A decision, with the rules that may have taken part in it. */
export interface DecidedSome {
  readonly decision: Decision;
  /**
   * The rules that are not false, in no order, in the first `count` entries. An entry is three times the
   * rule's place plus its truth. Valid until the next call.
   */
  readonly firing: Int32Array;
  readonly count: number;
  readonly risk: RuntimeQuantity;
}

export type DecideSome = (facts: Facts) => DecidedSome;

/** A decision, with the truth of every rule. */
export interface DecidedAll {
  readonly decision: Decision;
  /** The truths, by the place of their rule. Valid until the next call. */
  readonly truths: ArrayLike<Kleene>;
  readonly risk: RuntimeQuantity;
}

/**
 * Evaluates rules that follow one another in a layout, from `base` on, and returns their truths as ternary
 * digits, the first one lowest. In a layout, the entry before a rule's constants is the start of the next
 * rule's constants, and the entry before that is the rule's function.
 */
export function digitsOf(
  layout: readonly unknown[],
  { base, count }: Frame,
  facts: Facts,
  state: State,
): number {
  let at = base;
  let key = 0;
  let weight = 1;
  for (let left = count; left > 0; left -= 1) {
    key += weight * (layout[at - 2] as RuleCode<number>)(facts, state, layout, at);
    weight *= 3;
    at = layout[at - 1] as number;
  }
  return key;
}

/**
 * A run of consecutive rules in a layout: where the constants of the first one begin, and how many rules
 * there are.
 */
export interface Frame {
  readonly base: number;
  readonly count: number;
}

/** The risk so far, for the rules that read it. */
export function riskQuantity(ballot: RuleTruths): RuntimeQuantity {
  const { low, high } = riskOf(ballot);
  return between(low, high)!;
}

/** A decision whose reason is complete, unless the reason shows values. */
export interface FinalDecision {
  readonly decision: Decision;
  readonly risk: RuntimeQuantity;
  /** The deciding rule when its reason shows values, otherwise null. */
  readonly shows: RuleHead | null;
  /** The choices that the decision asks; null when it asks none. */
  readonly asks: readonly Choice<Term>[] | null;
}

/** Functions for what a decision shows of its request. */
export interface DisplayCode {
  /** Returns the function that makes the reason of a rule, for a reason that shows values. */
  readonly reason: (rule: RuleHead) => ReasonCode;
  /** Returns the function that reads the name of an approver, and why there is none. */
  readonly approver: (approver: NamedApprover<Term>) => ApproverCode;
}

/** The decision with the values that its reason shows, and with those whom its choices name. */
export function withValues(
  { decision, shows, asks }: FinalDecision,
  { code, facts, state }: { readonly code: DisplayCode; readonly facts: Facts; readonly state: State },
): Decision {
  const reason = shows === null ? decision.reason : code.reason(shows)(facts, state);
  if (asks === null || decision.requires === null) return { ...decision, reason };
  const nameOf = (approver: NamedApprover<Term>): ResolvedApprover => {
    const [value, missing] = code.approver(approver)(facts, state);
    return resolvedApprover(approver, value, () => missing);
  };
  const approvals = decision.requires.approvals.map((approval) => {
    const choice = asks.find(({ text }) => text === approval.group);
    if (choice === undefined) return approval;
    const named = (approvers: readonly Approver<Term>[]): readonly ResolvedApprover[] =>
      approvers.map((one) => (one.kind === 'group' ? { group: one.group } : nameOf(one)));
    const anyOf = named(choice.anyOf);
    const { fallbacks: timed, ...rest } = approval;
    if (timed === undefined) return { ...approval, anyOf };
    const fallbacks = timed.map(({ afterSeconds }, at) => ({
      afterSeconds,
      anyOf: named(choice.fallbacks?.[at]?.anyOf ?? []),
    }));
    // In the order of the definition, which comparisons of texts rely on.
    return { ...rest, anyOf, fallbacks };
  });
  return { ...decision, reason, requires: { ...decision.requires, approvals } };
}

/**
 * Makes the decision that follows from the truths; a pure function of the truths and of what is satisfied.
 * `enforceShadow` returns the ballot with shadow rules enforced; null when there are none. It is called last,
 * because it may write into the same arrays.
 */
export function settle(ballot: RuleTruths, enforceShadow: (() => RuleTruths) | null): FinalDecision {
  const { outcome, by, granting } = weigh(ballot);
  const rule = by < 0 ? null : ballot.rules[by]!;
  const risk = riskOf(ballot);
  const shows = rule !== null && !isFixed(rule) ? rule : null;
  const requires = requiredBy(outcome, ballot, granting);
  const asks = requires === null ? null : askedChoices(ballot, granting);
  const decision: Decision = {
    outcome,
    by: rule === null ? 'default_deny' : rule.id,
    matchedPolicy: rule === null ? 'default_deny' : rule.policy,
    reason: reasonText(rule),
    risk,
    validForSeconds: outcome === 'ALLOW' ? validity(ballot) : null,
    requires,
    rules: firing(ballot),
    withShadow: enforceShadow === null ? outcome : weigh(enforceShadow()).outcome,
  };
  return { decision, risk: between(risk.low, risk.high)!, shows, asks };
}

/** Whether no requirement has been met, so that the truths alone decide. */
export function isNothing(satisfied: MetRequirements): boolean {
  return satisfied === nothingSatisfied || (satisfied.escalate.length === 0 && satisfied.reauth.length === 0);
}

/** Freezes a settled decision, because many requests share it. */
export function freeze(settled: FinalDecision): FinalDecision {
  const { decision } = settled;
  Object.freeze(decision.risk);
  Object.freeze(decision.rules);
  if (decision.requires !== null) {
    for (const approval of decision.requires.approvals) Object.freeze(approval);
    Object.freeze(decision.requires.approvals);
    Object.freeze(decision.requires.reauth);
    Object.freeze(decision.requires);
  }
  Object.freeze(decision);
  return settled;
}

function reasonText(rule: RuleHead | null): string {
  if (rule === null) return defaultDenyReason;
  return rule.reason.length === 1 ? String(rule.reason[0]) : rule.reason.join('');
}

function requiredBy(outcome: Decision['outcome'], ballot: RuleTruths, granting: number): Requirements | null {
  return outcome === 'ESCALATE' || outcome === 'REAUTH_REQUIRED' ? requirements(ballot, granting) : null;
}
