// Sorts the policies of all files by name. When files changed but the names of their policies did not, the
// new policies replace the earlier ones in place and nothing is sorted.

import type { Policy } from '../../model/policy.ts';

export interface SortedPolicies {
  readonly byFile: readonly (readonly PolicyEntry[])[];
  readonly sorted: readonly Policy[];
}

interface PolicyEntry {
  readonly policy: Policy;
}

/**
 * Sorts policies by the code units of their names, the order of all names. Reuses the order of `before` if
 * possible.
 */
export function sortPolicies(byFile: SortedPolicies['byFile'], before: SortedPolicies): SortedPolicies {
  return { byFile, sorted: replaced(byFile, before) ?? sortAll(byFile) };
}

function sortAll(byFile: SortedPolicies['byFile']): readonly Policy[] {
  const all = byFile.flatMap((policies) => policies.map(({ policy }) => policy));
  return all.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Returns the policies in the order of `before`; null when the names have changed. */
function replaced(byFile: SortedPolicies['byFile'], before: SortedPolicies): readonly Policy[] | null {
  if (byFile.length !== before.byFile.length) return null;
  const sorted = [...before.sorted];
  for (const [at, policies] of byFile.entries()) {
    const then = before.byFile[at]!;
    if (policies !== then && !replaceIn(sorted, then, policies)) return null;
  }
  return sorted;
}

function replaceIn(sorted: Policy[], before: readonly PolicyEntry[], now: readonly PolicyEntry[]): boolean {
  if (before.length !== now.length) return false;
  return now.every(({ policy }, at) => {
    const old = before[at]!.policy;
    if (old === policy) return true;
    const index = insertionIndex(old.name, sorted);
    // A name that is declared twice has no place of its own.
    if (old.name !== policy.name || sorted[index] !== old) return false;
    sorted[index] = policy;
    return true;
  });
}

/** Returns the first place of the name, by binary search. */
function insertionIndex(name: string, sorted: readonly Policy[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]!.name < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
