// The declarations of a file by their kind, found once for each tree: what is asked of a set looks at those of one kind, and most
// are policies.

import type { Declaration, PolicyFile } from './tree.ts';

type Kind = Declaration['kind'];
type OfKind<K extends Kind> = Extract<Declaration, { kind: K }>;

const known = new WeakMap<PolicyFile, ReadonlyMap<Kind, readonly Declaration[]>>();

/** In the order in which they stand. */
export function declarationsOfKind<K extends Kind>(file: PolicyFile, kind: K): readonly OfKind<K>[] {
  let byKind = known.get(file);
  if (byKind === undefined) {
    byKind = Map.groupBy(file.declarations, (one) => one.kind);
    known.set(file, byKind);
  }
  // Each stands under its kind.
  return (byKind.get(kind) ?? []) as readonly OfKind<K>[];
}
