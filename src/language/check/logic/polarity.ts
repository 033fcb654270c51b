// How a condition depends on its parts: whether it becomes true when a part does, when the part becomes
// false, or neither for sure. Lets are followed, each once for each direction.

import { childrenOf } from '../../model/children.ts';
import type { Expression } from '../../model/expression.ts';
import type { ValueOfLet } from './constants.ts';
import { trimmedList } from './list-forms.ts';

/** 1: the condition becomes true with the part; -1: against the part; 0: neither for sure. */
export type Polarity = 1 | -1 | 0;

export interface Part {
  readonly node: Expression;
  readonly polarity: Polarity;
}

/**
 * Returns all parts of a condition except literals, the condition itself first. `valueOfLet` gives the
 * expression of a let by its id.
 */
export function partsWithPolarity(condition: Expression, valueOfLet: ValueOfLet): readonly Part[] {
  const parts: Part[] = [];
  let seen: Set<string> | null = null;
  const pending: Part[] = [{ node: condition, polarity: 1 }];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const { node, polarity } = part;
    parts.push(part);
    if (node.kind === 'let') {
      seen ??= new Set();
      const key = `${polarity} ${node.id}`;
      const value = valueOfLet(node.id);
      if (!seen.has(key) && value !== null && value !== undefined) pending.push({ node: value, polarity });
      seen.add(key);
    }
    const within = polarityWithin(node, polarity);
    const children = childrenOf(node);
    for (let at = children.length - 1; at >= 0; at--) {
      const inner = children[at]!;
      if (inner.kind !== 'literal') pending.push({ node: inner, polarity: within });
    }
  }
  return trimmedList(parts);
}

function polarityWithin(node: Expression, polarity: Polarity): Polarity {
  switch (node.kind) {
    case 'and':
    case 'or':
      return polarity;
    case 'not':
      return -polarity as Polarity;
    case 'quantify':
      return node.quantifier === 'some' || node.quantifier === 'every' ? polarity : 0;
    default:
      return 0;
  }
}
