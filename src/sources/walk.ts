// From a directory to the files under it with one ending, and to a fingerprint that is cheap to take. Dot-folders and
// node_modules are skipped, so the hidden data folders of a Kubernetes ConfigMap are read through their links alone.
// INVARIANT: no path that is returned leads out of the real directory, however links are laid.

import { type BigIntStats, realpathSync } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Code } from '../diagnostic/codes.ts';
import type { Diagnostic } from '../diagnostic/diagnostic.ts';

/** The most entries that are looked at; a directory beyond it is surely not one of policies. */
const entriesMax = 100_000;

export interface FoundFile {
  /** Relative to the directory, with forward slashes. */
  readonly path: string;
  /** Where it is on disk, links resolved. */
  readonly realPath: string;
  readonly sizeBytes: number;
  /** Changes whenever the file is written or replaced. */
  readonly mark: string;
}

export interface Walked {
  /** Links resolved; null when there is no such directory. */
  readonly root: string | null;
  /** Sorted by path. */
  readonly files: readonly FoundFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Every file under the directory whose name has the ending. Never throws: what cannot be read is a diagnostic. */
export async function walk(directory: string, ending: string): Promise<Walked> {
  const search: Search = { root: '', ending, files: [], diagnostics: [], entries: 0 };
  try {
    search.root = await realpath(directory);
    await visit(search, { path: '', realPath: search.root, above: [] });
  } catch (error) {
    const failure = sourceDiagnostic(
      'directory-unreadable',
      '',
      `the policy directory \`${directory}\` ${why(error)}`,
    );
    return { root: null, files: [], diagnostics: [failure] };
  }
  return { ...search, files: search.files.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** Whether a real path is the real root or under it. */
export function isWithin(root: string, realPath: string): boolean {
  return realPath === root || realPath.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The real path where it is inside the real root; null outside. Throws as realpath does. */
export function realPathWithin(root: string, path: string): string | null {
  const real = realpathSync(join(root, path));
  return isWithin(root, real) ? real : null;
}

/** What distinguishes one state of a file on disk from the next. */
export function markOf(stats: BigIntStats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
}

/** A diagnostic of a whole file or, with an empty path, of the directory. */
export function sourceDiagnostic(code: Code, file: string, message: string): Diagnostic {
  return { code, severity: 'error', span: { file, start: 0, end: 0 }, message };
}

/** Why the system refused, as the end of a sentence. */
export function why(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'is not a directory',
    EISDIR: 'is a directory',
    EACCES: 'may not be read by this user',
    EPERM: 'may not be read by this user',
    ELOOP: 'is a loop of links',
  };
  return reasons[code] ?? `cannot be read${code === '' ? '' : ` (${code})`}`;
}

interface Search {
  root: string;
  readonly ending: string;
  readonly files: FoundFile[];
  readonly diagnostics: Diagnostic[];
  entries: number;
}

interface Folder {
  readonly path: string;
  readonly realPath: string;
  /** Real paths of the folders on the way here: a link back to one of them is a loop. */
  readonly above: readonly string[];
}

async function visit(search: Search, folder: Folder): Promise<void> {
  const names = (await readdir(folder.realPath)).toSorted();
  search.entries += names.length;
  if (search.entries > entriesMax) return tooLarge(search);
  for (const name of names) {
    const path = folder.path === '' ? name : `${folder.path}/${name}`;
    try {
      await visitEntry(search, folder, path);
    } catch (error) {
      // A link to nothing is no loss unless it is named like a policy; a folder that stays closed may hide guards.
      const isLoss = name.endsWith(search.ending) || why(error) !== 'does not exist';
      if (isLoss) refuse(search, 'file-unreadable', path, `\`${path}\` ${why(error)}`);
    }
  }
}

async function visitEntry(search: Search, folder: Folder, path: string): Promise<void> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith('.') || name === 'node_modules') return;
  const isWanted = name.endsWith(search.ending);
  const stats = await stat(join(folder.realPath, name), { bigint: true });
  if (!stats.isDirectory() && !isWanted) return;
  const real = await realpath(join(folder.realPath, name));
  if (!isWithin(search.root, real)) {
    refuse(search, 'file-outside', path, `\`${path}\` is a link that leads out of the policy directory`);
  } else if (stats.isDirectory()) {
    const above = [...folder.above, folder.realPath];
    if (!above.includes(real)) await visit(search, { path, realPath: real, above });
  } else if (stats.isFile()) {
    search.files.push({ path, realPath: real, sizeBytes: Number(stats.size), mark: markOf(stats) });
  } else {
    refuse(search, 'file-unreadable', path, `\`${path}\` is not a regular file`);
  }
}

function tooLarge(search: Search): void {
  if (search.diagnostics.some(({ code }) => code === 'directory-too-large')) return;
  const message = `there are more than ${entriesMax} files and folders under the policy directory`;
  search.diagnostics.push(sourceDiagnostic('directory-too-large', '', message));
}

function refuse(search: Search, code: Code, path: string, message: string): void {
  search.diagnostics.push(sourceDiagnostic(code, path, message));
}
