// What evaluated rules come to: facts and the truths of rules in, a decision out. INVARIANT: evaluation is synchronous
// and leaves nothing behind, so that the arrays it works in can be used again for the next request.

import type { Decision, Requirements } from '../../model/decision.ts';
import { defaultDenyReason } from '../../model/decision.ts';
import { type Facts, nothingSatisfied, type Satisfied } from '../../model/request.ts';
import type { RuleHead } from '../../program/program.ts';
import { between, type Kleene, type RuntimeQuantity } from '../runtime/quantity.ts';
import { isFixed } from '../runtime/show.ts';
import type { RuleCode, State } from '../runtime/state.ts';
import { type Ballot, firing, requirements, riskOf, validity, weigh } from './combine.ts';

/** An action that is ready to decide. */
export interface Decider {
  decide(facts: Facts): Decision;
  /** The same decision, with every rule evaluated. */
  decideAll(facts: Facts): DecidedAll;
  /** The places of the rules that `decide` tries, each once, in no order. */
  tried(facts: Facts): readonly number[];
}

/** A decision with the rules that may have taken part in it. */
export interface DecidedSome {
  readonly decision: Decision;
  /** The first `count` are rules that are not false, in no order: three times the place, and the truth. Valid until the next call. */
  readonly firing: Int32Array;
  readonly count: number;
  readonly risk: RuntimeQuantity;
}

export type DecideSome = (facts: Facts) => DecidedSome;

/** A decision with what every rule came to. */
export interface DecidedAll {
  readonly decision: Decision;
  /** By place; valid until the next call. */
  readonly truths: ArrayLike<Kleene>;
  readonly risk: RuntimeQuantity;
}

/**
 * The truths of rules that stand one after the other in a frame from `base` on, as ternary digits, the first one lowest. In
 * a layout the entry before the constants says where the next ones begin, the entry before that is the function.
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

/** Functions in a layout, one after the other. */
export interface Frame {
  readonly base: number;
  readonly count: number;
}

/** The risk so far, for the rules that read it. */
export function riskQuantity(ballot: Ballot): RuntimeQuantity {
  const { low, high } = riskOf(ballot);
  return between(low, high)!;
}

/** A decision whose reason is still to be made where it shows values. */
export interface Settled {
  readonly decision: Decision;
  readonly risk: RuntimeQuantity;
  /** The deciding rule, if its reason shows values. */
  readonly shows: RuleHead | null;
}

/**
 * The decision that the truths come to; a pure function of them and of what is satisfied. `enforceShadow`, null where
 * there are no shadow rules, gives the truths with these enforced; it is asked last, as it may work in the same arrays.
 */
export function settle(ballot: Ballot, enforceShadow: (() => Ballot) | null): Settled {
  const { outcome, by, granting } = weigh(ballot);
  const rule = by < 0 ? null : ballot.rules[by]!;
  const risk = riskOf(ballot);
  const shows = rule !== null && !isFixed(rule) ? rule : null;
  const decision: Decision = {
    outcome,
    by: rule === null ? 'default_deny' : rule.id,
    matchedPolicy: rule === null ? 'default_deny' : rule.policy,
    reason: reasonText(rule),
    risk,
    validForSeconds: outcome === 'ALLOW' ? validity(ballot) : null,
    requires: requiredBy(outcome, ballot, granting),
    rules: firing(ballot),
    withShadow: enforceShadow === null ? outcome : weigh(enforceShadow()).outcome,
  };
  return { decision, risk: between(risk.low, risk.high)!, shows };
}

/** Whether no requirement has been met, so that the truths alone decide. */
export function isNothing(satisfied: Satisfied): boolean {
  return satisfied === nothingSatisfied || (satisfied.escalate.length === 0 && satisfied.reauth.length === 0);
}

/** A settled decision that many requests share: nobody can change it. */
export function freeze(settled: Settled): Settled {
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

function requiredBy(outcome: Decision['outcome'], ballot: Ballot, granting: number): Requirements | null {
  return outcome === 'ESCALATE' || outcome === 'REAUTH_REQUIRED' ? requirements(ballot, granting) : null;
}
