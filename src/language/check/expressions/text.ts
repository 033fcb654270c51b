// Tests of text: `is single_script`, `like`, `matches`, `starts with`, `ends with`, `contains`, `inside` and `mentions any of`. Patterns
// are constants and are compiled here once, to find what is wrong with them.

import type { Expression, WordSource } from '../../model/expression.ts';
import { anyText, booleanType, enumeration, type Type } from '../../model/type.ts';
import type { Binary, BinaryOperator, SingleScript, ExpressionNode as Tree } from '../../syntax/tree/tree.ts';
import { foldCase } from '../../value/path.ts';
import { compileRegex } from '../../value/regex.ts';
import { behindLets, constantText } from '../logic/constants.ts';
import { isCaseless, patternFor } from '../logic/literals.ts';
import { regexInvalid } from '../messages/errors.ts';
import { notText } from '../messages/operand-errors.ts';
import { insideUnfit, patternNotConstant, wordsUnfit } from '../messages/type-errors.ts';
import { type Context, inferValue } from './context.ts';
import { letsOf } from './lets.ts';

type TextOperator = Extract<
  BinaryOperator,
  'like' | 'matches' | 'starts with' | 'ends with' | 'contains' | 'mentions any of' | 'inside'
>;

export function inferTextTest(node: Binary, operator: TextOperator, ctx: Context): Expression | null {
  if (operator === 'mentions any of') return inferMentions(node, ctx);
  const left = textOf(node.left, operator, ctx, node);
  const right = textOf(node.right, operator, ctx, node);
  if (left === null || right === null) return null;
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

function isPath(type: Type): boolean {
  return type.kind === 'text' && (type.of === 'path' || type.of === 'path ignoring case');
}

/** A path that ignores case is in folded letters, and so is what it is compared with. */
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
  const value = inferValue(node, ctx);
  if (value === null || value.type.kind === 'text') return value;
  ctx.env.report(notText(value, operator, whole));
  return null;
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

function inferMentions(node: Binary, ctx: Context): Expression | null {
  const subject = textOf(node.left, 'mentions any of', ctx, node);
  const words = wordsOf(node.right, ctx);
  if (subject === null || words === null) return null;
  return { kind: 'mentions', subject, words, type: booleanType, span: node.span };
}

function wordsOf(node: Tree, ctx: Context): WordSource | null {
  if (node.kind === 'path' && node.steps.length === 0) {
    const name = node.root.text;
    if (ctx.env.ask('kind', name) === 'list') {
      ctx.env.use(name);
      const listType = ctx.env.ask('listType', name);
      if (listType === undefined) return null;
      if (listType.kind === 'text') return { kind: 'list', list: name };
      ctx.env.report(wordsUnfit(node.span));
      return null;
    }
  }
  const value = inferValue(node, ctx);
  if (value === null) return null;
  const list = behindLets(value, letsOf(ctx.env));
  const words =
    list.kind === 'list' ? list.elements.map((word) => constantText(word, letsOf(ctx.env))) : [null];
  const texts = words.filter((word) => word !== null);
  if (texts.length === words.length) return { kind: 'words', words: texts };
  ctx.env.report(wordsUnfit(node.span));
  return null;
}
