// Collects the names in the trees of all files into one namespace. Names that are declared twice, and names
// that the language reserves, are reported. Of two declarations with one name the first counts, in the order
// of files and lines.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import { builtins } from '../../model/builtins.ts';
import { gates } from '../../model/decision.ts';
import { delegationPolicy } from '../../model/delegation.ts';
import { declarationsOfKind } from '../../syntax/tree/by-kind.ts';
import type { PolicyFile } from '../../syntax/tree/tree.ts';
import type { Declarations, NamedDeclaration } from '../incremental/environment.ts';
import type { CollectedNames } from '../incremental/state.ts';
import { nameDeclaredTwice, nameReserved } from '../messages/errors.ts';

/** Roots of paths that are available in every expression. */
export const namesInScope = ['payload', 'agent', 'action', 'request', 'now', 'risk'] as const;
/** The approval group that is the agent's control owner. */
export const ownerGroup = 'owner';

/** Returns why a name may not be declared; null when it may. */
export function whyReserved(name: string): string | null {
  return reserved.get(name) ?? null;
}

const reserved: ReadonlyMap<string, string> = new Map([
  ...namesInScope.map((name) => [name, 'stands for a part of every request'] as const),
  ...Object.keys(builtins).map((name) => [name, 'is a function'] as const),
  ...gates.map((name) => [name, 'is the name of a built-in decision'] as const),
  [ownerGroup, "is the agent's control owner"] as const,
  [delegationPolicy, 'names what delegations add to policies'] as const,
]);

/** Whether a name is one of the built-in decisions. */
export function isGate(name: string): boolean {
  return gates.some((gate) => gate === name);
}

/**
 * Collects the names of all files. Consumes `before`, the result of the last check, and then reads only files
 * that have changed.
 */
export function collectNames(files: readonly PolicyFile[], before: CollectedNames | null): CollectedNames {
  return (before && followChanges(files, before)) ?? collectAll(files);
}

function collectAll(files: readonly PolicyFile[]): CollectedNames {
  const byName = new Map<string, NamedDeclaration>();
  const problems: Diagnostic[] = [];
  for (const declaration of files.flatMap(namedIn)) {
    const { name } = declaration;
    const earlier = byName.get(name.text);
    if (earlier !== undefined) problems.push(nameDeclaredTwice(name, earlier.name));
    else byName.set(name.text, declaration);
    const reason = whyReserved(name.text);
    if (reason !== null) problems.push(nameReserved(name, reason));
  }
  return { files, byName, problems };
}

/**
 * Returns the names after the changes. Null when any name is or was declared twice or is reserved: the order
 * of all declarations then decides which one counts.
 */
function followChanges(files: readonly PolicyFile[], before: CollectedNames): CollectedNames | null {
  const { byName, problems } = before;
  if (problems.length > 0) return null;
  const [now, then] = [new Set(files), new Set(before.files)];
  for (const file of then) if (!now.has(file)) for (const { name } of namedIn(file)) byName.delete(name.text);
  for (const file of now) {
    if (then.has(file)) continue;
    for (const declaration of namedIn(file)) {
      const { text } = declaration.name;
      if (byName.has(text) || whyReserved(text) !== null) return null;
      byName.set(text, declaration);
    }
  }
  return { files, byName, problems };
}

function namedIn({ declarations }: PolicyFile): readonly NamedDeclaration[] {
  return declarations.filter((one) => one.kind !== 'action').filter(({ name }) => name.text !== '');
}

/**
 * Returns declarations by name, and those of one kind in the order of files. Of several declarations with one
 * name only the first is returned.
 */
export function declarationsOf({ files, byName }: CollectedNames): Declarations {
  return {
    get: (name) => byName.get(name),
    ofKind: (kind) => {
      const all = files.flatMap((file) => declarationsOfKind(file, kind));
      return all.filter((one: NamedDeclaration) => byName.get(one.name.text) === one);
    },
  };
}
