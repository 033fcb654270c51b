// Turns operands and operators into expressions. Chains of operators become left-leaning pairs, without
// recursion.

import { type Span, spanning } from '../../diagnostic/span.ts';
import type {
  AnyTextRelation,
  BinaryExpression,
  BinaryOperator,
  ExpressionNode,
  UnaryExpression,
} from '../tree/tree.ts';
import { makeSpan, type Reader, tokenSpan } from './context.ts';
import { type Token, tokenEnd } from './tokens.ts';

/** An operand with the place that it takes in the text, parentheses included. */
export interface Operand {
  readonly value: ExpressionNode;
  readonly extent: Span;
}

export interface Operator {
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
}

/** Operators of several words, by their first word. */
const fullOperator: Readonly<Record<string, BinaryOperator>> = {
  not: 'not in',
  starts: 'starts with',
  ends: 'ends with',
  mentions: 'mentions any of',
};

/** The operator that is spelled from a first to a last token. */
export function operatorOf(first: Token, last: Token, reader: Reader): Operator {
  const operatorSpan = makeSpan(reader, first.startOffset, tokenEnd(last));
  const operator = fullOperator[first.image] ?? (first.image as BinaryOperator);
  const isAnyOf = last.image === 'of' && first !== last && operator !== 'mentions any of';
  return { operator: isAnyOf ? (`${operator} any of` as AnyTextRelation) : operator, operatorSpan };
}

export function pair(left: Operand, { operator, operatorSpan }: Operator, right: Operand): BinaryExpression {
  return {
    kind: 'binary',
    operator,
    operatorSpan,
    left: left.value,
    leftSpan: left.extent,
    right: right.value,
    span: spanning(left.extent, right.extent),
  };
}

/** Pairs up the operands of a chain, which has an operator between any two operands. */
export function pairUp(
  operands: readonly Operand[],
  operators: readonly Token[],
  reader: Reader,
): ExpressionNode {
  let left = operands[0]!;
  for (const [index, token] of operators.entries()) {
    const value = pair(left, operatorOf(token, token, reader), operands[index + 1]!);
    left = { value, extent: value.span };
  }
  return left.value;
}

/** An operand with the same operator before it, once for each sign. */
export function prefix(
  signs: readonly Token[],
  operator: UnaryExpression['operator'],
  { value, extent }: Operand,
  reader: Reader,
): ExpressionNode {
  return signs.reduceRight<ExpressionNode>(
    (operand, token) => ({
      kind: 'unary',
      operator,
      operand,
      span: spanning(tokenSpan(token, reader), extent),
    }),
    value,
  );
}
