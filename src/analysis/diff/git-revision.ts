// Reads the policies of a revision from git's objects without a checkout: one listing of the tree, one stream
// of its files. The files are laid out in a temporary folder, where the loader finds links and list files as
// usual. INVARIANT: nothing is written outside of that folder, whatever names a tree holds: links are written
// last.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { listBytesMax } from '../../service/policies/read-policies.ts';

/** There is no git, no such revision, or no such path in the revision. A class because it is thrown. */
export class RevisionError extends Error {}

export interface Checkout {
  /** The path of the laid-out policies. */
  readonly path: string;
  readonly remove: () => Promise<void>;
}

interface TreeEntry {
  readonly mode: string;
  readonly id: string;
  readonly sizeBytes: number;
  /** The path relative to the policies. */
  readonly path: string;
  /** Whether the entry is the requested file itself. */
  readonly isItself: boolean;
}

/**
 * Lays out the policies at a path in a revision. Throws a RevisionError when there is no git, no such
 * revision or no such path.
 */
export async function checkOut(revision: string, path: string): Promise<Checkout> {
  const location = await placeIn(path);
  const commit = await commitOf(revision, location.top);
  const treeEntries = await listTree(commit, location);
  const file = treeEntries.length === 1 && treeEntries[0]!.isItself ? treeEntries[0]!.path : null;
  // A policy file needs the list files beside it.
  const folder = { ...location, within: location.within.split('/').slice(0, -1).join('/') };
  const entries = file === null ? treeEntries : await listTree(commit, folder);
  if (entries.length === 0) throw new RevisionError(`\`${path}\` does not exist in \`${revision}\``);
  const root = await mkdtemp(join(tmpdir(), 'writ-diff-'));
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
  try {
    await writeEntries(join(root, 'policies'), entries, location.top);
  } catch (error) {
    await remove();
    throw error;
  }
  return { path: join(root, 'policies', file ?? ''), remove };
}

/** Whether git knows the name as a revision in the repository of the path. */
export async function isRevision(name: string, path: string): Promise<boolean> {
  const { top } = await placeIn(path);
  const { code } = await git(
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
    top,
  );
  return code === 0;
}

/** The last commit that two revisions have in common; a branch is compared with that commit. */
export async function mergeBase(one: string, other: string, path: string): Promise<string> {
  const { top } = await placeIn(path);
  const [a, b] = [await commitOf(one, top), await commitOf(other, top)];
  const { code, stdout } = await git(['merge-base', a, b], top);
  if (code !== 0) throw new RevisionError(`\`${one}\` and \`${other}\` have no commit in common`);
  return stdout.toString().trim();
}

interface RepositoryLocation {
  /** The top folder of the work tree. */
  readonly top: string;
  /** The path from the top folder, with forward slashes; empty for the top itself. */
  readonly within: string;
}

/** Finds a path in its repository. The path need not exist now. */
async function placeIn(path: string): Promise<RepositoryLocation> {
  const full = resolve(path);
  let folder = full;
  while (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) folder = dirname(folder);
  const { code, stdout } = await git(['rev-parse', '--show-toplevel'], folder);
  if (code !== 0)
    throw new RevisionError(
      `\`${path}\` is in no git repository; --old and --new compare two folders without one`,
    );
  const top = stdout.toString().replace(/\r?\n$/, '');
  const real = join(realpathSync(folder), relative(folder, full));
  const within = relative(realpathSync(top), real).split(sep).join('/');
  return { top, within };
}

async function commitOf(revision: string, top: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
  const { code, stdout } = await git(args, top);
  if (code !== 0) throw new RevisionError(`git knows no revision \`${revision}\` here`);
  return stdout.toString().trim();
}

async function listTree(commit: string, { top, within }: RepositoryLocation): Promise<readonly TreeEntry[]> {
  const plain = within === '' ? [] : ['--', within];
  const { code, stdout, stderr } = await git(
    ['ls-tree', '-r', '-z', '-l', '--full-tree', commit, ...plain],
    top,
  );
  if (code !== 0) throw new RevisionError(`git cannot list \`${within}\`: ${stderr.trim()}`);
  return stdout
    .toString()
    .split('\0')
    .filter((line) => line !== '')
    .flatMap((line) => entryOf(line, within));
}

/**
 * Reads a line `MODE TYPE ID SIZE<TAB>PATH`. Modules of other repositories are left out, as in a fresh clone.
 */
function entryOf(line: string, within: string): readonly TreeEntry[] {
  const tab = line.indexOf('\t');
  const [mode = '', type, id = '', size] = line.slice(0, tab).split(/ +/);
  const full = line.slice(tab + 1);
  const isItself = full === within;
  const path = isItself
    ? (full.split('/').at(-1) ?? '')
    : within === ''
      ? full
      : full.slice(within.length + 1);
  const segments = path.split('/');
  const isOdd = segments.some((one) => one === '' || one === '.' || one === '..');
  // The loader skips these folders, too.
  const isPassedOver = segments.some((one) => one === 'node_modules' || one.startsWith('.'));
  return type !== 'blob' || isOdd || isPassedOver
    ? []
    : [{ mode, id, sizeBytes: Number(size), path, isItself }];
}

const linkMode = '120000';

async function writeEntries(root: string, entries: readonly TreeEntry[], top: string): Promise<void> {
  await mkdir(root, { recursive: true });
  const withinLimit = entries.filter(({ sizeBytes }) => sizeBytes <= listBytesMax);
  const contents = await readBlobs(
    withinLimit.map(({ id }) => id),
    top,
  );
  const absolutePathOf = ({ path }: TreeEntry): string => join(root, path);
  const folders = new Set(entries.map((entry) => dirname(absolutePathOf(entry))));
  for (const folder of folders) await mkdir(folder, { recursive: true });
  for (const entry of entries.filter(({ mode }) => mode !== linkMode)) {
    const content = contents.get(entry.id);
    await writeFile(absolutePathOf(entry), content ?? '');
    // A file that is too large for the loader gets its size but no content.
    if (content === undefined) await truncate(absolutePathOf(entry), entry.sizeBytes);
  }
  for (const entry of entries.filter(({ mode }) => mode === linkMode))
    await symlink(contents.get(entry.id)?.toString() ?? '', absolutePathOf(entry));
}

/**
 * Reads the answers of one `git cat-file --batch`: a line with id, type and size, the content, and a line
 * break.
 */
async function readBlobs(ids: readonly string[], top: string): Promise<ReadonlyMap<string, Buffer>> {
  const uniqueIds = [...new Set(ids)];
  const { code, stdout, stderr } = await git(['cat-file', '--batch'], top, `${uniqueIds.join('\n')}\n`);
  if (code !== 0) throw new RevisionError(`git cannot read its objects: ${stderr.trim()}`);
  const blobs = new Map<string, Buffer>();
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(10, at);
    const [id = '', type, size] = stdout.toString('utf8', at, end).split(' ');
    if (type !== 'blob') throw new RevisionError(`git has no content for ${id}: is the clone a partial one?`);
    const start = end + 1;
    blobs.set(id, stdout.subarray(start, start + Number(size)));
    at = start + Number(size) + 1;
  }
  return blobs;
}

interface GitDone {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

async function git(args: readonly string[], cwd: string, input = ''): Promise<GitDone> {
  const child = spawn('git', ['-c', 'core.quotePath=false', ...args], {
    cwd,
    env: { ...process.env, LC_ALL: 'C' },
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { code: code ?? 1, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new RevisionError('git is not installed; --old and --new compare two folders without it');
    throw error;
  }
}
