// The ways in which a condition may have been written wrong: a comparison that includes its end or not, a
// part left out, a part reversed, a constant one step away. INVARIANT: each change alters one place.

import type { Span } from '../../language/diagnostic/span.ts';
import { writtenEntries } from '../../language/syntax/tree/lists.ts';
import type {
  BinaryExpression,
  BinaryOperator,
  ConditionalExpression,
  ExpressionNode,
  Quantifier,
  UnaryExpression,
} from '../../language/syntax/tree/tree.ts';
import { neighbours } from './constant.ts';
import { entryRemoval, excerpt, type PolicyEdit, replacement } from './edit.ts';

/** `text` is the whole file that contains the expression. */
export function conditionChanges(expression: ExpressionNode, text: string): readonly PolicyEdit[] {
  switch (expression.kind) {
    case 'binary':
      return binaryChanges(expression, text);
    case 'unary':
      return expression.operator === 'not' ? notChanges(expression, text) : valueChanges(expression, text);
    case 'quantifier':
      return quantifierChanges(expression, text);
    case 'if':
      return conditionalChanges(expression, text, conditionChanges);
    case 'path':
    case 'look-up':
    case 'has':
    case 'single-script':
    case 'else':
    case 'call':
      return [negatedExpression(expression, text), ...valueChanges(expression, text)];
    case 'text':
    case 'number':
    case 'money':
    case 'duration':
    case 'date':
    case 'instant':
    case 'clock':
    case 'months':
    case 'boolean':
    case 'null':
    case 'today':
    case 'range':
    case 'list-literal':
    case 'text-list':
    case 'missing':
      return valueChanges(expression, text);
  }
}

/** Replaces the condition by its opposite. */
export function negatedExpression({ span }: ExpressionNode, text: string): PolicyEdit {
  const put = `not (${text.slice(span.start, span.end)})`;
  return { edits: [{ span, text: put }], change: `negated \`${excerpt(text, span)}\`` };
}

/** Null for an operator without a neighbour: the comparison is negated, or only its operands are changed. */
const neighbourOf = {
  or: null,
  and: null,
  '==': '!=',
  '!=': '==',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  in: 'not in',
  'not in': 'in',
  like: null,
  matches: null,
  'starts with': null,
  'ends with': null,
  contains: null,
  'mentions any of': null,
  inside: null,
  within: null,
  'like any of': null,
  'matches any of': null,
  'starts with any of': null,
  'ends with any of': null,
  'contains any of': null,
  'inside any of': null,
  '+': null,
  '-': null,
  '*': null,
  '/': null,
} as const satisfies Record<BinaryOperator, BinaryOperator | null>;

function binaryChanges(expression: BinaryExpression, text: string): readonly PolicyEdit[] {
  const { operator, operatorSpan, left, right } = expression;
  switch (operator) {
    case 'and':
    case 'or':
      return [
        ...dropChanges(expression, text),
        ...conditionChanges(left, text),
        ...conditionChanges(right, text),
      ];
    case '+':
    case '-':
    case '*':
    case '/':
      return valueChanges(expression, text);
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
    case 'in':
    case 'not in':
      return [replacement(text, operatorSpan, neighbourOf[operator]), ...valueChanges(expression, text)];
    case 'like':
    case 'matches':
    case 'starts with':
    case 'ends with':
    case 'contains':
    case 'mentions any of':
    case 'inside':
    case 'within':
    case 'like any of':
    case 'matches any of':
    case 'starts with any of':
    case 'ends with any of':
    case 'contains any of':
    case 'inside any of':
      return [negatedExpression(expression, text), ...valueChanges(expression, text)];
  }
}

/**
 * Drops either operand, unless the operand is a chain of the same operator, whose links are dropped one by
 * one.
 */
function dropChanges(expression: BinaryExpression, text: string): readonly PolicyEdit[] {
  const { span, operator, operatorSpan, left, right } = expression;
  const before = text.slice(0, operatorSpan.start).trimEnd().length;
  const after =
    operatorSpan.end +
    (text.slice(operatorSpan.end).length - text.slice(operatorSpan.end).trimStart().length);
  const isChain = (operand: ExpressionNode): boolean =>
    operand.kind === 'binary' && operand.operator === operator;
  const drop = (operand: ExpressionNode, taken: Span): readonly PolicyEdit[] =>
    isChain(operand)
      ? []
      : [{ edits: [{ span: taken, text: '' }], change: `dropped \`${excerpt(text, operand.span)}\`` }];
  return [...drop(left, { ...span, end: after }), ...drop(right, { ...span, start: before })];
}

function notChanges({ span, operand }: UnaryExpression, text: string): readonly PolicyEdit[] {
  const end = span.start + 'not'.length;
  const taken = { ...span, end: end + /^\s*/.exec(text.slice(end))![0].length };
  const dropped = {
    edits: [{ span: taken, text: '' }],
    change: `dropped \`not\` of \`${excerpt(text, operand.span)}\``,
  };
  return [dropped, ...conditionChanges(operand, text)];
}

const otherQuantifier = { some: 'every', every: 'some', no: 'some', count: null, sum: null } as const;

function quantifierChanges(
  { span, quantifier, sources, body }: Quantifier,
  text: string,
): readonly PolicyEdit[] {
  const other = otherQuantifier[quantifier];
  const word = { ...span, end: span.start + quantifier.length };
  return [
    ...(other === null ? [] : [replacement(text, word, other)]),
    ...sources.flatMap((source) => valueChanges(source, text)),
    ...(quantifier === 'sum' ? valueChanges(body, text) : conditionChanges(body, text)),
  ];
}

/** Negates or changes the condition, and changes each branch as what it is: a condition or a value. */
function conditionalChanges(
  { condition, whenTrue, otherwise }: ConditionalExpression,
  text: string,
  branchChanges: (branch: ExpressionNode, text: string) => readonly PolicyEdit[],
): readonly PolicyEdit[] {
  return [
    negatedExpression(condition, text),
    ...conditionChanges(condition, text),
    ...branchChanges(whenTrue, text),
    ...(otherwise === null ? [] : branchChanges(otherwise, text)),
  ];
}

function valueChanges(expression: ExpressionNode, text: string): readonly PolicyEdit[] {
  switch (expression.kind) {
    case 'text':
    case 'number':
    case 'money':
    case 'duration':
    case 'date':
    case 'instant':
    case 'clock':
    case 'months':
    case 'boolean':
    case 'null':
      return neighbours(expression).map((put) => replacement(text, expression.span, put));
    case 'unary':
      return valueChanges(expression.operand, text);
    case 'binary':
      return [...valueChanges(expression.left, text), ...valueChanges(expression.right, text)];
    case 'range':
      return [...valueChanges(expression.low, text), ...valueChanges(expression.high, text)];
    case 'list-literal':
    case 'text-list':
      return entryChanges(writtenEntries(expression), text);
    case 'quantifier':
      return quantifierChanges(expression, text);
    case 'look-up':
      return valueChanges(expression.key, text);
    case 'single-script':
      return valueChanges(expression.subject, text);
    case 'if':
      return conditionalChanges(expression, text, valueChanges);
    case 'else':
      return [...valueChanges(expression.subject, text), ...valueChanges(expression.fallback, text)];
    case 'call':
      return expression.args.flatMap((argument) => valueChanges(argument, text));
    case 'path':
    case 'has':
    case 'today':
    case 'missing':
      return [];
  }
}

function entryChanges(entries: readonly ExpressionNode[], text: string): readonly PolicyEdit[] {
  // A list of one entry would become empty, which is another kind of mistake.
  if (entries.length < 2) return [];
  return entries.map((entry, index) => ({
    edits: [entryRemoval(text, entries, index)],
    change: `dropped \`${excerpt(text, entry.span)}\``,
  }));
}
