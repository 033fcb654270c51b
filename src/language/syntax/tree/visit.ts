// Visits the nodes of a tree in source order, without recursion, so that the depth of a tree has no limit.

import { writtenEntries } from './lists.ts';
import type { ExpressionNode, LiteralNode } from './tree.ts';

const literalKinds = {
  text: true,
  number: true,
  money: true,
  duration: true,
  date: true,
  instant: true,
  clock: true,
  months: true,
  boolean: true,
  null: true,
} satisfies Record<LiteralNode['kind'], true>;

export function isLiteral(expression: ExpressionNode): expression is LiteralNode {
  return Object.hasOwn(literalKinds, expression.kind);
}

/** The expressions directly inside an expression, in order. */
function childExpressions(expression: ExpressionNode): readonly ExpressionNode[] {
  if (isLiteral(expression)) return [];
  switch (expression.kind) {
    case 'path':
    case 'today':
    case 'missing':
      return [];
    case 'look-up':
      return [expression.key];
    case 'unary':
      return [expression.operand];
    case 'binary':
      return [expression.left, expression.right];
    case 'range':
      return [expression.low, expression.high];
    case 'list-literal':
    case 'text-list':
      return writtenEntries(expression);
    case 'quantifier':
      return [...expression.sources, expression.body];
    case 'has':
    case 'single-script':
      return [expression.subject];
    case 'else':
      return [expression.subject, expression.fallback];
    case 'if': {
      const { condition, whenTrue, otherwise } = expression;
      return otherwise === null ? [condition, whenTrue] : [condition, whenTrue, otherwise];
    }
    case 'call':
      return expression.args;
  }
}

/**
 * Calls `visit` with an expression and all expressions within it, outer before inner. The outermost has
 * `depth` 1. A chain of one `and` or `or` is one deep, however long.
 */
export function walkExpression(
  expression: ExpressionNode,
  visit: (expression: ExpressionNode, depth: number) => void,
): void {
  const open: { readonly expression: ExpressionNode; readonly depth: number }[] = [{ expression, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { depth } = next;
    visit(next.expression, depth);
    const children = childExpressions(next.expression);
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index]!;
      open.push({ expression: child, depth: continuesChain(next.expression, child) ? depth : depth + 1 });
    }
  }
}

export function expressionDepth(expression: ExpressionNode): number {
  let deepest = 0;
  walkExpression(expression, (_, depth) => {
    deepest = Math.max(deepest, depth);
  });
  return deepest;
}

/**
 * Whether a left operand continues a chain of `and` or `or`. Such a chain counts as flat although the tree
 * leans.
 */
function continuesChain(whole: ExpressionNode, left: ExpressionNode): boolean {
  if (whole.kind !== 'binary' || left.kind !== 'binary' || whole.left !== left) return false;
  return left.operator === whole.operator && (left.operator === 'and' || left.operator === 'or');
}
