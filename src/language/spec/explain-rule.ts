// Explains a decision: each rule's condition as a tree, with the value of every part.

import { childrenOf } from '../model/children.ts';
import type { Expression } from '../model/expression.ts';
import type { Effect, PolicySet } from '../model/policy.ts';
import type { Facts } from '../model/request.ts';
import type { Explanation, Truth as TruthText } from '../model/trace.ts';
import type { unknown, Value } from '../model/value.ts';
import { judge } from './authorize.ts';
import { type EvaluationScope, evaluate } from './evaluate.ts';
import { readField } from './read-path.ts';
import { showValue } from './show.ts';

export interface ExplainedRule {
  readonly rule: string;
  readonly effect: Effect;
  readonly isShadow: boolean;
  readonly truth: TruthText;
  readonly explanation: Explanation;
}

/**
 * Explains every rule of the request's action, shadow rules included, in the order of their ids. The payload
 * must have the declared shape: any other payload is refused before a rule sees it.
 */
export function explain(set: PolicySet, facts: Facts): readonly ExplainedRule[] {
  const { scope } = judge(set, facts, (rule) => !rule.isShadow);
  return judge(set, facts, () => true).judged.map(({ rule }) => {
    const explanation = explainExpression(rule.condition, scope);
    return {
      rule: rule.id,
      effect: rule.effect,
      isShadow: rule.isShadow,
      truth: explanation.truth ?? 'unknown',
      explanation,
    };
  });
}

function explainExpression(expression: Expression, scope: EvaluationScope): Explanation {
  const value = evaluate(expression, scope);
  return {
    span: expression.span,
    value: shownValue(expression, value, scope),
    truth: expression.type.kind === 'boolean' ? truthText(value) : null,
    isJoined: expression.kind === 'and' || expression.kind === 'or',
    parts: partsOf(expression, scope)
      .filter((part) => part.kind !== 'literal')
      .map((part) => explainExpression(part, scope)),
  };
}

function truthText(value: Value | typeof unknown): TruthText {
  return value === true ? 'true' : value === false ? 'false' : 'unknown';
}

function shownValue(expression: Expression, value: Value | typeof unknown, scope: EvaluationScope): string {
  if (expression.kind !== 'field') return showValue(expression.type, value);
  if (expression.isSecret) return 'secret';
  return readField(expression, scope) === undefined ? 'absent' : showValue(expression.type, value);
}

/**
 * Returns the parts that are shown below an expression. The body of a quantifier is left out, because it has
 * no value outside of its elements.
 */
function partsOf(expression: Expression, scope: EvaluationScope): readonly Expression[] {
  switch (expression.kind) {
    case 'quantify':
      return expression.sources;
    case 'is-null':
    case 'has':
      return [];
    case 'let': {
      const declared = scope.set.lets.get(expression.id);
      return declared === undefined ? [] : [declared.expression];
    }
    case 'or': {
      // The tests for the texts of a list are written as one test, and shown as one.
      const { start, end } = expression.span;
      const isOne = expression.operands.every(({ span }) => span.start === start && span.end === end);
      return isOne ? partsOf(expression.operands[0]!, scope) : childrenOf(expression);
    }
    default:
      return childrenOf(expression);
  }
}
