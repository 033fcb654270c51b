// Returns the operands of any kind of expression, in reading order.

import type { Expression } from './expression.ts';

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
      return [expression.subject];
    case 'else':
      return [expression.subject, expression.fallback];
    case 'in-elements':
      return [expression.subject, expression.elements];
    case 'in-range':
      return [expression.subject, expression.low, expression.high];
    case 'quantify':
      return [...expression.sources, expression.body];
    case 'list':
      return expression.elements;
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
  const found: Expression[] = [];
  const gather = (part: Expression): void => {
    found.push(part);
    for (const child of childrenOf(part)) gather(child);
  };
  gather(expression);
  return found;
}
