// Finds literals that are used as conditions after a comparison, as in `payload.x == "a" or "b"`, which does
// not mean what it seems to. Reports them with `in` or `any of` as the fix, and puts `missing` nodes in their
// place.

import { spanning } from '../../diagnostic/span.ts';
import { printExpression } from '../print/expression.ts';
import type { BinaryExpression, ExpressionNode } from '../tree/tree.ts';
import { isLiteral } from '../tree/visit.ts';
import { type Reader, syntaxError, withFix } from './context.ts';
import type { Operand } from './operators.ts';

/** The operands of one chain of operators; bare literals in a condition are replaced by missing nodes. */
export function replaceBareValues(
  operands: readonly Operand[],
  operator: string | undefined,
  reader: Reader,
): readonly Operand[] {
  if (operator !== 'or' && operator !== 'and') return operands;
  if (!operands.some(({ value }) => isBareValue(value) || isOfValues(value))) return operands;
  const kept: Operand[] = [];
  for (let index = 0; index < operands.length; index++) {
    const { value, extent } = operands[index]!;
    const next = operands[index + 1];
    if (operator === 'or' && value.kind === 'path' && next !== undefined && isOfValues(next.value)) {
      reportFallback(operands[index]!, next.value, reader);
      kept.push(asMissing(operands[index]!), asMissing(next));
      index++;
      continue;
    }
    kept.push({ value, extent });
    const comparison = lastComparison(value, operator);
    const values = comparison === null ? [] : bareValuesFrom(operands, index + 1);
    if (comparison === null || values.length === 0) continue;
    reportValues(comparison, values, operator, reader);
    kept.push(...values.map(asMissing));
    index += values.length;
  }
  return kept;
}

function asMissing({ extent }: Operand): Operand {
  return { value: { kind: 'missing', span: { ...extent, end: extent.start } }, extent };
}

function bareValuesFrom(operands: readonly Operand[], start: number): readonly Operand[] {
  let end = start;
  while (end < operands.length && isBareValue(operands[end]!.value)) end++;
  return operands.slice(start, end);
}

function isBareValue(expression: ExpressionNode): boolean {
  return isLiteral(expression) && expression.kind !== 'boolean' && expression.kind !== 'null';
}

/** Whether an expression compares two constants, which nobody means. */
function isOfValues(expression: ExpressionNode): expression is BinaryExpression {
  if (expression.kind !== 'binary' || !isLiteral(expression.left) || !isLiteral(expression.right))
    return false;
  return expression.operator === '==' || expression.operator === '!=';
}

/** Reports `or` with a fallback value, as in `payload.note or "none" == "a"`; the fix is `else`. */
function reportFallback({ value, extent }: Operand, comparison: BinaryExpression, reader: Reader): void {
  const [left, right] = [comparison.left, comparison.right].map(printExpression);
  const better = `(${printExpression(value)} else ${left}) ${comparison.operator} ${right}`;
  const span = spanning(extent, comparison.span);
  const message = '`or` joins conditions and does not choose between values';
  const diagnostic = syntaxError('value-as-condition', span, message, `write \`${better}\``);
  reader.report(withFix(diagnostic, { title: 'use `else`', text: better }));
}

/** The operator that takes several values, by the operator of one value, before `or` and before `and`. */
const ofSeveral: Readonly<Record<'or' | 'and', ReadonlyMap<string, string>>> = {
  or: new Map([
    ['==', 'in'],
    ...['contains', 'starts with', 'ends with', 'like', 'matches', 'inside'].map(
      (one) => [one, `${one} any of`] as const,
    ),
  ]),
  and: new Map([['!=', 'not in']]),
};

/**
 * The comparison that the chain so far ends with, if another operator takes several values. Null if there is
 * none.
 */
function lastComparison(expression: ExpressionNode, operator: 'or' | 'and'): BinaryExpression | null {
  if (expression.kind !== 'binary') return null;
  if (expression.operator === 'and' && operator === 'or') return lastComparison(expression.right, operator);
  return ofSeveral[operator].has(expression.operator) ? expression : null;
}

function reportValues(
  comparison: BinaryExpression,
  values: readonly Operand[],
  operator: 'or' | 'and',
  reader: Reader,
): void {
  const span = values[0]!.extent;
  const entries = [comparison.right, ...values.map(({ value }) => value)].map(printExpression);
  const membership = ofSeveral[operator].get(comparison.operator)!;
  const better = `${printExpression(comparison.left)} ${membership} [${entries.join(', ')}]`;
  const message = `\`${printExpression(values[0]!.value)}\` is not a condition: \`${operator}\` does not repeat the comparison`;
  const diagnostic = syntaxError('value-as-condition', span, message, `write \`${better}\``);
  const whole = spanning(comparison.span, values.at(-1)!.extent);
  reader.report(withFix(diagnostic, { title: `use \`${membership}\``, text: better, span: whole }));
}
