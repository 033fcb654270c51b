// The fast twin of `authorizeDelegated`: a decision by the policies and one by the guards of a chain become
// the decision by both. INVARIANT: when no guard is in the way, the decision of the policies is returned as it
// is; otherwise the outcome is DENY.

import type { Decision } from '../model/decision.ts';
import { isRefusedByGate } from '../model/decision.ts';
import { delegationPolicy, linkRuleId, outsideReason } from '../model/delegation.ts';
import type { FormRule, Trace, TracedDecision, TraceForm } from '../model/trace.ts';

/** The guards of a chain, evaluated for one request: one letter of a trace for each link, in order. */
export interface EvaluatedGuards {
  readonly names: readonly string[];
  readonly trace: Trace;
}

/** Combines the decision of the policies with the guards of a chain. */
export function underGuards(parent: TracedDecision, guards: EvaluatedGuards): TracedDecision {
  if (isRefusedByGate(parent.decision)) return parent;
  const { truths } = guards.trace;
  const isPassed = !truths.includes('t') && !truths.includes('u');
  const decision = isPassed ? parent.decision : refused(parent, guards);
  return { ...parent, decision, trace: joined(parent.trace, guards.trace) };
}

function refused(
  { decision, trace }: TracedDecision,
  { names, trace: { truths } }: EvaluatedGuards,
): Decision {
  const places = [...names.keys()].filter((place) => truths[place] !== 'f');
  const ids = places.map(linkRuleId);
  const denied: Decision = {
    ...decision,
    outcome: 'DENY',
    validForSeconds: null,
    requires: null,
    rules: [...decision.rules, ...ids].sort(),
    withShadow: 'DENY',
  };
  const place = places.find((one) => truths[one] === 't') ?? places[0]!;
  const isDecider = isBefore({ id: linkRuleId(place), isTrue: truths[place] === 't' }, decision, trace);
  if (!isDecider) return denied;
  const reason = outsideReason(names[place]!);
  return { ...denied, by: linkRuleId(place), matchedPolicy: delegationPolicy, reason };
}

interface Guard {
  readonly id: string;
  readonly isTrue: boolean;
}

/**
 * Whether the guard decides before the rule that decided without it: definite before unknown, then the most
 * points, of which a guard has none, then the smallest id.
 */
function isBefore({ id, isTrue }: Guard, { outcome, by }: Decision, { form, truths }: Trace): boolean {
  if (outcome !== 'DENY') return true;
  // No `allow` is true, so only a guard that is true decides.
  if (by === 'default_deny') return isTrue;
  const at = form.rules.findIndex(([rule]) => rule === by);
  const [, , points] = form.rules[at]!;
  const isOtherTrue = truths[at]?.toLowerCase() === 't';
  if (isTrue !== isOtherTrue) return isTrue;
  return points === 0 ? id < by : points < 0;
}

/** Appends the rules and values of the guards to those of the policies. */
function joined(parent: Trace, guards: Trace): Trace {
  return {
    form: joinedForm(parent.form, guards.form),
    truths: parent.truths + guards.truths,
    values: guards.values.length === 0 ? parent.values : [...parent.values, ...guards.values],
  };
}

/** Joined forms, by the form of the guards and then by that of the policies: many requests share them. */
const forms = new WeakMap<TraceForm, WeakMap<TraceForm, TraceForm>>();

function joinedForm(parent: TraceForm, guards: TraceForm): TraceForm {
  const ofGuards = forms.get(guards) ?? new WeakMap<TraceForm, TraceForm>();
  forms.set(guards, ofGuards);
  const before = ofGuards.get(parent);
  if (before !== undefined) return before;
  const offset = parent.paths.length;
  const moved = guards.rules.map(
    ([rule, effect, points, reads]): FormRule => [rule, effect, points, reads.map((at) => at + offset)],
  );
  const form = { ...parent, rules: [...parent.rules, ...moved], paths: [...parent.paths, ...guards.paths] };
  ofGuards.set(parent, form);
  return form;
}
