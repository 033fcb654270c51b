// Finds the files under a directory that have one ending, with a cheap fingerprint of each. Dot-folders and
// node_modules are skipped, so the hidden data folders of a Kubernetes ConfigMap are read only through their
// links. INVARIANT: no returned path leads out of the real directory, however links are laid.

import { type BigIntStats, type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Code } from '../../language/diagnostic/codes.ts';
import type { Diagnostic } from '../../language/diagnostic/diagnostic.ts';

/** The most entries that are looked at; a larger directory is surely not one of policies. */
const entriesMax = 100_000;

/**
 * The file that holds a change of several files until it is finished (change-files.ts). A directory that has it is
 * not whole.
 */
export const journalName = '.writ-change.json';

export interface FoundFile {
  /** Relative to the directory, with forward slashes. */
  readonly path: string;
  /** Absolute path on disk, links resolved. */
  readonly realPath: string;
  /** Changes whenever the file is written or replaced. */
  readonly mark: string;
  readonly stamp: FileStamp;
}

/** What the file system tells about a file without reading it. */
export interface FileStamp {
  /** Stays the same while the file is written in place; changes when a rename replaces the file. */
  readonly identity: string;
  readonly sizeBytes: number;
  /** When the content was last written, in milliseconds since 1970. */
  readonly writtenAtMs: number;
  /**
   * When the file was last written, renamed or otherwise touched, in milliseconds since 1970; no program can
   * set this time back.
   */
  readonly changedAtMs: number;
}

export interface DirectoryListing {
  /** The real directory, links resolved; null when there is no such directory. */
  readonly root: string | null;
  /** The files that were found, sorted by path. */
  readonly files: readonly FoundFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** Warnings of files whose names look like ones that are read, and are not. */
  readonly notRead: readonly Diagnostic[];
}

/**
 * Every file under the directory whose name has the ending. Never throws: a file or folder that cannot be
 * read is a diagnostic. Calls are synchronous, because waiting for the disk costs a fraction of ten thousand
 * turns of the event loop.
 */
export async function listDirectory(directory: string, ending: string): Promise<DirectoryListing> {
  const search: Search = { root: '', ending, files: [], diagnostics: [], notRead: [], entries: 0 };
  try {
    search.root = realpathSync.native(directory);
    visit(search, { path: '', realPath: search.root, above: [] });
  } catch (error) {
    const reason = errorReason(error);
    const failure = sourceDiagnostic(
      'directory-unreadable',
      '',
      `the policy directory \`${directory}\` ${reason}`,
      reason === 'does not exist' ? firstPolicyHelp : undefined,
    );
    return { root: null, files: [], diagnostics: [failure], notRead: [] };
  }
  return { ...search, files: search.files.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** Whether a real path is the real root or under it. */
export function isInsideFolder(root: string, realPath: string): boolean {
  return realPath === root || realPath.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The real path when it is inside the real root; else null. Throws as realpath does. */
export function realPathWithin(root: string, path: string): string | null {
  const real = realpathSync.native(join(root, path));
  return isInsideFolder(root, real) ? real : null;
}

/** Distinguishes one state of a file on disk from the next. */
export function markOf(stats: BigIntStats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
}

export function stampOf(stats: BigIntStats): FileStamp {
  return {
    identity: `${stats.dev}:${stats.ino}`,
    sizeBytes: Number(stats.size),
    writtenAtMs: Number(stats.mtimeNs) / 1e6,
    changedAtMs: Number(stats.ctimeNs) / 1e6,
  };
}

/** A diagnostic of a whole file or, with an empty path, of the directory. */
export function sourceDiagnostic(code: Code, file: string, message: string, help?: string): Diagnostic {
  const span = { file, start: 0, end: 0 };
  return { code, severity: 'error', span, message, ...(help === undefined ? {} : { help }) };
}

/** The help of a diagnostic when there are no policies yet. */
export const firstPolicyHelp = '`writ init` makes a first policy with its tests';

/** Why the system refused, as the end of a sentence. */
export function errorReason(error: unknown): string {
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
  readonly notRead: Diagnostic[];
  entries: number;
}

interface Folder {
  readonly path: string;
  readonly realPath: string;
  /** Real paths of the folders above this one: a link back to one of them is a loop. */
  readonly above: readonly string[];
}

function visit(search: Search, folder: Folder): void {
  const entries = readdirSync(folder.realPath, { withFileTypes: true });
  search.entries += entries.length;
  if (search.entries > entriesMax) {
    tooLarge(search);
    return;
  }
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry;
    const path = folder.path === '' ? name : `${folder.path}/${name}`;
    try {
      visitEntry(search, folder, { path, entry });
    } catch (error) {
      // A broken link is ignored unless it is named like a policy. A folder that cannot be read is reported,
      // because it may hide guards.
      const isLoss = name.endsWith(search.ending) || errorReason(error) !== 'does not exist';
      if (isLoss) refuse(search, 'file-unreadable', path, `\`${path}\` ${errorReason(error)}`);
    }
  }
}

interface Entry {
  /** Relative to the directory that is walked. */
  readonly path: string;
  readonly entry: Dirent;
}

function visitEntry(search: Search, folder: Folder, { path, entry }: Entry): void {
  const { name } = entry;
  if (path === journalName) refuseUnfinished(search);
  if (!entry.isDirectory() && isLikeWanted(name, search.ending)) noteNotRead(search, path);
  if (name.startsWith('.') || name === 'node_modules') return;
  const isWanted = name.endsWith(search.ending);
  if (entry.isFile() && !isWanted) return;
  const place = join(folder.realPath, name);
  const own = lstatSync(place, { bigint: true });
  const isLink = own.isSymbolicLink();
  const stats = isLink ? statSync(place, { bigint: true }) : own;
  if (!stats.isDirectory() && !isWanted) return;
  // Only a link needs resolving: the path of the folder is resolved already.
  const real = isLink ? realpathSync.native(place) : place;
  if (!isInsideFolder(search.root, real)) {
    refuse(search, 'file-outside', path, `\`${path}\` is a link that leads out of the policy directory`);
  } else if (stats.isDirectory()) {
    const above = [...folder.above, folder.realPath];
    if (!above.includes(real)) visit(search, { path, realPath: real, above });
  } else if (stats.isFile()) {
    search.files.push({ path, realPath: real, mark: markOf(stats), stamp: stampOf(stats) });
  } else {
    refuse(search, 'file-unreadable', path, `\`${path}\` is not a regular file`);
  }
}

/**
 * Whether a name is not that of a wanted file, but close to one: a hidden file, another letter case, the copy
 * of an editor, or a further ending. What an editor keeps beside an open file is no such name, nor is a test
 * or a page about a policy.
 */
function isLikeWanted(name: string, ending: string): boolean {
  const lower = name.toLowerCase();
  if (!lower.includes(ending) || /^\.#|\.sw[a-z]$|\.test\.ya?ml$|\.md$/.test(lower)) return false;
  const isWanted = name.endsWith(ending) && !name.startsWith('.');
  const after = lower.slice(lower.lastIndexOf(ending) + ending.length);
  return !isWanted && (after === '' || /^[^a-z0-9]/.test(after));
}

function noteNotRead(search: Search, path: string): void {
  const span = { file: path, start: 0, end: 0 };
  const { ending } = search;
  search.notRead.push({
    code: 'file-not-read',
    severity: 'warning',
    span,
    message: `\`${path}\` is not read: the name of a policy file ends with \`${ending}\` and does not begin with a dot`,
    help: 'rename it, or move it out of the policy directory',
  });
}

function refuseUnfinished(search: Search): void {
  const message = `\`${journalName}\` holds a change of these files that is not finished`;
  const help = 'start the service, which finishes it; or delete that file and restore the others from Git';
  search.diagnostics.push(sourceDiagnostic('change-unfinished', '', message, help));
}

function tooLarge(search: Search): void {
  if (search.diagnostics.some(({ code }) => code === 'directory-too-large')) return;
  const message = `there are more than ${entriesMax} files and folders under the policy directory`;
  search.diagnostics.push(sourceDiagnostic('directory-too-large', '', message));
}

function refuse(search: Search, code: Code, path: string, message: string): void {
  search.diagnostics.push(sourceDiagnostic(code, path, message));
}
