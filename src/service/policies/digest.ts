// Computes the digest of a policy set that names it in every record: SHA-256 in hexadecimal over the names of
// all declarations, each with the digest of its meaning, list files included. INVARIANT: the digest depends
// on content alone: equal sets have equal digests, however files and declarations are arranged.

import { createHash } from 'node:crypto';
import { canonicalMeaning } from '../../language/model/canonical.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { memo } from '../../language/value/memo.ts';

export function digest(set: PolicySet): string {
  const hash = createHash('sha256');
  for (const [section, declarations] of Object.entries(sectionsOf(set))) {
    hash.update(`${section} ${declarations.length}\n`);
    hash.update(inOrder(declarations).map(lineOf).join(''));
  }
  return hash.digest('hex');
}

/** The names of all declarations, each with the text of its meaning: all that the digest is computed over. */
export type DigestedSet = Readonly<
  Record<keyof PolicySet, readonly { readonly name: string; readonly meaning: string }[]>
>;

export function digestedSet(set: PolicySet): DigestedSet {
  const sections = Object.entries(sectionsOf(set)).map(([section, declarations]) => [
    section,
    inOrder(declarations).map(([name, declaration]) => ({ name, meaning: canonicalMeaning(declaration) })),
  ]);
  return Object.fromEntries(sections) as DigestedSet;
}

type Declarations = readonly (readonly [name: string, declaration: object])[];

function sectionsOf(set: PolicySet): Readonly<Record<keyof PolicySet, Declarations>> {
  const named = (all: readonly { readonly name: string }[]): Declarations =>
    all.map((one) => [one.name, one]);
  return {
    actions: [...set.actions],
    lists: [...set.lists],
    tables: [...set.tables],
    hours: [...set.hours],
    lets: [...set.lets],
    meters: [...set.meters],
    approvers: [...set.approvers],
    policies: named(set.policies),
    guarantees: named(set.guarantees),
  };
}

/** Sorts declarations by name; most are in order already. */
function inOrder(declarations: Declarations): Declarations {
  const isInOrder = declarations.every(([name], at) => at === 0 || declarations[at - 1]![0] < name);
  return isInOrder ? declarations : declarations.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * A declaration never changes, and compiling keeps the object of a declaration whose text has not changed.
 */
const lines = new WeakMap<object, string>();

function lineOf([name, declaration]: Declarations[number]): string {
  return memo(lines, declaration, () => {
    const meaning = createHash('sha256').update(canonicalMeaning(declaration)).digest('base64url');
    return `${name.length} ${name} ${meaning}\n`;
  });
}
