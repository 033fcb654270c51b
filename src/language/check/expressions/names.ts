// From the trees of all files to one namespace: each name once, none of them taken by the language. Where a name is declared twice
// the first declaration stands, in the order of files and lines.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import { builtins } from '../../model/builtins.ts';
import { gates } from '../../model/decision.ts';
import type { PolicyFile } from '../../syntax/tree/tree.ts';
import type { NamedDeclaration } from '../incremental/environment.ts';
import { nameDeclaredTwice, nameReserved } from '../messages/errors.ts';

/** Roots of paths that stand in every expression. */
export const namesInScope = ['payload', 'agent', 'action', 'request', 'now', 'risk'] as const;
/** The approval group that is the agent's control owner. */
export const ownerGroup = 'owner';

/** Why a name may not be declared, or null. */
export function whyReserved(name: string): string | null {
  return reserved.get(name) ?? null;
}

const reserved: ReadonlyMap<string, string> = new Map([
  ...namesInScope.map((name) => [name, 'stands for a part of every request'] as const),
  ...Object.keys(builtins).map((name) => [name, 'is a function'] as const),
  ...gates.map((name) => [name, 'is the name of a built-in decision'] as const),
  [ownerGroup, "is the agent's control owner"] as const,
]);

/** Whether a name is one of the built-in decisions. */
export function isGate(name: string): boolean {
  return gates.some((gate) => gate === name);
}

function* declarationsOf(files: readonly PolicyFile[]): Generator<NamedDeclaration> {
  for (const { declarations } of files) {
    for (const declaration of declarations) if (declaration.kind !== 'action') yield declaration;
  }
}

/** All declarations but actions, by name. */
export function collectNames(
  files: readonly PolicyFile[],
  report: (diagnostic: Diagnostic) => void,
): ReadonlyMap<string, NamedDeclaration> {
  const declarations = new Map<string, NamedDeclaration>();
  for (const declaration of declarationsOf(files)) {
    if (declaration.name.text === '') continue;
    const { name } = declaration;
    const earlier = declarations.get(name.text);
    if (earlier !== undefined) report(nameDeclaredTwice(name, earlier.name));
    else declarations.set(name.text, declaration);
    const reason = whyReserved(name.text);
    if (reason !== null) report(nameReserved(name, reason));
  }
  return declarations;
}
