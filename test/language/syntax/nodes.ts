// Views of a tree as plain data, for laws about all nodes: every node with a span, and the tree without
// places.

import { type Span, spanKeys } from '../../../src/language/diagnostic/span.ts';

export interface AnyNode {
  readonly kind?: string;
  readonly span: Span;
  readonly text?: unknown;
  readonly isQuoted?: boolean;
}

/** All nodes below a value, the value included. */
export function nodesOf(value: unknown): readonly AnyNode[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(nodesOf);
  return 'span' in value ? [value as AnyNode, ...inner] : inner;
}

const placeKeys: ReadonlySet<string> = new Set([...spanKeys, 'ownLine', 'afterBlank']);

/** The same data without spans and without the places of comments. */
export function withoutPlaces(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPlaces);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !placeKeys.has(key));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutPlaces(inner)]));
}
