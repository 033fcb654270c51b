// Turns a part of a program into its form for a request whose payload and time are unknown. A field is
// treated like a signed field in an unsigned request, and `now` is absent. INVARIANT: the part keeps its
// meaning for a request whose fields and time are unknown.

import type { Condition, PlannedLet, ReadFrom, Term } from './program.ts';

export function conditionOfUnknown(condition: Condition): Condition {
  return unknownIn(condition);
}

export function letsOfUnknown(lets: readonly PlannedLet[]): readonly PlannedLet[] {
  return lets.map(({ id, value }) => ({ id, value: unknownIn(value) }));
}

/**
 * Walks nodes of every kind alike, because programs are plain data. Every node but a constant may be unknown
 * afterwards.
 */
function unknownIn<T>(part: T): T {
  return walk(part) as T;
}

function walk(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(walk);
  if (typeof part !== 'object' || part === null) return part;
  if (isReadFrom(part)) return part.root === 'payload' ? { ...part, isSigned: true } : part;
  if (!isNode(part)) return part;
  if (part.kind === 'literal' || part.kind === 'constant') return part;
  if (isOfTime(part)) return { ...part, kind: 'absent', mayBeUnknown: true };
  const walked = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, walk(value)]));
  return { ...walked, mayBeUnknown: true };
}

function isOfTime(node: Condition | Term): boolean {
  return node.kind === 'now' || (node.kind === 'call' && node.builtin === 'today');
}

function isReadFrom(part: object): part is ReadFrom {
  return 'root' in part && 'steps' in part;
}

function isNode(part: object): part is Condition | Term {
  return 'kind' in part && 'mayBeUnknown' in part;
}
