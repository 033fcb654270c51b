// Turns expressions into canonical text. Parentheses stand only where reading the text back would give
// another tree, and where a reader would have to know the grammar by heart: around `else` beside an operator,
// and around a comparison behind `not`.

import { writtenEntries } from '../tree/lists.ts';
import type {
  BinaryExpression,
  BinaryOperator,
  ExpressionNode,
  LiteralNode,
  NameNode,
  Path,
  Quantifier,
  TextLiteral,
  UnaryExpression,
} from '../tree/tree.ts';
import { isLiteral } from '../tree/visit.ts';

/** One line of text that parses to the same expression. */
export function printExpression(expression: ExpressionNode): string {
  return print(expression, 'plain');
}

/** An operand of a chain, with the operator before it. */
export interface ChainLink {
  /** The operator before the operand; null for the first operand. */
  readonly operator: BinaryOperator | null;
  readonly operand: ExpressionNode;
  /** Whether the operand needs parentheses in its place. */
  readonly isBracketed: boolean;
  /** Offset of the operator; for the first operand, of the operand. */
  readonly start: number;
  /** Offset of the operand's closing parenthesis, if it has one. */
  readonly close: number;
}

/** The operands of a chain of operators of equal strength, in order. */
export function chainLinks(expression: BinaryExpression): readonly ChainLink[] {
  const binding = operatorBinding(expression.operator);
  const links: ChainLink[] = [];
  let left: ExpressionNode = expression;
  let firstSpan = expression.leftSpan;
  // Chains lean to the left and may be long, so they are walked by a loop. Comparisons form no chains.
  for (; left.kind === 'binary' && operatorBinding(left.operator) === binding; left = left.left) {
    const { operator, operatorSpan, right, span } = left;
    const isBracketed = needsBrackets(right, binding + 1);
    links.push({ operator, operand: right, isBracketed, start: operatorSpan.start, close: span.end - 1 });
    firstSpan = left.leftSpan;
  }
  const { start } = left.span;
  const isBracketed = needsBrackets(left, binding);
  links.push({ operator: null, operand: left, isBracketed, start, close: firstSpan.end - 1 });
  return links.reverse();
}

/** Whether `not` before the expression is followed by parentheses. */
export function isBracketedByNot(inner: ExpressionNode): boolean {
  const isNegation = inner.kind === 'unary' && inner.operator === 'not';
  return bindingOf(inner) < (isNegation ? binding.not : binding.sum);
}

/** Whether an `else` at the end of the expression would be read as that of the `if` before it. */
function endsInElse(expression: ExpressionNode): boolean {
  switch (expression.kind) {
    case 'if':
    case 'else':
      return true;
    case 'unary':
      return endsInElse(expression.operand);
    case 'binary':
      return endsInElse(expression.right);
    case 'range':
      return endsInElse(expression.high);
    default:
      return false;
  }
}

/** Whether the branch behind `then` needs parentheses, because it has an `else` of its own. */
export function isBracketedByThen(branch: ExpressionNode): boolean {
  if (branch.kind === 'unary') return isBracketedByThen(branch.operand);
  return endsInElse(branch);
}

/** In mode `pattern`, fewer backslash sequences of a text are resolved. */
type TextMode = 'plain' | 'pattern';

// How tightly each form binds. An operand that binds less tightly than its place requires gets parentheses.
const binding = {
  if: 0,
  or: 1,
  and: 2,
  not: 3,
  comparison: 4,
  sum: 5,
  product: 6,
  negation: 7,
  else: 8,
  primary: 9,
} as const;

function print(expression: ExpressionNode, mode: TextMode): string {
  switch (expression.kind) {
    case 'path':
      return printPath(expression);
    case 'look-up': {
      const column = expression.column === null ? '' : `.${printName(expression.column)}`;
      return `${expression.table.text}[${print(expression.key, mode)}]${column}`;
    }
    case 'unary':
      return printUnary(expression, mode);
    case 'binary':
      return printBinary(expression, mode);
    case 'range':
      return `${operand(expression.low, binding.sum, mode)}..${operand(expression.high, binding.sum, mode)}`;
    case 'list-literal':
    case 'text-list':
      return `[${writtenEntries(expression)
        .map((entry) => print(entry, mode))
        .join(', ')}]`;
    case 'quantifier':
      return `${printQuantifierHead(expression, mode)} (${print(expression.body, mode)})`;
    case 'has':
      return `${print(expression.subject, mode)} has ${expression.field.map(printName).join('.')}`;
    case 'single-script':
      return `${operandOf(expression.subject, binding.sum, mode)} is single_script`;
    case 'else': {
      const subject = operand(expression.subject, binding.else, mode);
      return `${subject} else ${printFallback(expression.fallback, mode)}`;
    }
    case 'if': {
      const { condition, whenTrue, otherwise } = expression;
      const branch = bracketed(whenTrue, isBracketedByThen(whenTrue), mode);
      const rest = otherwise === null ? '' : ` else ${print(otherwise, mode)}`;
      return `if ${bracketed(condition, condition.kind === 'if', mode)} then ${branch}${rest}`;
    }
    case 'today':
      return `today in ${printText(expression.zone, mode)}`;
    case 'call':
      return `${expression.callee.text}(${expression.args.map((argument) => print(argument, mode)).join(', ')})`;
    case 'missing':
      return '…';
    default:
      return printLiteral(expression, mode);
  }
}

/** A quantifier up to the parenthesis of its body. */
export function printQuantifierHead(
  { quantifier, variable, sources }: Quantifier,
  mode: TextMode = 'plain',
): string {
  return `${quantifier} ${variable.text} in ${sources.map((source) => print(source, mode)).join(', ')}`;
}

function operand(expression: ExpressionNode, least: number, mode: TextMode): string {
  return bracketed(expression, bindingOf(expression) < least, mode);
}

function bracketed(expression: ExpressionNode, isBracketed: boolean, mode: TextMode): string {
  const text = print(expression, mode);
  return isBracketed ? `(${text})` : text;
}

function bindingOf(expression: ExpressionNode): number {
  switch (expression.kind) {
    case 'binary':
      return operatorBinding(expression.operator);
    case 'unary':
      return expression.operator === 'not' ? binding.not : binding.negation;
    case 'has':
    case 'single-script':
      return binding.comparison;
    case 'if':
      return binding.if;
    case 'else':
      return binding.else;
    case 'number':
    case 'money':
    case 'duration':
      return isNegative(expression) ? binding.negation : binding.primary;
    case 'range':
      return binding.or;
    case 'path':
      // `today in "UTC"` is a date, so a name `today` gets parentheses that set it apart from what follows.
      return printPath(expression) === 'today' ? binding.or : binding.primary;
    default:
      return binding.primary;
  }
}

function operatorBinding(operator: BinaryOperator): number {
  return chainBinding[operator] ?? binding.comparison;
}

const chainBinding: Readonly<Partial<Record<BinaryOperator, number>>> = {
  or: binding.or,
  and: binding.and,
  '+': binding.sum,
  '-': binding.sum,
  '*': binding.product,
  '/': binding.product,
};

function isNegative(literal: LiteralNode): boolean {
  return printLiteral(literal).startsWith('-');
}

function isUnsignedQuantity(expression: ExpressionNode): boolean {
  const { kind } = expression;
  return (kind === 'number' || kind === 'money' || kind === 'duration') && !isNegative(expression);
}

// `-5` is a literal with a sign, so the negation of the literal 5 keeps its parentheses.
function printUnary({ operator, operand: inner }: UnaryExpression, mode: TextMode): string {
  if (operator === 'not') return `not ${bracketed(inner, isBracketedByNot(inner), mode)}`;
  return isUnsignedQuantity(inner)
    ? `-(${print(inner, mode)})`
    : `-${operand(inner, binding.negation, mode)}`;
}

function operandOf(expression: ExpressionNode, least: number, mode: TextMode): string {
  return bracketed(expression, needsBrackets(expression, least), mode);
}

function needsBrackets(expression: ExpressionNode, least: number): boolean {
  return expression.kind === 'else' || bindingOf(expression) < least;
}

function printBinary(expression: BinaryExpression, mode: TextMode): string {
  if (operatorBinding(expression.operator) === binding.comparison) return printComparison(expression, mode);
  return chainLinks(expression)
    .map(({ operator, operand: one, isBracketed }) => {
      const text = bracketed(one, isBracketed, mode);
      return operator === null ? text : `${operator} ${text}`;
    })
    .join(' ');
}

function printComparison({ operator, left, right }: BinaryExpression, mode: TextMode): string {
  const isPattern = /^(?:like|matches)\b/.test(operator);
  const rightMode = isPattern ? 'pattern' : mode;
  const isRange = right.kind === 'range';
  const rightText = isRange ? print(right, rightMode) : operandOf(right, binding.sum, rightMode);
  return `${operandOf(left, binding.sum, mode)} ${operator} ${rightText}`;
}

function printFallback(fallback: ExpressionNode, mode: TextMode): string {
  const text = print(fallback, mode);
  return fallback.kind === 'path' || isLiteral(fallback) ? text : `(${text})`;
}

function printPath({ root, steps }: Path): string {
  return [root, ...steps].map(printName).join('.');
}

/** A name as written in a path or before a type, in quotes if it was quoted. */
export function printName({ text, isQuoted }: NameNode): string {
  return isQuoted ? quote(text) : text;
}

export function printLiteral(literal: LiteralNode, mode: TextMode = 'plain'): string {
  switch (literal.kind) {
    case 'text':
      return printText(literal, mode);
    case 'money':
      return `${literal.amount} ${literal.currency}`;
    case 'boolean':
      return String(literal.value);
    case 'null':
      return 'null';
    case 'number':
    case 'duration':
    case 'date':
    case 'instant':
    case 'clock':
    case 'months':
      return literal.text;
  }
}

export function printText({ value, isRaw }: TextLiteral, mode: TextMode = 'plain'): string {
  return isRaw ? `'${value}'` : quote(value, mode);
}

// Characters that a reader could not see or that a file must not hold: controls, line separators, direction
// marks, half surrogate pairs. Also the quote and the backslash.
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what the pattern is about
  /["\\\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text between double quotes, escaped so that it reads back as the same text. */
export function quote(value: string, mode: TextMode = 'plain'): string {
  return `"${escapeText(value, mode)}"`;
}

export function escapeText(value: string, mode: TextMode = 'plain'): string {
  return value.replaceAll(unseen, (character) => {
    const short = JSON.stringify(character).slice(1, -1);
    const isShort = short.length === 2 && (mode === 'plain' || character === '"' || character === '\\');
    return isShort ? short : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
