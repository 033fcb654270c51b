// Types comparisons: `==` and `!=` between values of one family, the order of quantities and money, tests for
// null, and risk against constants.

import type { ComparisonOperator, Expression, FactName } from '../../model/expression.ts';
import { booleanType, quantity } from '../../model/type.ts';
import { unknown } from '../../model/value.ts';
import type { BinaryExpression, ExpressionNode as Tree } from '../../syntax/tree/tree.ts';
import { constantValue } from '../logic/constants.ts';
import {
  areComparable,
  areDisjoint,
  areSpeltAlike,
  isComparable,
  isNumeric,
  isOrdered,
} from '../logic/type-relations.ts';
import { operandsDiffer, spellingsDiffer } from '../messages/operand-errors.ts';
import { nullOrdered } from '../messages/path-errors.ts';
import {
  daysAddedToDate,
  enumerationsDisjoint,
  equalityUnfit,
  orderingUnfit,
  outsideEnumeration,
  riskComparisonUnfit,
} from '../messages/type-errors.ts';
import { adapt } from './adapt.ts';
import { type Context, type Inference, inferValue, plainType } from './context.ts';
import { letsOf } from './lets.ts';
import { inferNullTest } from './presence.ts';

export function inferComparison(
  node: BinaryExpression,
  operator: ComparisonOperator,
  ctx: Context,
): Inference {
  const isEquality = operator === '==' || operator === '!=';
  const nullSide = node.right.kind === 'null' ? node.right : node.left.kind === 'null' ? node.left : null;
  if (nullSide !== null) {
    if (isEquality) return inferNullTest(node, nullSide === node.right ? node.left : node.right, ctx);
    ctx.env.report(nullOrdered(node));
    return plainType(null);
  }
  if (isRisk(node.left, ctx) || isRisk(node.right, ctx)) return plainType(inferRiskTest(node, operator, ctx));
  if (isWithDaysAdded(node, ctx)) return plainType(null);
  const left = inferValue(node.left, ctx);
  // A clock time beside an operand in error is not reported as well.
  const right = left === null && node.right.kind === 'clock' ? null : inferValue(node.right, ctx);
  if (left === null || right === null) return plainType(null);
  return plainType(compareValues(node, operator, [left, right], ctx));
}

/** Whether a date is compared with a date and days added to it, which is reported. */
function isWithDaysAdded(node: BinaryExpression, ctx: Context): boolean {
  const added = [node.left, node.right].find(addsDuration);
  if (added === undefined) return false;
  const other = added === node.left ? node.right : node.left;
  const quiet = { ...ctx, env: { ...ctx.env, report: () => {} } };
  const areDates = [added.left, other].every((side) => inferValue(side, quiet)?.type.kind === 'date');
  if (areDates) ctx.env.report(daysAddedToDate(node, added));
  return areDates;
}

function addsDuration(node: Tree): node is BinaryExpression {
  const isSum = node.kind === 'binary' && (node.operator === '+' || node.operator === '-');
  return isSum && node.right.kind === 'duration';
}

function compareValues(
  node: BinaryExpression,
  operator: ComparisonOperator,
  operands: readonly [Expression, Expression],
  ctx: Context,
): Expression | null {
  const left = adapt(operands[0], operands[1].type, ctx.env);
  const right = adapt(operands[1], operands[0].type, ctx.env);
  if (left === null || right === null) return null;
  const isEquality = operator === '==' || operator === '!=';
  const unfit = [left, right].find((side) => !isComparable(side.type));
  if (unfit !== undefined) ctx.env.report(equalityUnfit(unfit.span, unfit.type));
  else if (!areComparable(left.type, right.type)) ctx.env.report(operandsDiffer(node, left.type, right.type));
  else if (!isEquality && !isOrdered(left.type)) ctx.env.report(orderingUnfit(node, left, right));
  else if (!areSpeltAlike(left.type, right.type))
    ctx.env.report(spellingsDiffer(node.span, left.type, right.type, freeTextFact(left, right)));
  else if (!sharesValues(left, right, ctx)) return null;
  else return { kind: 'compare', operator, left, right, type: booleanType, span: node.span };
  return null;
}

/** The side that is a fact of free text, if there is one. */
function freeTextFact(...sides: readonly Expression[]): FactName | undefined {
  const fact = sides.find(
    ({ kind, type }) => kind === 'fact' && type.kind === 'text' && type.of === 'string',
  );
  return fact?.kind === 'fact' ? fact.fact : undefined;
}

/**
 * Whether the two sides can be equal: enumerations need a value in common. Reports sides that never are; a
 * literal outside the enumeration is a misspelling.
 */
export function sharesValues(left: Expression, right: Expression, ctx: Context): boolean {
  if (!areDisjoint(left.type, right.type)) return true;
  if (right.kind === 'literal') ctx.env.report(outsideEnumeration(right, left.type));
  else if (left.kind === 'literal') ctx.env.report(outsideEnumeration(left, right.type));
  else ctx.env.report(enumerationsDisjoint(left, right));
  return false;
}

function isRisk(node: Tree, ctx: Context): boolean {
  return node.kind === 'path' && node.root.text === 'risk' && node.steps.length === 0 && !ctx.inMeter;
}

/** Types `risk >= 60` and its mirror image `60 <= risk`; the constant becomes a literal. */
function inferRiskTest(
  node: BinaryExpression,
  operator: ComparisonOperator,
  ctx: Context,
): Expression | null {
  const riskIsLeft = isRisk(node.left, ctx);
  const other = riskIsLeft ? node.right : node.left;
  if (isRisk(other, ctx) || operator === '==' || operator === '!=') {
    ctx.env.report(riskComparisonUnfit(node));
    return null;
  }
  const bound = inferValue(other, ctx);
  if (bound === null) return null;
  const value = constantValue(bound, letsOf(ctx.env));
  if (value === null || value === unknown || !isNumeric(bound.type)) {
    ctx.env.report(riskComparisonUnfit(node));
    return null;
  }
  const risk: Expression = {
    kind: 'risk',
    type: quantity('integer'),
    span: (riskIsLeft ? node.left : node.right).span,
  };
  const constant: Expression = { kind: 'literal', value, type: bound.type, span: bound.span };
  const [left, right] = riskIsLeft ? [risk, constant] : [constant, risk];
  return { kind: 'compare', operator, left, right, type: booleanType, span: node.span };
}
