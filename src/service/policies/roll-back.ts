// Writes the texts of a set that was active before back into the policy directory, in place of the active
// policies. INVARIANT: nothing is written when a file differs from the active policies, so that nothing is
// lost that the history does not hold. Each file is the old one or the new one whole, never a part.

import { constants } from 'node:fs';
import { access, lstat, mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Store } from '../store/contract/store.ts';
import type { PolicyState } from './policy-host.ts';
import { entriesOf, type SetTexts, textOfFile } from './texts.ts';

/** Why nothing was written, as the end of a sentence about a roll-back. */
export class RollBackRefusal extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'RollBackRefused';
  }
}

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

interface Change {
  readonly path: string;
  /** The file's text in the active policies; null when they have no such file. */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Resolves to the paths that were changed. Rejects with RollBackRefused before anything is changed, or after
 * all changes were undone.
 */
export async function rollBackFiles({ directory, present, target }: RollBack): Promise<readonly string[]> {
  const root = await realpath(directory).catch(() => {
    throw new RollBackRefusal('the policy directory is not there');
  });
  const changes = changesBetween(present, target);
  for (const change of changes) await checkPlace(root, change);
  const drafts = new Map<string, string>();
  try {
    for (const { path, after } of changes)
      if (after !== null) drafts.set(path, await writeDraft(join(root, path), after));
    // New and changed files are put in place before old files are removed: a set that lacks a file is not
    // whole.
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

function changesBetween(present: SetTexts, target: SetTexts): readonly Change[] {
  const [before, after] = [textsByPath(present), textsByPath(target)];
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }))
    .filter((change) => change.before !== change.after);
}

function textsByPath(texts: SetTexts): ReadonlyMap<string, string> {
  return new Map(entriesOf(texts).map((entry) => [entry.path, textOfFile(texts, entry)]));
}

/**
 * Checks that the file is as the active policies have it, that no link leads elsewhere, and that its folder
 * can be written.
 */
async function checkPlace(root: string, { path, before }: Change): Promise<void> {
  const target = join(root, path);
  const fileText = await textAt(target);
  if (fileText !== before) {
    const what = before === null ? 'is there and belongs to no set' : 'has changed since it was read';
    throw new RollBackRefusal(`\`${path}\` ${what}: its contents would be lost`);
  }
  const folder = await existingFolder(dirname(target));
  const real = await realpath(folder);
  const isInside = real === root || real.startsWith(`${root}${sep}`);
  const isLinked = (await lstat(target).catch(() => null))?.isSymbolicLink() === true;
  if (!isInside || real !== folder || isLinked)
    throw new RollBackRefusal(`\`${path}\` is a symbolic link: change its target`);
  await access(folder, constants.W_OK).catch(() => {
    throw new RollBackRefusal(`the folder \`${relative(root, folder) || '.'}\` cannot be written here`);
  });
}

async function existingFolder(folder: string): Promise<string> {
  return (await lstat(folder).catch(() => null)) === null ? existingFolder(dirname(folder)) : folder;
}

/** The text without a byte order mark, as sets hold texts; null when there is no file. */
async function textAt(path: string): Promise<string | null> {
  try {
    return new TextDecoder().decode(await readFile(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw refusalOf(error);
  }
}

/** Writes a text beside its place, under a name that is never read as a policy. */
async function writeDraft(path: string, text: string): Promise<string> {
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.new`);
  await mkdir(dirname(path), { recursive: true });
  const mode = (await lstat(path).catch(() => null))?.mode ?? 0o644;
  const file = await open(draft, 'w', mode & 0o777);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return draft;
}

/** Undoes the changes that were made before the disk refused one. */
async function putBack(root: string, changes: readonly Change[]): Promise<void> {
  for (const { path, before, after } of changes) {
    const target = join(root, path);
    if (after === null ? (await textAt(target)) !== null : (await textAt(target)) !== after) continue;
    if (before === null) await rm(target, { force: true });
    else await rename(await writeDraft(target, before), target);
  }
}

function refusalOf(error: unknown): Error {
  if (error instanceof RollBackRefusal) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'an error';
  return new RollBackRefusal(`the disk returned an error (${code}): the files are as they were`);
}
