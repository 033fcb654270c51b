// Breaks an expression that is too long for a line, or that contains comments, into lines. Each operand of
// `and` or `or` gets a line, and the content of parentheses is indented. A comment behind the last operator
// is no reason to break a chain, nor one in the last branch of an `if`: it goes behind its line.

import type { BinaryExpression, ConditionalExpression, ExpressionNode } from '../tree/tree.ts';
import {
  chainLinks,
  isBracketedByNot,
  isBracketedByThen,
  printExpression,
  printQuantifierHead,
} from './expression.ts';
import { columnsMax, type HoldsComment, indentColumns, type PrintedLine } from './layout.ts';

interface ExpressionRoom {
  readonly indent: number;
  readonly start: number;
  readonly holdsComment: HoldsComment;
  /**
   * How many levels the later operands of a chain are indented more than the first: 1, or 0 between
   * parentheses.
   */
  readonly hanging?: 0 | 1;
}

/** The lines of an expression behind a text; one line if the expression fits and no comment parts it. */
export function expressionLines(
  prefix: string,
  expression: ExpressionNode,
  room: ExpressionRoom,
): readonly PrintedLine[] {
  const { indent, start, holdsComment, hanging = 1 } = room;
  const line = { indent, start, text: `${prefix}${printExpression(expression)}` };
  if (fits(line) && !isParted(expression, holdsComment)) return [line];
  switch (expression.kind) {
    case 'quantifier':
    case 'unary': {
      const brackets = bracketsOf(expression);
      if (brackets !== null) return bracketLines(`${prefix}${brackets.head} `, brackets, room);
      if (expression.kind === 'quantifier' || expression.operator !== 'not') return [line];
      return expressionLines(`${prefix}not `, expression.operand, room);
    }
    case 'binary':
      if (!isCondition(expression)) return [line];
      return chainLinks(expression).flatMap((link) => {
        const isFirst = link.operator === null;
        const before = isFirst ? prefix : `${link.operator} `;
        const layout = {
          indent: isFirst ? indent : indent + hanging,
          start: isFirst ? start : link.start,
          holdsComment,
        };
        return link.isBracketed
          ? bracketLines(before, { inner: link.operand, close: link.close }, layout)
          : expressionLines(before, link.operand, layout);
      });
    case 'if':
      return conditionalLines(prefix, expression, room);
    default:
      return [line];
  }
}

/** `if`, `then` and `else`, each on a line of its own. */
function conditionalLines(
  prefix: string,
  { condition, whenTrue, otherwise }: ConditionalExpression,
  { indent, start, holdsComment, hanging = 1 }: ExpressionRoom,
): readonly PrintedLine[] {
  const branch = (word: string, value: ExpressionNode): readonly PrintedLine[] =>
    expressionLines(`${word} `, value, {
      indent: indent + hanging,
      start: value.span.start,
      holdsComment,
    });
  const then = isBracketedByThen(whenTrue)
    ? [
        {
          indent: indent + hanging,
          start: whenTrue.span.start,
          text: `then (${printExpression(whenTrue)})`,
        },
      ]
    : branch('then', whenTrue);
  return [
    ...(condition.kind === 'if'
      ? [{ indent, start, text: `${prefix}if (${printExpression(condition)})` }]
      : expressionLines(`${prefix}if `, condition, { indent, start, holdsComment })),
    ...then,
    ...(otherwise === null ? [] : branch('else', otherwise)),
  ];
}

/** The expression between parentheses, and the offset of the closing one. */
interface Brackets {
  readonly inner: ExpressionNode;
  readonly close: number;
}

/** The parentheses that an expression ends with, and the text before them; null if it ends with none. */
function bracketsOf(expression: ExpressionNode): (Brackets & { readonly head: string }) | null {
  const close = expression.span.end - 1;
  if (expression.kind === 'quantifier')
    return { head: printQuantifierHead(expression), inner: expression.body, close };
  if (expression.kind !== 'unary' || expression.operator !== 'not') return null;
  return isBracketedByNot(expression.operand) ? { head: 'not', inner: expression.operand, close } : null;
}

function bracketLines(
  prefix: string,
  { inner, close }: Brackets,
  { indent, start, holdsComment }: ExpressionRoom,
): readonly PrintedLine[] {
  const line = { indent, start, text: `${prefix}(${printExpression(inner)})` };
  if (fits(line) && !holdsComment({ start: inner.span.start, end: close })) return [line];
  const layout = { indent: indent + 1, start: inner.span.start, holdsComment, hanging: 0 } as const;
  return [
    { indent, start, text: `${prefix}(` },
    ...expressionLines('', inner, layout),
    { indent, start: close, text: ')', isClosing: true },
  ];
}

/** Whether a comment stands where it breaks the expression into lines. */
function isParted(expression: ExpressionNode, holdsComment: HoldsComment): boolean {
  if (!holdsComment(expression.span)) return false;
  const brackets = bracketsOf(expression);
  if (brackets !== null) return holdsComment({ start: brackets.inner.span.start, end: brackets.close });
  if (expression.kind === 'unary') return isParted(expression.operand, holdsComment);
  if (expression.kind === 'if') return isConditionalParted(expression, holdsComment);
  if (!isCondition(expression)) return false;
  const last = chainLinks(expression).at(-1)!;
  if (holdsComment({ start: expression.span.start, end: last.start })) return true;
  return last.isBracketed
    ? holdsComment({ start: last.operand.span.start, end: last.close })
    : isParted(last.operand, holdsComment);
}

function isConditionalParted(
  { span, whenTrue, otherwise }: ConditionalExpression,
  holdsComment: HoldsComment,
): boolean {
  const last = otherwise ?? whenTrue;
  if (holdsComment({ start: span.start, end: last.span.start })) return true;
  return (otherwise !== null || !isBracketedByThen(last)) && isParted(last, holdsComment);
}

function isCondition(expression: ExpressionNode): expression is BinaryExpression {
  return expression.kind === 'binary' && (expression.operator === 'and' || expression.operator === 'or');
}

function fits({ indent, text }: PrintedLine): boolean {
  return indentColumns(indent) + text.length <= columnsMax;
}
