// The names that a tree expression refers to, without asking what they stand for.

import type { Expression } from '../syntax/tree.ts';

/** Roots of all paths in the expression, variables of its quantifiers included; each once, in order. */
export function namesIn(expression: Expression): readonly string[] {
  const names = new Set<string>();
  const pending: Expression[] = [expression];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === 'path') names.add(node.root.text);
    pending.push(...partsOf(node));
  }
  return [...names];
}

/** The expressions directly within an expression, from left to right. */
export function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'unary':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'range':
      return [node.low, node.high];
    case 'list-literal':
      return node.entries;
    case 'quantifier':
      return [...node.sources, node.body];
    case 'has':
      return [node.subject];
    case 'else':
      return [node.subject, node.fallback];
    case 'call':
      return node.args;
    case 'path':
    case 'today':
    case 'missing':
    case 'text':
    case 'number':
    case 'money':
    case 'duration':
    case 'date':
    case 'instant':
    case 'clock':
    case 'boolean':
    case 'null':
      return [];
  }
}
