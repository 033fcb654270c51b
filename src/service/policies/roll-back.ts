// The texts of a set that was active back into the policy directory, in place of those of the active policies. INVARIANT: nothing is
// written where a file is not as the active policies have it, so that nothing is lost that the history does not hold; and each
// file is the old one or the new one whole, never a part.

import { constants } from 'node:fs';
import { access, lstat, mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Store } from '../store/contract/store.ts';
import type { PolicyState } from './policy-host.ts';
import { entriesOf, type SetTexts, textOfFile } from './texts.ts';

/** Why nothing was written, as the end of a sentence about a roll-back. */
export class RollBackRefused extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'RollBackRefused';
  }
}

/** Why no set can be written back, whichever it is; in lower case, null where one may be. */
export function noRollBack(
  { directory, place }: Pick<PolicyState, 'directory' | 'place'>,
  replicas: Store['replicas'],
): string | null {
  if (replicas !== null)
    return 'several processes may serve this store: change the files where they come from';
  return directory === null ? `the policies come from a bundle: put the earlier one at ${place}` : null;
}

interface RollBack {
  readonly directory: string;
  /** Of the active policies, which the directory has to hold. */
  readonly present: SetTexts;
  readonly wanted: SetTexts;
}

interface Change {
  readonly path: string;
  /** Null where the set has no such file. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Yields the paths that were changed. Rejects with RollBackRefused before anything was. */
export async function rollBackFiles({ directory, present, wanted }: RollBack): Promise<readonly string[]> {
  const root = await realpath(directory).catch(() => {
    throw new RollBackRefused('the policy directory is not there');
  });
  const changes = changesBetween(present, wanted);
  for (const change of changes) await checkPlace(root, change);
  const drafts = new Map<string, string>();
  try {
    for (const { path, after } of changes)
      if (after !== null) drafts.set(path, await writeDraft(join(root, path), after));
    // Files that come before those that go: a set that lacks one is not whole.
    for (const [path, draft] of drafts) await rename(draft, join(root, path));
    for (const { path, after } of changes) if (after === null) await rm(join(root, path));
  } catch (error) {
    await putBack(root, changes);
    throw refusalOf(error);
  } finally {
    for (const draft of drafts.values()) await rm(draft, { force: true });
  }
  return changes.map(({ path }) => path);
}

function changesBetween(present: SetTexts, wanted: SetTexts): readonly Change[] {
  const [before, after] = [textsByPath(present), textsByPath(wanted)];
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }))
    .filter((change) => change.before !== change.after);
}

function textsByPath(texts: SetTexts): ReadonlyMap<string, string> {
  return new Map(entriesOf(texts).map((entry) => [entry.path, textOfFile(texts, entry)]));
}

/** That the file is as the active policies have it, no link leads elsewhere, and its folder can be written. */
async function checkPlace(root: string, { path, before }: Change): Promise<void> {
  const place = join(root, path);
  const found = await textAt(place);
  if (found !== before) {
    const what = before === null ? 'is there and belongs to no set' : 'has changed since it was read';
    throw new RollBackRefused(`\`${path}\` ${what}: what it holds would be lost`);
  }
  const folder = await existingFolder(dirname(place));
  const real = await realpath(folder);
  const isInside = real === root || real.startsWith(`${root}${sep}`);
  const isLinked = (await lstat(place).catch(() => null))?.isSymbolicLink() === true;
  if (!isInside || real !== folder || isLinked)
    throw new RollBackRefused(`\`${path}\` is reached by a link: change it where it comes from`);
  await access(folder, constants.W_OK).catch(() => {
    throw new RollBackRefused(`the folder \`${relative(root, folder) || '.'}\` cannot be written here`);
  });
}

async function existingFolder(folder: string): Promise<string> {
  return (await lstat(folder).catch(() => null)) === null ? existingFolder(dirname(folder)) : folder;
}

/** Without a byte order mark, as sets hold texts; null where there is no file. */
async function textAt(place: string): Promise<string | null> {
  try {
    return new TextDecoder().decode(await readFile(place));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw refusalOf(error);
  }
}

/** Writes a text beside its place, under a name that nobody takes for a policy. */
async function writeDraft(place: string, text: string): Promise<string> {
  const draft = join(dirname(place), `.${basename(place)}.${process.pid}.new`);
  await mkdir(dirname(place), { recursive: true });
  const mode = (await lstat(place).catch(() => null))?.mode ?? 0o644;
  const file = await open(draft, 'w', mode & 0o777);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return draft;
}

/** What was changed until the disk refused. */
async function putBack(root: string, changes: readonly Change[]): Promise<void> {
  for (const { path, before, after } of changes) {
    const place = join(root, path);
    if (after === null ? (await textAt(place)) !== null : (await textAt(place)) !== after) continue;
    if (before === null) await rm(place, { force: true });
    else await rename(await writeDraft(place, before), place);
  }
}

function refusalOf(error: unknown): Error {
  if (error instanceof RollBackRefused) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'an error';
  return new RollBackRefused(`the disk refused it (${code}): the files are as they were`);
}
