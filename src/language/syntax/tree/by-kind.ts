// Finds the declarations of a file by their kind, once for each tree. Most questions about a policy set
// concern declarations of one kind, and most declarations are policies.

import type { Declaration, PolicyFile } from './tree.ts';

type Kind = Declaration['kind'];
type OfKind<K extends Kind> = Extract<Declaration, { kind: K }>;

const byFile = new WeakMap<PolicyFile, ReadonlyMap<Kind, readonly Declaration[]>>();

/** The declarations of one kind, in the order of the file. */
export function declarationsOfKind<K extends Kind>(file: PolicyFile, kind: K): readonly OfKind<K>[] {
  let byKind = byFile.get(file);
  if (byKind === undefined) {
    byKind = Map.groupBy(file.declarations, (one) => one.kind);
    byFile.set(file, byKind);
  }
  // Each declaration stands in the map under its own kind.
  return (byKind.get(kind) ?? []) as readonly OfKind<K>[];
}
