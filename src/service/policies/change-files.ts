// Changes several files of a policy directory together: all of them or none. The whole change is first written into
// one file beside the policies, the journal, and a directory with a journal is not read as policies. INVARIANT: a
// process that ends at any moment leaves the old files, or a journal with which the next start finishes the change.

import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { journalName } from './directory-listing.ts';
import { isFilePath } from './texts.ts';

export interface FileChange {
  /** Relative to the policy directory, with forward slashes. */
  readonly path: string;
  /** The text that the file must have; null when there must be no such file. */
  readonly before: string | null;
  /** Null to delete the file. */
  readonly after: string | null;
}

/** Why nothing was changed, as the end of a sentence. */
export class FileChangeRefusal extends Error {
  /** `not-writable`: this process can never change these files. `other`: a file or the disk is not as expected. */
  readonly kind: 'not-writable' | 'other';

  constructor(why: string, kind: FileChangeRefusal['kind'] = 'other') {
    super(why);
    this.name = 'FileChangeRefusal';
    this.kind = kind;
  }
}

/** The part of `node:fs/promises` that changes files; tests replace it to make the disk fail. */
export type Disk = Pick<typeof fs, 'mkdir' | 'open' | 'rename' | 'rm'>;

/**
 * Resolves when all files are changed. Rejects with a FileChangeRefusal before anything is changed, or after all
 * changes were undone.
 */
export async function changeFiles(
  directory: string,
  changes: readonly FileChange[],
  disk: Disk = fs,
): Promise<void> {
  const root = await checkChange(directory, changes);
  if (changes.length === 0) return;
  const journal = join(root, journalName);
  try {
    await writeWhole(journal, JSON.stringify(changes), disk);
    await applyAll(root, changes, disk);
  } catch (error) {
    await undo(root, changes, disk);
    throw refusalOf(error);
  }
  await disk.rm(journal);
}

/**
 * Resolves to the real directory when the change is possible now. Rejects with a FileChangeRefusal when a file is not
 * as the change expects it, or cannot be written.
 */
export async function checkChange(directory: string, changes: readonly FileChange[]): Promise<string> {
  const root = await rootOf(directory);
  if ((await textAt(join(root, journalName))) !== null)
    throw new FileChangeRefusal('an earlier change of the files is not finished');
  for (const change of changes) await checkPlace(root, change);
  await checkWritable(root, root);
  return root;
}

/**
 * Finishes the change whose journal is in the directory; resolves to whether there was one. Rejects with a
 * FileChangeRefusal when a file is neither as it was nor as it shall be.
 */
export async function finishFileChange(directory: string, disk: Disk = fs): Promise<boolean> {
  const root = await fs.realpath(directory).catch(() => null);
  const text = root === null ? null : await textAt(join(root, journalName));
  if (root === null || text === null) return false;
  const changes = changesIn(text);
  for (const { path } of changes) await checkFolder(root, path);
  await applyAll(root, changes, disk);
  await disk.rm(join(root, journalName));
  return true;
}

async function rootOf(directory: string): Promise<string> {
  return await fs.realpath(directory).catch(() => {
    throw new FileChangeRefusal('the policy directory is not there');
  });
}

function changesIn(text: string): readonly FileChange[] {
  try {
    const changes = JSON.parse(text) as readonly FileChange[];
    if (changes.every(({ path }) => isFilePath(path))) return changes;
  } catch {
    // Reported below.
  }
  throw new FileChangeRefusal(`\`${journalName}\` cannot be read`);
}

/** New and changed files come before deletions: a set that lacks a file is not whole. */
async function applyAll(root: string, changes: readonly FileChange[], disk: Disk): Promise<void> {
  const [written, deleted] = [
    changes.filter(({ after }) => after !== null),
    changes.filter(({ after }) => after === null),
  ];
  for (const change of [...written, ...deleted]) await apply(root, change, disk);
}

async function apply(root: string, { path, before, after }: FileChange, disk: Disk): Promise<void> {
  const place = join(root, path);
  const present = await textAt(place);
  if (present === after) return;
  if (present !== before) throw new FileChangeRefusal(`\`${path}\` has changed in the meantime`);
  if (after === null) await disk.rm(place);
  else await writeWhole(place, after, disk);
}

/** Undoes what was changed before the disk refused; a journal of the way back comes first. */
async function undo(root: string, changes: readonly FileChange[], disk: Disk): Promise<void> {
  const back = changes.map(({ path, before, after }) => ({ path, before: after, after: before }));
  const isJournal = (await textAt(join(root, journalName))) !== null;
  if (!isJournal) return;
  await writeWhole(join(root, journalName), JSON.stringify(back), disk);
  await applyAll(root, back, disk);
  await disk.rm(join(root, journalName));
}

/**
 * Checks that the file is as the change expects it, that no link leads elsewhere, and that its folder can be
 * written.
 */
async function checkPlace(root: string, { path, before }: FileChange): Promise<void> {
  if ((await textAt(join(root, path))) !== before) {
    const what = before === null ? 'is there and belongs to no set' : 'has changed since it was read';
    throw new FileChangeRefusal(`\`${path}\` ${what}: its contents would be lost`);
  }
  await checkWritable(root, await checkFolder(root, path));
}

async function checkWritable(root: string, folder: string): Promise<void> {
  await fs.access(folder, constants.W_OK).catch(() => {
    const name = relative(root, folder) || '.';
    throw new FileChangeRefusal(`the folder \`${name}\` cannot be written here`, 'not-writable');
  });
}

/** The deepest folder of the path that exists; throws when a link leads elsewhere. */
async function checkFolder(root: string, path: string): Promise<string> {
  const target = join(root, path);
  const folder = await existingFolder(dirname(target));
  const real = await fs.realpath(folder);
  const isInside = real === root || real.startsWith(`${root}${sep}`);
  const isLinked = (await fs.lstat(target).catch(() => null))?.isSymbolicLink() === true;
  if (!isInside || real !== folder || isLinked)
    throw new FileChangeRefusal(`\`${path}\` is a symbolic link: change its target`, 'not-writable');
  return folder;
}

async function existingFolder(folder: string): Promise<string> {
  return (await fs.lstat(folder).catch(() => null)) === null ? existingFolder(dirname(folder)) : folder;
}

/** The text without a byte order mark, as sets hold texts; null when there is no file. */
async function textAt(path: string): Promise<string | null> {
  try {
    return new TextDecoder().decode(await fs.readFile(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw refusalOf(error);
  }
}

/** Replaces a file by one rename, from a draft beside it whose name is never read as that of a policy. */
async function writeWhole(path: string, text: string, disk: Disk): Promise<void> {
  await disk.mkdir(dirname(path), { recursive: true });
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.new`);
  const mode = (await fs.lstat(path).catch(() => null))?.mode ?? 0o644;
  try {
    const file = await disk.open(draft, 'w', mode & 0o777);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await disk.rename(draft, path);
  } catch (error) {
    await disk.rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a rename durable, where the system can: the next rename must not reach the disk before it. */
async function syncFolder(folder: string): Promise<void> {
  const opened = await fs.open(folder, 'r').catch(() => null);
  await opened?.sync().catch(() => undefined);
  await opened?.close();
}

function refusalOf(error: unknown): Error {
  if (error instanceof FileChangeRefusal) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'an error';
  return new FileChangeRefusal(`the disk returned an error (${code}): the files are as they were`);
}
