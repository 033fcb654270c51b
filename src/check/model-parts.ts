// The expressions directly within an expression of the model, for passes that look for something in all of it.

import type { Expression } from '../model/expression.ts';

export function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'not':
    case 'negate':
      return [node.operand];
    case 'and':
    case 'or':
      return node.operands;
    case 'compare':
    case 'text-test':
    case 'arithmetic':
      return [node.left, node.right];
    case 'is-null':
    case 'has':
      return [node.subject];
    case 'else':
      return [node.subject, node.fallback];
    case 'in-list':
    case 'in-hours':
    case 'in-cidr':
    case 'like':
    case 'matches':
    case 'mentions':
      return [node.subject];
    case 'in-elements':
      return [node.subject, node.elements];
    case 'in-range':
      return [node.subject, node.low, node.high];
    case 'quantify':
      return [...node.sources, node.body];
    case 'list':
      return node.elements;
    case 'call':
      return node.args;
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
