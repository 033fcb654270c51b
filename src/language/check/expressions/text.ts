// Types tests of text: `is single_script`, `like`, `matches`, `starts with`, `ends with`, `contains`,
// `inside`, `within` and `mentions any of`. Patterns are constants and are compiled once, to find mistakes in
// them. An `any of` test applies to each text of a list and is true when it is true for at least one.

import { elementsOf } from '../../model/children.ts';
import type { Expression, Literal, WordSource } from '../../model/expression.ts';
import { anyText, booleanType, enumeration, type Type } from '../../model/type.ts';
import type {
  AnyTextRelation,
  BinaryExpression,
  BinaryOperator,
  SingleScript,
  ExpressionNode as Tree,
} from '../../syntax/tree/tree.ts';
import { canonicalText } from '../../value/canonical-text.ts';
import { isHostName } from '../../value/host-name.ts';
import { foldCase } from '../../value/path.ts';
import { compileRegex } from '../../value/regex.ts';
import { behindLets, constantText } from '../logic/constants.ts';
import { isCaseless, patternFor, typeOfText } from '../logic/literals.ts';
import { regexInvalid } from '../messages/errors.ts';
import { notText } from '../messages/operand-errors.ts';
import {
  anyOfIgnoringCase,
  anyOfTooLong,
  domainInvalid,
  insideUnfit,
  patternNotConstant,
  withinUnfit,
  wordsUnfit,
} from '../messages/type-errors.ts';
import { adapt } from './adapt.ts';
import { type Context, inferValue } from './context.ts';
import { letsOf } from './lets.ts';
import { anyOf, anyOfMax } from './logic.ts';

type SingleOperator = Extract<
  BinaryOperator,
  'like' | 'matches' | 'starts with' | 'ends with' | 'contains' | 'inside'
>;
/** A relation to several texts; each text becomes a test of its own. */
type ListOperator = AnyTextRelation | 'within';
type TextOperator = SingleOperator | ListOperator | 'mentions any of';

export function inferTextTest(
  node: BinaryExpression,
  operator: TextOperator,
  ctx: Context,
): Expression | null {
  switch (operator) {
    case 'mentions any of':
      return inferMentions(node, ctx);
    case 'like any of':
    case 'matches any of':
    case 'starts with any of':
    case 'ends with any of':
    case 'contains any of':
    case 'inside any of':
    case 'within':
      return inferAnyOf(node, operator, ctx);
    default: {
      const subject = inferValue(node.left, ctx);
      if (operator === 'starts with' && subject?.type.kind === 'list')
        return inferListPrefix(node, subject, ctx);
      const left = textIn(subject, operator, ctx, node);
      const right = textOf(node.right, operator, ctx, node);
      return left === null || right === null ? null : testOf(node, operator, { left, right }, ctx);
    }
  }
}

/** Makes the same test for each text of a list, joined by `or`. */
function inferAnyOf(node: BinaryExpression, operator: ListOperator, ctx: Context): Expression | null {
  const left = textOf(node.left, operator, ctx, node);
  const texts = textsOf(node.right, operator, ctx);
  if (left === null || texts === null) return null;
  if (operator === 'within' && !isHost(left.type)) {
    ctx.env.report(withinUnfit(left));
    return null;
  }
  if (texts.length > anyOfMax) {
    ctx.env.report(anyOfTooLong(node.right.span, operator, texts.length));
    return null;
  }
  const operands = texts.flatMap((right) => testsOf(node, operator, { left, right }, ctx));
  const resolved = operands.filter((operand) => operand !== null);
  if (resolved.length < operands.length) return null;
  if (resolved.length > 0) return anyOf(node, resolved);
  // The list may be empty and is: the test is false, as `mentions any of` an empty list is. In that form no
  // warning says that the test is never true.
  const list = declaredList(node.right, ctx);
  if (list === null) return null;
  const words = { kind: 'list', list } as const;
  return { kind: 'mentions', subject: left, words, type: booleanType, span: node.span };
}

function testsOf(
  node: BinaryExpression,
  operator: ListOperator,
  operands: Operands,
  ctx: Context,
): readonly (Expression | null)[] {
  if (operator === 'within') return domainTests(node, operands, ctx);
  return [testOf(node, operator.replace(/ any of$/, '') as SingleOperator, operands, ctx)];
}

/** Returns two tests: the host is the domain itself, or below the domain. */
function domainTests(
  node: BinaryExpression,
  { left, right }: Operands,
  ctx: Context,
): readonly (Expression | null)[] {
  const text = constantText(right, letsOf(ctx.env)) ?? '';
  const domain = canonicalText('host', text);
  if (domain === null || !isHostName(domain)) {
    ctx.env.report(domainInvalid(right.span, text));
    return [null];
  }
  const textAt = (value: string): Expression => ({
    kind: 'literal',
    value,
    type: typeOfText(value, ctx.env),
    span: right.span,
  });
  const whole = { type: booleanType, span: node.span };
  return [
    { kind: 'compare', operator: '==', left, right: textAt(domain), ...whole },
    { kind: 'text-test', operator: 'ends with', left, right: textAt(`.${domain}`), ...whole },
  ];
}

/**
 * Returns the texts of a list as constants; null when the expression is no list of constant texts, which has
 * then been reported.
 */
function textsOf(node: Tree, operator: ListOperator, ctx: Context): readonly Expression[] | null {
  const name = declaredList(node, ctx);
  if (name === null) return writtenTexts(node, operator, ctx);
  ctx.env.use(name);
  const list = ctx.env.query('list', name);
  if (list === undefined) return null;
  if (list.type.kind !== 'text') ctx.env.report(wordsUnfit(node.span, operator));
  else if (list.ignoringCase) ctx.env.report(anyOfIgnoringCase(node.span, operator, name));
  else
    return list.entries.map((value) => ({
      kind: 'literal',
      value,
      type: typeOfText(value as string, ctx.env),
      span: node.span,
    }));
  return null;
}

interface Operands {
  readonly left: Expression;
  readonly right: Expression;
}

function testOf(
  node: BinaryExpression,
  operator: SingleOperator,
  { left, right }: Operands,
  ctx: Context,
): Expression | null {
  switch (operator) {
    case 'like':
    case 'matches': {
      const written = patternOf(right, operator, ctx);
      if (written === null) return null;
      const pattern = patternBeside(left.type, operator, written);
      return { kind: operator, subject: left, pattern, type: booleanType, span: node.span };
    }
    case 'inside':
      if (isPath(left.type)) break;
      ctx.env.report(insideUnfit(left));
      return null;
    case 'starts with':
    case 'ends with':
    case 'contains':
      break;
  }
  const part = partBeside(left.type, right, ctx);
  return { kind: 'text-test', operator, left, right: part, type: booleanType, span: node.span };
}

export function inferSingleScript(node: SingleScript, ctx: Context): Expression | null {
  const subject = textOf(node.subject, 'is single_script', ctx, node);
  return subject && { kind: 'single-script', subject, type: booleanType, span: node.span };
}

function isHost(type: Type): boolean {
  return type.kind === 'text' && type.of === 'host';
}

function isPath(type: Type): boolean {
  return type.kind === 'text' && (type.of === 'path' || type.of === 'path ignoring case');
}

/** Folds a `like` pattern when the subject is a path that ignores case: such a path holds folded letters. */
function patternBeside(type: Type, operator: 'like' | 'matches', pattern: string): string {
  if (operator === 'matches') return patternFor(type, pattern);
  return isCaseless(type) ? foldCase(pattern) : pattern;
}

function partBeside(type: Type, part: Expression, ctx: Context): Expression {
  if (!isCaseless(type) || isCaseless(part.type)) return part;
  const text = constantText(part, letsOf(ctx.env));
  if (text === null) return { kind: 'call', builtin: 'lower', args: [part], type: anyText, span: part.span };
  const value = foldCase(text);
  return { kind: 'literal', value, type: enumeration([value]), span: part.span };
}

function textOf(
  node: Tree,
  operator: TextOperator | 'is single_script',
  ctx: Context,
  whole: Tree,
): Expression | null {
  return textIn(inferValue(node, ctx), operator, ctx, whole);
}

/** Returns a value that is a text; null, with a diagnostic, for any other. */
function textIn(
  value: Expression | null,
  operator: TextOperator | 'is single_script',
  ctx: Context,
  whole: Tree,
): Expression | null {
  if (value === null || value.type.kind === 'text') return value;
  ctx.env.report(notText(value, operator, whole));
  return null;
}

/** Types `words starts with ["run", "test"]`: a list of texts that begins with constant texts. */
function inferListPrefix(node: BinaryExpression, subject: Expression, ctx: Context): Expression | null {
  const { env } = ctx;
  const { type } = subject;
  const element = type.kind === 'list' ? type.element.type : type;
  const isWritten = elementsOf(behindLets(subject, letsOf(env))) !== null;
  if (element.kind !== 'text' || isWritten || node.right.kind === 'text') {
    env.report(notText(subject, 'starts with', node));
    return null;
  }
  const texts = writtenTexts(node.right, 'starts with', ctx);
  if (texts === null) return null;
  const parts = texts
    .map((text) => adapt(text, element, env))
    .map((text) => text && constantText(text, letsOf(env)));
  const resolved = parts.filter((part) => part !== null);
  if (resolved.length < parts.length) return null;
  return { kind: 'list-prefix', subject, texts: resolved, type: booleanType, span: node.span };
}

function patternOf(right: Expression, operator: 'like' | 'matches', ctx: Context): string | null {
  const pattern = constantText(right, letsOf(ctx.env));
  if (pattern === null) {
    ctx.env.report(patternNotConstant(right.span, operator));
    return null;
  }
  const test = operator === 'matches' ? compileRegex(pattern) : null;
  if (test === null || typeof test === 'function') return pattern;
  ctx.env.report(regexInvalid({ span: right.span, value: pattern }, test.error));
  return null;
}

function inferMentions(node: BinaryExpression, ctx: Context): Expression | null {
  const subject = textOf(node.left, 'mentions any of', ctx, node);
  const words = wordsOf(node.right, ctx);
  if (subject === null || words === null) return null;
  return { kind: 'mentions', subject, words, type: booleanType, span: node.span };
}

function wordsOf(node: Tree, ctx: Context): WordSource | null {
  const name = declaredList(node, ctx);
  if (name === null) {
    const words = writtenTexts(node, 'mentions any of', ctx);
    return words && { kind: 'words', words: words.map(({ value }) => value) };
  }
  ctx.env.use(name);
  const listType = ctx.env.query('listType', name);
  if (listType === undefined) return null;
  if (listType.kind === 'text') return { kind: 'list', list: name };
  ctx.env.report(wordsUnfit(node.span, 'mentions any of'));
  return null;
}

/** Returns the name of a declared list; null for any other expression. */
function declaredList(node: Tree, ctx: Context): string | null {
  if (node.kind !== 'path' || node.steps.length > 0) return null;
  const name = node.root.text;
  return ctx.env.query('kind', name) === 'list' ? name : null;
}

/**
 * Returns the constant texts of a list that is written in place or in a let; null, with a diagnostic, for any
 * other expression.
 */
function writtenTexts(
  node: Tree,
  operator: ListOperator | 'mentions any of' | 'starts with',
  ctx: Context,
): readonly (Literal & { readonly value: string })[] | null {
  const value = inferValue(node, ctx);
  if (value === null) return null;
  const list = behindLets(value, letsOf(ctx.env));
  const elements = elementsOf(list) ?? (operator === 'within' ? [value] : [null]);
  const texts = elements.flatMap((element) => {
    const text = element && constantText(element, letsOf(ctx.env));
    if (element === null || text === null) return [];
    return [{ kind: 'literal', value: text, type: typeOfText(text, ctx.env), span: element.span } as const];
  });
  if (texts.length === elements.length) return texts;
  ctx.env.report(wordsUnfit(node.span, operator));
  return null;
}
