// A comparison whose right side is a constant, as the makers of atoms are given it.

import type { ComparisonOperator, Expression } from '../../language/model/expression.ts';
import { booleanType } from '../../language/model/type.ts';
import type { Value } from '../../language/model/value.ts';
import type { Elements } from './context.ts';

export interface Comparison {
  readonly operator: ComparisonOperator;
  readonly constant: Value;
  readonly elements: Elements;
}

export function comparisonCall(
  operator: ComparisonOperator,
  left: Expression,
  right: Expression,
): Expression {
  return { kind: 'compare', operator, left, right, type: booleanType, span: left.span };
}

export function literalNode(value: Value, { type, span }: Pick<Expression, 'type' | 'span'>): Expression {
  return { kind: 'literal', value, type, span };
}
