// Returns the operands of any kind of expression, in reading order, and makes lists of elements. INVARIANT: a
// list whose elements are all constant texts is a `text-list`, however it was written, so that lists of equal
// elements are equal.

import { type Span, spanAt, spansOf } from '../diagnostic/span.ts';
import { memo } from '../value/memo.ts';
import type { Expression, TextList } from './expression.ts';
import { enumeration, type Type } from './type.ts';

/**
 * Returns the direct operands; the body of a quantifier comes after its sources. The expression of a let is
 * not an operand of a read of the let.
 */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'not':
    case 'negate':
      return [expression.operand];
    case 'and':
    case 'or':
      return expression.operands;
    case 'compare':
    case 'arithmetic':
    case 'text-test':
      return [expression.left, expression.right];
    case 'is-null':
    case 'has':
    case 'in-list':
    case 'in-table':
    case 'in-hours':
    case 'in-cidr':
    case 'like':
    case 'matches':
    case 'mentions':
    case 'single-script':
    case 'list-prefix':
      return [expression.subject];
    case 'has-cell':
      return [expression.cell];
    case 'if':
      return [expression.condition, expression.whenTrue, expression.otherwise];
    case 'else':
      return [expression.subject, expression.fallback];
    case 'in-elements':
      return [expression.subject, expression.elements];
    case 'in-range':
      return [expression.subject, expression.low, expression.high];
    case 'quantify':
      return [...expression.sources, expression.body];
    case 'list':
    case 'text-list':
      return elementsOf(expression)!;
    case 'call':
      return expression.args;
    case 'column':
      return [expression.key];
    case 'literal':
    case 'field':
    case 'fact':
    case 'meter':
    case 'let':
    case 'now':
    case 'risk':
      return [];
  }
}

/** Returns the expression and everything below it, each part before its own operands. */
export function descendants(expression: Expression): readonly Expression[] {
  const expressions: Expression[] = [];
  const gather = (part: Expression): void => {
    expressions.push(part);
    for (const child of childrenOf(part)) gather(child);
  };
  gather(expression);
  return expressions;
}

/** Makes a list of elements that stand in one file. */
export function writtenList(
  elements: readonly Expression[],
  { type, span }: { readonly type: Type; readonly span: Span },
): Expression {
  const texts = literalTexts(elements);
  if (texts === null) return { kind: 'list', elements, type, span };
  return { kind: 'text-list', texts, spans: spansOf(elements), type, span };
}

/**
 * Returns the texts of elements, of a list of the model or of a program, if all are constant texts; null
 * otherwise, and for no elements.
 */
export function literalTexts(
  elements: readonly { readonly kind: string; readonly value?: unknown }[],
): readonly string[] | null {
  const texts: string[] = [];
  for (const { kind, value } of elements) {
    if (kind !== 'literal' || typeof value !== 'string') return null;
    texts.push(value);
  }
  return texts.length === 0 ? null : texts;
}

/** Returns the elements of a list that is written out, each made once; null for any other expression. */
export function elementsOf(expression: Expression): readonly Expression[] | null {
  if (expression.kind === 'list') return expression.elements;
  return expression.kind === 'text-list' ? memo(literals, expression, literalsOf) : null;
}

const literals = new WeakMap<TextList, readonly Expression[]>();

function literalsOf({ texts, spans }: TextList): readonly Expression[] {
  return texts.map((value, at) => ({
    kind: 'literal',
    value,
    type: enumeration([value]),
    span: spanAt(spans, at),
  }));
}
