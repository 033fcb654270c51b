// What all nodes of the tree have in common.

import type { Span } from '../../diagnostic/span.ts';

export interface Node {
  readonly span: Span;
}

export interface NodeOf<Kind extends string> extends Node {
  readonly kind: Kind;
}

export interface DocumentedNode<Kind extends string> extends NodeOf<Kind> {
  /** The lines of the comment that ends on the line above the node, without `#`; null for none. */
  readonly doc: string | null;
}
