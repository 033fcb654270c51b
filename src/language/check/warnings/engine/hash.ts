// Computes a number for each rule, to find rules of possibly equal content without keeping a text for each.

import type { Expression } from '../../../model/expression.ts';
import type { Rule } from '../../../model/policy.ts';
import type { Part } from '../../logic/polarity.ts';

/** Returns a number that is equal for rules of equal content, and rarely equal for others. */
export function hashOf(
  { effect, points }: Rule,
  parts: readonly Part[],
  literals: readonly Expression[],
): number {
  let hash = mixed(points, effect);
  for (const { node } of parts) {
    hash = mixed(hash, node.kind);
    if (node.kind === 'field') for (const step of node.steps) hash = mixed(hash, step);
    else if (node.kind === 'compare') hash = mixed(hash, node.operator);
    else if (node.kind === 'in-list') hash = mixed(hash, node.list);
  }
  for (const node of literals) {
    if (node.kind !== 'literal') continue;
    const { value } = node;
    if (typeof value === 'string') hash = mixed(hash, value);
    else if (typeof value === 'object' && value !== null && 'coefficient' in value) {
      hash = (Math.imul(hash, 31) + Number(value.coefficient)) | 0;
    }
  }
  return hash;
}

function mixed(hash: number, text: string): number {
  const length = text.length;
  if (length === 0) return Math.imul(hash, 31) | 0;
  const some = text.charCodeAt(0) + text.charCodeAt(length >> 1) * 7 + text.charCodeAt(length - 1) * 61;
  return (Math.imul(hash, 31) + some + length) | 0;
}
