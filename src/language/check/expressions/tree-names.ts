// The names that a tree expression refers to, without asking what they stand for.

import type { ExpressionNode } from '../../syntax/tree/tree.ts';
import { walkExpression } from '../../syntax/tree/visit.ts';

/** Roots of all paths in the expression, variables of its quantifiers included; each once, in order. */
export function namesIn(expression: ExpressionNode): readonly string[] {
  const names = new Set<string>();
  walkExpression(expression, (node) => {
    if (node.kind === 'path') names.add(node.root.text);
  });
  return [...names];
}
