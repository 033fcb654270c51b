// Types arithmetic on numbers, money, durations and times: each pair of operand types yields one type.

import type { Expression } from '../../model/expression.ts';
import { quantity, type Type } from '../../model/type.ts';
import type { Money } from '../../model/value.ts';
import type { BinaryExpression, MonthsLiteral, UnaryExpression } from '../../syntax/tree/tree.ts';
import { type Decimal, fromNumber, isInteger, toNumber } from '../../value/decimal.ts';
import { negateScalar } from '../logic/constants.ts';
import { decimalOf, moneyType } from '../logic/literals.ts';
import { isNumeric } from '../logic/type-relations.ts';
import { arithmeticUnfit, negationUnfit } from '../messages/type-errors.ts';
import { monthsInvalid, monthsWithoutDate } from '../messages/value-errors.ts';
import { type Context, inferValue } from './context.ts';

type Operator = '+' | '-' | '*' | '/';

export function inferArithmetic(node: BinaryExpression, operator: Operator, ctx: Context): Expression | null {
  if (node.right.kind === 'months' && (operator === '+' || operator === '-'))
    return inferMonthsLater(node, node.right, ctx);
  const left = inferValue(node.left, ctx);
  const right = inferValue(node.right, ctx);
  if (left === null || right === null) return null;
  const type = resultType(operator, left.type, right.type);
  if (type === null) {
    ctx.env.report(arithmeticUnfit(node, left.type, right.type));
    return null;
  }
  return { kind: 'arithmetic', operator, left, right, type, span: node.span };
}

/** Types `date + 18 years` and `date - 6 months`. */
function inferMonthsLater(node: BinaryExpression, span: MonthsLiteral, ctx: Context): Expression | null {
  const date = inferValue(node.left, ctx);
  const months = readMonths(span);
  if (months === null) ctx.env.report(monthsInvalid(span));
  if (date !== null && date.type.kind !== 'date') ctx.env.report(monthsWithoutDate(span, date.type));
  if (months === null || date === null || date.type.kind !== 'date') return null;
  const value = fromNumber(node.operator === '-' ? -months : months);
  const later: Expression = { kind: 'literal', value, type: quantity('integer'), span: span.span };
  return {
    kind: 'call',
    builtin: 'months_later',
    args: [date, later],
    type: quantity('date'),
    span: node.span,
  };
}

const monthsMax = 12 * 9_999;

function readMonths({ text }: MonthsLiteral): number | null {
  const [count = '', unit = ''] = text.split(' ');
  const value = decimalOf(count);
  if (value === null || !isInteger(value)) return null;
  const months = toNumber(value) * (unit.startsWith('year') ? 12 : 1);
  return months <= monthsMax ? months : null;
}

function resultType(operator: Operator, left: Type, right: Type): Type | null {
  if (isNumeric(left) && isNumeric(right)) {
    const isWhole = left.kind === 'integer' && right.kind === 'integer' && operator !== '/';
    return quantity(isWhole ? 'integer' : 'number');
  }
  switch (operator) {
    case '+':
      return sumType(left, right);
    case '-':
      return differenceType(left, right);
    case '*':
      return isNumeric(right) ? scaledType(left) : isNumeric(left) ? scaledType(right) : null;
    case '/':
      if (left.kind === 'money' && right.kind === 'money') return quantity('number');
      return isNumeric(right) ? scaledType(left) : null;
  }
}

function sumType(left: Type, right: Type): Type | null {
  if (left.kind === 'money' && right.kind === 'money') return moneyType;
  if (right.kind !== 'duration') return null;
  return left.kind === 'timestamp' || left.kind === 'duration' ? quantity(left.kind) : null;
}

function differenceType(left: Type, right: Type): Type | null {
  const isTime = left.kind === 'date' || left.kind === 'timestamp' || left.kind === 'datetime';
  if (isTime && left.kind === right.kind) return quantity('duration');
  return sumType(left, right);
}

function scaledType(type: Type): Type | null {
  return type.kind === 'money' ? moneyType : type.kind === 'duration' ? quantity('duration') : null;
}

/** Types `-x`; a negated literal becomes a literal. */
export function inferNegation(node: UnaryExpression, ctx: Context): Expression | null {
  const operand = inferValue(node.operand, ctx);
  if (operand === null) return null;
  if (!isNumeric(operand.type) && scaledType(operand.type) === null) {
    ctx.env.report(negationUnfit(operand));
    return null;
  }
  const type = isNumeric(operand.type)
    ? quantity(operand.type.kind as 'number' | 'integer')
    : scaledType(operand.type)!;
  if (operand.kind !== 'literal') return { kind: 'negate', operand, type, span: node.span };
  const value = negateScalar(operand.value as Decimal | Money);
  return { kind: 'literal', value, type, span: node.span };
}
