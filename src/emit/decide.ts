// One action's compiled functions at work: facts in, a decision out. INVARIANT: evaluation is synchronous and leaves
// nothing behind, so that the arrays it works in can be used again for the next request.

import type { Decision, Requirements } from '../model/decision.ts';
import { defaultDenyReason } from '../model/decision.ts';
import type { Facts } from '../model/request.ts';
import type { ActionProgram } from '../program/program.ts';
import { type Ballot, firing, requirements, riskOf, type Verdict, validity, weigh } from './combine.ts';
import { between, type Quantity } from './quantity.ts';

/** What generated functions work on: a truth a rule, a value a let, the risk so far. */
interface State {
  readonly truths: Uint8Array;
  readonly lets: unknown[];
  risk: Quantity;
}

/** The functions that the text of an action makes. */
export interface ActionCode {
  readonly early: (facts: Facts, state: State) => void;
  readonly late: (facts: Facts, state: State) => void;
  /** Of the rules whose reasons show values, by index. */
  readonly reasons: readonly (readonly [number, ReasonCode])[];
}

type ReasonCode = (facts: Facts, state: State) => string;

/** An action that is ready to decide. */
export interface Decider {
  decide(facts: Facts): Decision;
  /** The truth of each rule, 0, 1 or 2, by index; valid until the next call. */
  evaluate(facts: Facts): Ballot;
  /** The risk that the last evaluation came to. */
  risk(): Quantity;
}

/** The decider of an action's program and of the functions made from it. */
export function createDecider(program: ActionProgram, code: ActionCode): Decider {
  const { rules } = program;
  const state: State = {
    truths: new Uint8Array(rules.length),
    lets: program.lets.map(() => null),
    risk: 0,
  };
  const hasLets = program.lets.length > 0;
  const hasShadow = rules.some((rule) => rule.isShadow);
  const late = rules.flatMap((rule, at) => (rule.readsRisk ? [at] : []));
  const fixedReasons: (string | null)[] = rules.map((rule) => rule.reason.join(''));
  for (const [at] of code.reasons) fixedReasons[at] = null;
  const reasons = new Map(code.reasons);

  const evaluate = (facts: Facts): Ballot => {
    if (hasLets) state.lets.fill(null);
    code.early(facts, state);
    const ballot = { rules, truths: state.truths, satisfied: facts.satisfied, withShadow: false };
    if (late.length > 0) evaluateLate(facts, ballot);
    return ballot;
  };

  const evaluateLate = (facts: Facts, ballot: Ballot): void => {
    // Rules that read risk add nothing to it, so whatever their places hold does not count.
    for (const at of late) state.truths[at] = 0;
    const { low, high } = riskOf(ballot);
    state.risk = between(low, high)!;
    state.lets.fill(null);
    code.late(facts, state);
  };

  const reasonOf = (by: number, facts: Facts): string => {
    if (by < 0) return defaultDenyReason;
    return fixedReasons[by] ?? reasons.get(by)!(facts, state);
  };

  /** With shadow rules enforced their points count too, so the rules that read risk have to be asked again. */
  const shadowOutcome = (facts: Facts, ballot: Ballot, verdict: Verdict): Decision['outcome'] => {
    if (!hasShadow) return verdict.outcome;
    const enforced = { ...ballot, withShadow: true };
    if (late.length > 0) evaluateLate(facts, enforced);
    return weigh(enforced).outcome;
  };

  const decide = (facts: Facts): Decision => {
    const ballot = evaluate(facts);
    const verdict = weigh(ballot);
    const { outcome, by, granting } = verdict;
    const risk = riskOf(ballot);
    if (late.length === 0) state.risk = between(risk.low, risk.high)!;
    return {
      outcome,
      by: by < 0 ? 'default_deny' : rules[by]!.id,
      matchedPolicy: by < 0 ? 'default_deny' : rules[by]!.policy,
      reason: reasonOf(by, facts),
      risk,
      validForSeconds: outcome === 'ALLOW' ? validity(ballot) : null,
      requires: requiredBy(outcome, ballot, granting),
      rules: firing(ballot),
      withShadow: shadowOutcome(facts, ballot, verdict),
    };
  };

  return { decide, evaluate, risk: () => state.risk };
}

function requiredBy(outcome: Decision['outcome'], ballot: Ballot, granting: number): Requirements | null {
  return outcome === 'ESCALATE' || outcome === 'REAUTH_REQUIRED' ? requirements(ballot, granting) : null;
}
