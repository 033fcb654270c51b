// Finds what a decision missed narrowly: the rules of which only a single part was not true.

import type { Expression } from '../../language/model/expression.ts';
import type { Effect, PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { unknown } from '../../language/model/value.ts';
import { judge } from '../../language/spec/authorize.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import { expressionText } from './change-wording.ts';

export interface NearRule {
  /** The id of the rule. */
  readonly rule: string;
  readonly effect: Effect;
  /** The part of the rule's condition that is not true, as the language writes it. */
  readonly missing: string;
  readonly isUnknown: boolean;
}

/**
 * Enforced rules of which all parts but one hold, `allow` rules first. Guards with a single part are left
 * out, since they are near every request. The payload must have the declared shape.
 */
export function nearRules(set: PolicySet, facts: Facts): readonly NearRule[] {
  const { judged, scope } = judge(set, facts, (rule) => !rule.isShadow);
  const near = judged.flatMap(({ rule: { id, effect, condition } }): readonly NearRule[] => {
    const conjuncts = conjunctsOf(set, condition);
    const failing = conjuncts
      .map((part) => ({ part, truth: evaluateCondition(part, scope) }))
      .filter(({ truth }) => truth !== true);
    const [one] = failing;
    if (one === undefined || failing.length > 1) return [];
    if (effect !== 'allow' && conjuncts.length === 1) return [];
    const missing = expressionText(set, one.part);
    return [{ rule: id, effect, missing, isUnknown: one.truth === unknown }];
  });
  return near.toSorted((a, b) => Number(a.effect !== 'allow') - Number(b.effect !== 'allow'));
}

function conjunctsOf(set: PolicySet, condition: Expression): readonly Expression[] {
  if (condition.kind === 'and') return condition.operands.flatMap((operand) => conjunctsOf(set, operand));
  return [condition];
}
