// Lists the children of a condition or term, for walks that treat most nodes alike.

import type { Condition, Term } from './program.ts';

/**
 * Returns the nodes directly below a node, in order. The value of a let is not below the places that read the
 * let.
 */
export function conditionChildren(node: Condition | Term): readonly (Condition | Term)[] {
  switch (node.kind) {
    case 'constant':
    case 'has':
    case 'is-null':
    case 'literal':
    case 'absent':
    case 'read':
    case 'fact':
    case 'now':
    case 'risk':
    case 'let':
    case 'text-list':
      return [];
    case 'meter':
      return typeof node.currency === 'object' && node.currency !== null ? [node.currency] : [];
    case 'flag':
      return [node.term];
    case 'truth':
      return [node.condition];
    case 'not':
    case 'negate':
      return [node.operand];
    case 'and':
    case 'or':
      return node.operands;
    case 'compare':
    case 'same':
    case 'text-test':
    case 'arithmetic':
      return [node.left, node.right];
    case 'in-elements':
      return [node.subject, node.elements];
    case 'in-list':
    case 'in-table':
    case 'in-hours':
    case 'in-cidr':
    case 'single-script':
    case 'list-prefix':
    case 'like':
    case 'matches':
    case 'mentions-list':
    case 'mentions-words':
      return [node.subject];
    case 'else':
      return [node.subject, node.fallback];
    case 'some':
    case 'every':
    case 'count':
    case 'sum':
      return [...node.sources, node.body];
    case 'list':
      return node.elements;
    case 'call':
      return node.args;
    case 'column':
      return [node.key];
    case 'has-cell':
      return [node.cell];
    case 'if':
      return [node.condition, node.whenTrue, node.otherwise];
  }
}
