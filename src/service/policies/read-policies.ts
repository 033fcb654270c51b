// Reads a policy directory, or files and folders named one by one, into one snapshot of a policy set's text.
// Each file is read at most once and kept, so that every later stage sees the same bytes. INVARIANT: nothing
// in this file throws for what is on disk: a file that cannot be taken is a diagnostic.

import { createHash, hash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { ListFile } from '../../language/check/messages/list-files.ts';
import { type Diagnostic, sortDiagnostics } from '../../language/diagnostic/diagnostic.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import { memo } from '../../language/value/memo.ts';
import type { PolicySources } from '../../pipeline.ts';
import {
  type DirectoryListing,
  errorReason,
  type FileStamp,
  type FoundFile,
  firstPolicyHelp,
  isInsideFolder,
  journalName,
  listDirectory,
  markOf,
  realPathWithin,
  sourceDiagnostic,
  stampOf,
} from './directory-listing.ts';
import { createReadCache, type ReadCache } from './read-cache.ts';
import { bytesOfText, createTextRoom, type TextRoom, textOverBytes } from './text-bytes.ts';

export const policyBytesMax = 1024 * 1024;
export const listBytesMax = 64 * 1024 * 1024;
const policyEnding = '.policy';

export interface ReadSources {
  /** The folder that the paths of files are relative to, links resolved; null when nothing could be read. */
  readonly root: string | null;
  readonly sources: PolicySources;
  /** All errors, sorted. With any of them the set must not be used, whatever the rest compiles to. */
  readonly diagnostics: readonly Diagnostic[];
  /** Warnings of files that look like policy files by their names, and are not read. */
  readonly notRead: readonly Diagnostic[];
  /** Returns the text of a policy file by its path, for rendering. */
  readonly sourceOf: (path: string) => string | null;
  /** The policy files that were found, whether they could be read or not. */
  readonly files: readonly FoundFile[];
  /** SHA-256 over the policy files and these list files; reads list files that have not been read yet. */
  readonly contentHash: (listFiles: readonly string[]) => string;
}

/**
 * Reads every `*.policy` file under a directory. A directory without any is an error: nothing would ever be
 * allowed. With the cache of an earlier reading, unchanged files are the same objects as before.
 */
export async function readPolicies(directory: string, cache?: ReadCache): Promise<ReadSources> {
  const { root, files, diagnostics, notRead } = await listDirectory(directory, policyEnding);
  const isEmpty = files.length === 0 && diagnostics.length === 0;
  const none = sourceDiagnostic(
    'no-policy-files',
    '',
    `there is no \`.policy\` file under \`${directory}\``,
    firstPolicyHelp,
  );
  return await snapshot({ root, files, diagnostics: isEmpty ? [none] : diagnostics, notRead }, cache);
}

/**
 * Reads the policy files among the paths, and every policy file under the directories among them. List files
 * must lie within the deepest directory that holds all paths.
 */
export async function readPaths(paths: readonly string[]): Promise<ReadSources> {
  const kinds = await Promise.all(paths.map(kindOf));
  const missing = kinds.filter((kind) => kind.error !== null);
  const usable = kinds.filter((kind) => kind.error === null);
  const root = usable.length === 0 ? null : commonFolder(usable.map(({ folder }) => folder));
  const filesByPath = new Map<string, FoundFile>();
  const notRead: Diagnostic[] = [];
  const diagnostics = missing.map(({ path, error }) =>
    sourceDiagnostic('file-unreadable', path, `\`${path}\` ${error}`),
  );
  for (const { path, folder, isDirectory } of usable) {
    const walked = isDirectory ? await listDirectory(folder, policyEnding) : await findOne(path);
    const prefix = relative(root ?? folder, folder)
      .split(sep)
      .filter((segment) => segment !== '');
    const within = (inner: string): string => [...prefix, inner].join('/');
    for (const file of walked.files) filesByPath.set(within(file.path), { ...file, path: within(file.path) });
    diagnostics.push(...walked.diagnostics);
    for (const one of walked.notRead)
      notRead.push({ ...one, span: { ...one.span, file: within(one.span.file) } });
  }
  const files = [...filesByPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const isEmpty = files.length === 0 && diagnostics.length === 0;
  const none = sourceDiagnostic(
    'no-policy-files',
    '',
    `there is no \`.policy\` file under ${paths.join(', ')}`,
    firstPolicyHelp,
  );
  return await snapshot({ root, files, diagnostics: isEmpty ? [none] : diagnostics, notRead });
}

/**
 * Returns the text of a file without its byte order mark, or a diagnostic: too large, unreadable or not
 * UTF-8.
 */
export async function readPolicyText(
  path: string,
  file: FoundFile | null = null,
  room: TextRoom = (path) => readFileSync(path),
): Promise<SourceText | Diagnostic> {
  const name = file?.path ?? path;
  if (file !== null && file.stamp.sizeBytes > policyBytesMax) return tooLarge(name);
  try {
    const bytes = room(file?.realPath ?? path, file?.stamp.sizeBytes ?? 0);
    // A file may grow between the look at its size and the read.
    if (bytes.length > policyBytesMax) return tooLarge(name);
    const text = textOverBytes(name, bytes);
    if (text !== null) return text;
    return sourceDiagnostic('file-not-utf8', name, `\`${name}\` is not valid UTF-8`);
  } catch (error) {
    return sourceDiagnostic('file-unreadable', name, `\`${name}\` ${errorReason(error)}`);
  }
}

/** What is at a path: a mark, and a stamp, which is null if the path is missing or closed. */
export interface PolicyPath {
  readonly path: string;
  readonly mark: string;
  readonly stamp: FileStamp | null;
}

/** The files of a directory without their content: cheap to take and to compare. */
export interface DirectoryMark {
  /** Changes whenever any of the files changes. */
  readonly mark: string;
  /** The policy files, and the list files that were asked for. */
  readonly places: readonly PolicyPath[];
}

export async function scanDirectory(directory: string, listFiles: readonly string[]): Promise<DirectoryMark> {
  const { root, files, diagnostics, notRead } = await listDirectory(directory, policyEnding);
  // The files rest only when the journal of their change is gone.
  const lists = [...listFiles, journalName].map((path) => policyPathOf(root, path));
  const faults = [...diagnostics, ...notRead].map(({ code, span }) => [code, span.file]);
  const mark = JSON.stringify([
    root,
    files.map(({ path, mark }) => [path, mark]),
    lists.map(({ mark }) => mark),
    faults,
  ]);
  return { mark, places: [...files, ...lists] };
}

function policyPathOf(root: string | null, path: string): PolicyPath {
  try {
    const real = realpathSync.native(join(root ?? '', path));
    const stats = statSync(real, { bigint: true });
    return { path, mark: `${real} ${markOf(stats)}`, stamp: stampOf(stats) };
  } catch (error) {
    return { path, mark: errorReason(error), stamp: null };
  }
}

async function snapshot(
  { root, files: listed, diagnostics, notRead }: DirectoryListing,
  cache = createReadCache(),
): Promise<ReadSources> {
  const read = await cache.files(listed, (files) => {
    const sizes = files.map(({ stamp }) => stamp.sizeBytes).filter((size) => size <= policyBytesMax);
    const room = createTextRoom(sizes.reduce((sum, size) => sum + size, 0));
    return (file) => readPolicyText(file.realPath, file, room);
  });
  const files = read.filter((one): one is SourceText => 'text' in one);
  const faults = sortDiagnostics([...diagnostics, ...read.filter((one): one is Diagnostic => 'code' in one)]);
  const lists = cache.lists((path) => ({
    place: policyPathOf(root, path),
    read: () => readList(root, path),
  }));
  const byPath = new Map(files.map((file) => [file.path, file]));
  return {
    root,
    sources: { files, readListFile: lists },
    diagnostics: faults,
    notRead,
    sourceOf: (path) => byPath.get(path)?.text ?? null,
    files: listed,
    contentHash: (listFiles) =>
      contentHashOf(files, faults, new Map(listFiles.map((path) => [path, lists(path)]))),
  };
}

function readList(root: string | null, path: string): ListFile {
  if (root === null) return { code: 'list-file-missing', message: `\`${path}\` does not exist` };
  try {
    if (!isInsideFolder(root, resolve(root, path))) return outside(path);
    const real = realPathWithin(root, path);
    if (real === null) return outside(path);
    return readListBytes(path, real);
  } catch (error) {
    const isMissing = errorReason(error) === 'does not exist' || errorReason(error) === 'is not a directory';
    const code = isMissing ? 'list-file-missing' : 'list-file-unreadable';
    return { code, message: `\`${path}\` ${isMissing ? 'does not exist' : errorReason(error)}` };
  }
}

function readListBytes(path: string, realPath: string): ListFile {
  const stats = statSync(realPath);
  // Opening a pipe or a device could wait for ever.
  if (!stats.isFile()) return { code: 'list-file-unreadable', message: `\`${path}\` is not a regular file` };
  const bytes = stats.size > listBytesMax ? null : readFileSync(realPath);
  if (bytes === null || bytes.length > listBytesMax) {
    return { code: 'list-file-too-large', message: `\`${path}\` is larger than 64 MiB` };
  }
  const text = decode(bytes);
  return text === null
    ? { code: 'list-file-unreadable', message: `\`${path}\` is not valid UTF-8` }
    : { text };
}

function outside(path: string): ListFile {
  return { code: 'list-file-outside', message: `\`${path}\` lies outside of the policy directory` };
}

function tooLarge(path: string): Diagnostic {
  return sourceDiagnostic('file-too-large', path, `\`${path}\` is larger than 1 MiB`);
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

interface NamedPath {
  readonly path: string;
  readonly isDirectory: boolean;
  /** The directory itself, or the one that holds the file; links resolved. */
  readonly folder: string;
  /** Why the path cannot be read; null when it can. */
  readonly error: string | null;
}

async function kindOf(path: string): Promise<NamedPath> {
  try {
    const isDirectory = (await stat(path)).isDirectory();
    return { path, isDirectory, folder: realpathSync(isDirectory ? path : dirname(path)), error: null };
  } catch (error) {
    return { path, isDirectory: false, folder: '', error: errorReason(error) };
  }
}

/** A file that the caller names is read wherever it leads: the caller chose the file, not a link. */
async function findOne(path: string): Promise<Omit<DirectoryListing, 'root'>> {
  const stats = await stat(path, { bigint: true });
  if (!stats.isFile()) {
    const failure = sourceDiagnostic('file-unreadable', path, `\`${path}\` is not a regular file`);
    return { files: [], diagnostics: [failure], notRead: [] };
  }
  const file = { path: basename(path), realPath: path, mark: markOf(stats), stamp: stampOf(stats) };
  return { files: [file], diagnostics: [], notRead: [] };
}

function commonFolder(folders: readonly string[]): string {
  const split = folders.map((folder) => folder.split(sep));
  const first = split[0] ?? [];
  const differs = first.findIndex((segment, index) => split.some((other) => other[index] !== segment));
  const shared = differs === -1 ? first : first.slice(0, differs);
  return shared.join(sep) || sep;
}

/** SHA-256 in hexadecimal over everything that a set is made from. */
export function contentHashOf(
  files: readonly SourceText[],
  diagnostics: readonly Diagnostic[],
  lists: ReadonlyMap<string, ListFile>,
): string {
  const whole = createHash('sha256');
  const add = (...parts: readonly string[]): void => void whole.update(`${JSON.stringify(parts)}\n`);
  for (const file of files) add('policy', file.path, textHash(file));
  for (const { code, span } of diagnostics) add('fault', span.file, code);
  for (const [path, list] of [...lists].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if ('text' in list) add('list', path, textHash(list));
    else add('no-list', path, list.code);
  }
  return whole.digest('hex');
}

const textHashes = new WeakMap<object, string>();

/** SHA-256 of the UTF-8 of a text, computed once: a text that was read never changes. */
function textHash(source: { readonly text: string }): string {
  return memo(textHashes, source, () => hash('sha256', bytesOfText(source), 'hex'));
}
