// Holds the policy sets of a workspace, with texts that are open and not yet saved laid over the files.
// INVARIANT: a set has the same diagnostics as `writ check` finds in the same texts.

import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { type DiagnosticsByFile, groupByFile, joinByFile } from '../../language/diagnostic/by-file.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { PolicyFile } from '../../language/syntax/tree/tree.ts';
import {
  type CheckResult,
  type CompileCache,
  checkSources,
  createCompileCache,
  findErrors,
  findErrorsIn,
} from '../../pipeline.ts';
import { createReadCache, type ReadCache } from '../../service/policies/read-cache.ts';
import { type ReadSources, readPolicies } from '../../service/policies/read-policies.ts';
import { findTests, testEnding } from '../../testing/find-test-files.ts';
import { readTextFile, withOpen } from './open-texts.ts';

/** One state of a policy set. */
export interface SetSnapshot {
  /** The absolute folder that the paths of files are relative to. */
  readonly root: string;
  readonly files: readonly PolicyFile[];
  /** Texts of policy files, by path relative to the root. */
  readonly texts: ReadonlyMap<string, SourceText>;
  readonly byFile: DiagnosticsByFile;
  /** The compiled set; null while there is an error. */
  readonly set: PolicySet | null;
  /** The last set without an error; null when there was none yet. */
  readonly lastSet: PolicySet | null;
  /** The texts of test files, by path relative to the root. */
  readonly tests: ReadonlyMap<string, SourceText>;
  /** Texts that are open and not saved, of policies and tests. */
  readonly open: readonly SourceText[];
}

interface OpenSet {
  readonly root: string;
  readonly files: ReadCache;
  readonly cache: CompileCache;
  read: ReadSources | null;
  tests: readonly SourceText[] | null;
  snapshot: SetSnapshot | null;
  lastSet: PolicySet | null;
  /** The last check of the policies; its result still holds when only a test file has changed. */
  last: {
    readonly files: readonly SourceText[];
    readonly read: ReadSources;
    readonly checked: CheckResult;
  } | null;
}

export interface OpenSets {
  /** Names the folders that hold sets. A file in none of them makes a set of the folder that it lies in. */
  setFolders(folders: readonly string[], policies: string | null): void;
  /** Sets the text of an open document. A null text closes the document, and its file counts again. */
  put(uri: string, text: string | null): void;
  /** Called when files have changed on disk. */
  forget(): void;
  /** The set of a file; null when the file is neither a policy file nor a test file. */
  snapshotOf(uri: string): Promise<SetSnapshot | null>;
  /** Snapshots of all known sets. */
  snapshots(): Promise<readonly SetSnapshot[]>;
  /**
   * Snapshots of sets that have not been checked yet, with the errors of open files only, which take the
   * least time.
   */
  openErrorsFirst(): Promise<readonly SetSnapshot[]>;
  /**
   * Snapshots of sets that have not been checked yet, with errors but without warnings, which take longer.
   */
  errorsFirst(): Promise<readonly SetSnapshot[]>;
}

export function createOpenSets(): OpenSets {
  /** Open texts by path. */
  const open: OpenTexts = new Map();
  const sets = new Map<string, OpenSet>();
  let roots: readonly string[] = [];

  const setAt = (root: string): OpenSet => {
    const openSet = sets.get(root) ?? {
      root,
      files: createReadCache(),
      cache: createCompileCache(),
      read: null,
      tests: null,
      snapshot: null,
      lastSet: null,
      last: null,
    };
    sets.set(root, openSet);
    return openSet;
  };
  const rootOf = (path: string): string =>
    roots.filter((root) => isIn(root, path)).toSorted((a, b) => b.length - a.length)[0] ?? dirname(path);
  const unchecked = (): readonly OpenSet[] => {
    for (const root of roots) setAt(root);
    return [...sets.values()].filter(({ last }) => last === null);
  };
  return {
    setFolders(folders, policies) {
      roots = folders.map((folder) => policiesIn(folder, policies));
      sets.clear();
    },
    put(uri, text) {
      const path = pathOf(uri);
      if (path === null || !isOfSet(path, roots)) return;
      if (text === null) open.delete(path);
      const root = rootOf(path);
      if (text !== null) open.set(path, { path: relative(root, path).split(sep).join('/'), text });
      setAt(root).snapshot = null;
    },
    forget() {
      for (const one of sets.values()) {
        one.read = null;
        one.tests = null;
        one.snapshot = null;
      }
    },
    async snapshotOf(uri) {
      const path = pathOf(uri);
      if (path === null || !isOfSet(path, roots)) return null;
      return await currentOf(setAt(rootOf(path)), open);
    },
    async snapshots() {
      for (const root of roots) setAt(root);
      return await Promise.all([...sets.values()].map((one) => currentOf(one, open)));
    },
    async openErrorsFirst() {
      const holdOpen = unchecked().filter(({ root }) => [...open.keys()].some((path) => isIn(root, path)));
      return await Promise.all(holdOpen.map((one) => openErrorsIn(one, open)));
    },
    async errorsFirst() {
      return await Promise.all(unchecked().map((one) => errorsIn(one, open)));
    },
  };
}

type OpenTexts = Map<string, SourceText>;

async function currentOf(one: OpenSet, open: OpenTexts): Promise<SetSnapshot> {
  if (one.snapshot !== null) return one.snapshot;
  const texts = textsWith(await readSet(one), one, open);
  one.snapshot = snapshotFrom(one, texts, checkedOf(one, texts));
  return one.snapshot;
}

/** A snapshot with the errors in open files. */
async function openErrorsIn(one: OpenSet, open: OpenTexts): Promise<SetSnapshot> {
  const texts = textsWith(await readSet(one), one, open);
  const sources = { files: texts.files, readListFile: texts.read.sources.readListFile };
  const paths = new Set(texts.open.map(({ path }) => path));
  return snapshotFrom(one, texts, findErrorsIn(paths, sources, one.cache));
}

/** A snapshot with errors only, which are found in less than half of the time that warnings take. */
async function errorsIn(one: OpenSet, open: OpenTexts): Promise<SetSnapshot> {
  const texts = textsWith(await readSet(one), one, open);
  const sources = { files: texts.files, readListFile: texts.read.sources.readListFile };
  return snapshotFrom(one, texts, findErrors(sources, one.cache));
}

/** The texts of a set, with open texts laid over them. */
interface SetTexts {
  readonly read: ReadSources;
  readonly files: readonly SourceText[];
  readonly tests: readonly SourceText[];
  readonly open: readonly SourceText[];
}

type SavedTexts = Pick<SetTexts, 'read' | 'tests'>;

async function readSet(one: OpenSet): Promise<SavedTexts> {
  const read = one.read ?? (await readPolicies(one.root, one.files));
  one.read = read;
  const tests = one.tests ?? (await readTests(one.root));
  one.tests = tests;
  return { read, tests };
}

function textsWith({ read, tests }: SavedTexts, { root }: OpenSet, open: OpenTexts): SetTexts {
  const ofSet = [...open].filter(([path]) => isIn(root, path)).map(([, text]) => text);
  const openTests = ofSet.filter(({ path }) => path.endsWith(testEnding));
  const openPolicies = ofSet.filter(({ path }) => path.endsWith('.policy'));
  return {
    read,
    files: withOpen(read.sources.files, openPolicies, () => true),
    tests: withOpen(tests, openTests, () => true),
    open: ofSet,
  };
}

function snapshotFrom(
  one: OpenSet,
  { read, files, tests, open }: SetTexts,
  checked: CheckResult,
): SetSnapshot {
  // A folder whose first policy file is not saved yet does have a policy file.
  const ofReading = read.diagnostics.filter(({ code }) => code !== 'no-policy-files' || files.length === 0);
  one.lastSet = checked.set ?? one.lastSet;
  return {
    root: one.root,
    files: checked.files,
    texts: new Map(files.map((file) => [file.path, file])),
    byFile: joinByFile(checked.byFile, groupByFile(ofReading)),
    set: checked.set,
    lastSet: one.lastSet,
    tests: new Map(tests.map((file) => [file.path, file])),
    open,
  };
}

function checkedOf(one: OpenSet, { files, read }: SetTexts): CheckResult {
  const { last, cache } = one;
  const isSame =
    last?.read === read &&
    last.files.length === files.length &&
    files.every((file, at) => file === last.files[at]);
  const checked = isSame
    ? last.checked
    : checkSources({ files, readListFile: read.sources.readListFile }, cache);
  one.last = { files, read, checked };
  return checked;
}

async function readTests(root: string): Promise<readonly SourceText[]> {
  const paths = (await findTests([root])).filter((path) => path.endsWith(testEnding));
  const texts = await Promise.all(paths.map(readTextFile));
  return paths.flatMap((path, index) => {
    const text = texts[index];
    return text == null ? [] : [{ path: relative(root, path).split(sep).join('/'), text }];
  });
}

/** Whether a file belongs to a set. A test file does if its set is known, or if policies lie beside it. */
function isOfSet(path: string, roots: readonly string[]): boolean {
  if (path.endsWith('.policy')) return true;
  if (!path.endsWith(testEnding)) return false;
  return roots.some((root) => isIn(root, path)) || holdsPolicies(dirname(path));
}

function holdsPolicies(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.endsWith('.policy'));
  } catch {
    return false;
  }
}

/** The folder of the policies, chosen as `writ check` does: the subfolder `policies` if there is one. */
function policiesIn(folder: string, policies: string | null): string {
  const policiesFolder = join(folder, policies ?? 'policies');
  const chosen = existsSync(policiesFolder) ? policiesFolder : folder;
  return existsSync(chosen) ? realpathSync(chosen) : chosen;
}

function isIn(root: string, path: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The path of an address; null when the address is not in the file system. */
export function pathOf(uri: string): string | null {
  if (!uri.startsWith('file:')) return null;
  const path = fileURLToPath(uri);
  return existsSync(path) ? realpathSync(path) : path;
}

export function uriOf({ root }: SetSnapshot, file: string): string {
  return pathToFileURL(join(root, file)).href;
}

/** The path of a document, in the form that spans use. */
export function fileNameOf({ root }: SetSnapshot, uri: string): string {
  return relative(root, pathOf(uri) ?? '')
    .split(sep)
    .join('/');
}

const documents = new WeakMap<SourceText, TextDocument>();

/** The document of a file. The same text gives the same document, so its lines are counted once. */
export function documentOf(snapshot: SetSnapshot, file: string): TextDocument {
  const source = snapshot.texts.get(file) ?? snapshot.tests.get(file) ?? { path: file, text: '' };
  const cached = documents.get(source);
  if (cached !== undefined) return cached;
  const made = TextDocument.create(uriOf(snapshot, file), 'policy', 0, source.text);
  documents.set(source, made);
  return made;
}
