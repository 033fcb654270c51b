// Writes the texts of a set that was active before back into the policy directory, in place of the active
// policies. INVARIANT: nothing is written when a file differs from the active policies, so that nothing is
// lost that the history does not hold.

import type { Store } from '../store/contract/store.ts';
import { changeFiles, type FileChange } from './change-files.ts';
import type { PolicyState } from './policy-host.ts';
import { entriesOf, type SetTexts, textOfFile } from './texts.ts';

/** Returns why no set at all can be written back, in lower case; null when a set may be. */
export function noRollBack(
  { directory, location }: Pick<PolicyState, 'directory' | 'location'>,
  replicas: Store['replicas'],
): string | null {
  if (replicas !== null)
    return 'several processes may serve this store: change the files where they come from';
  return directory === null ? `the policies come from a bundle: put the earlier one at ${location}` : null;
}

interface RollBack {
  readonly directory: string;
  /** Texts of the active policies, which the directory has to hold. */
  readonly present: SetTexts;
  readonly target: SetTexts;
}

/**
 * Resolves to the paths that were changed. Rejects with a FileChangeRefusal before anything is changed, or after
 * all changes were undone.
 */
export async function rollBackFiles({ directory, present, target }: RollBack): Promise<readonly string[]> {
  const changes = changesBetween(present, target);
  await changeFiles(directory, changes);
  return changes.map(({ path }) => path);
}

function changesBetween(present: SetTexts, target: SetTexts): readonly FileChange[] {
  const [before, after] = [textsByPath(present), textsByPath(target)];
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }))
    .filter((change) => change.before !== change.after);
}

function textsByPath(texts: SetTexts): ReadonlyMap<string, string> {
  return new Map(entriesOf(texts).map((entry) => [entry.path, textOfFile(texts, entry)]));
}
