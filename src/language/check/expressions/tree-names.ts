// Finds the names that a tree expression refers to, without resolving them.

import type { ExpressionNode } from '../../syntax/tree/tree.ts';
import { walkExpression } from '../../syntax/tree/visit.ts';

/**
 * Returns the roots of all paths in the expression, including variables of its quantifiers; each once, in
 * order.
 */
export function namesIn(expression: ExpressionNode): readonly string[] {
  const names = new Set<string>();
  walkExpression(expression, (node) => {
    if (node.kind === 'path') names.add(node.root.text);
  });
  return [...names];
}
