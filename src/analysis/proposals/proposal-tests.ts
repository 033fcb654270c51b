// Runs the tests of a policy directory on a proposed set, and those that fail on the active set, too. The test files
// of the directory are read here; those that the proposal changes are taken from it.

import { statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { memo } from '../../language/value/memo.ts';
import { compile, createCompileCache, findErrors, type PolicySources } from '../../pipeline.ts';
import type { FileChange } from '../../service/policies/change-files.ts';
import { readPolicyText } from '../../service/policies/read-policies.ts';
import { findTests, testEnding } from '../../testing/find-test-files.ts';
import { readTestFile } from '../../testing/read-test-file.ts';
import { type FileRun, runTestFile, type SubjectOfTests } from '../../testing/run.ts';

export interface ProposalTests {
  readonly files: number;
  readonly passed: number;
  readonly failed: readonly FailedTest[];
}

export interface FailedTest {
  readonly file: string;
  /** The name of the case; null when no case of the file could be run. */
  readonly name: string | null;
  /** Whether it passes with the active policies. */
  readonly is_new: boolean;
}

const filesMax = 500;
const bytesMax = 4 * 1024 * 1024;

export interface TestedChange {
  readonly directory: string;
  readonly files: readonly FileChange[];
  readonly before: PolicySources;
  readonly after: PolicySources;
}

/** Null when the test files are too many or too large to be run here. */
export async function runProposalTests(change: TestedChange): Promise<ProposalTests | null> {
  const texts = await readTests(change.directory);
  if (texts === null) return null;
  const old = new Map(texts);
  for (const { path, after } of change.files) {
    if (!path.endsWith(testEnding)) continue;
    if (after === null) texts.delete(path);
    else texts.set(path, after);
  }
  const [runOld, runNew] = [createRunner(change.before), createRunner(change.after)];
  const results: (readonly [string, FileRun])[] = [];
  for (const [path, text] of texts) results.push([path, await runNew({ path, text })]);
  const failed: FailedTest[] = [];
  for (const [path, result] of results) {
    const names = failuresIn(result);
    const text = old.get(path);
    const known = names.length === 0 || text === undefined ? [] : failuresIn(await runOld({ path, text }));
    failed.push(...names.map((name) => ({ file: path, name, is_new: !known.includes(name) })));
  }
  const cases = results.flatMap(([, one]) => (one.failure === null ? one.cases : []));
  return {
    files: texts.size,
    passed: cases.filter(({ outcome }) => outcome === 'passed').length,
    failed,
  };
}

/** The names of the cases that do not pass; null for a file of which none could run. */
function failuresIn(result: FileRun): readonly (string | null)[] {
  if (result.failure !== null) return [null];
  return result.cases.filter(({ outcome }) => outcome !== 'passed').map(({ test }) => test.name);
}

interface TestText {
  readonly path: string;
  readonly text: string;
}

/** The returned function runs test files on one set; the policies that several files name are compiled once. */
function createRunner(sources: PolicySources): (file: TestText) => Promise<FileRun> {
  const subjects = new Map<string, SubjectOfTests>();
  const subjectOf = (paths: readonly string[]) =>
    memo(subjects, paths.toSorted().join('\0'), () => createSubject(partOf(sources, paths)));
  return (file) => runTestFile(readTestFile(file), async (paths) => subjectOf(paths));
}

function createSubject(sources: PolicySources): SubjectOfTests {
  const texts = new Map(sources.files.map(({ path, text }) => [path, text]));
  return {
    read: { diagnostics: [], sourceOf: (path) => texts.get(path) ?? null },
    compiled: compile(sources, createCompileCache(), findErrors),
    count: () => undefined,
  };
}

/** The policies at these paths alone, with their own folder as the root, as a test file names them. */
function partOf({ files, readListFile }: PolicySources, paths: readonly string[]): PolicySources {
  const isNamed = (path: string): boolean =>
    paths.some((one) => one === '.' || path === one || path.startsWith(`${one}/`));
  const folders = paths.map((one) => (one.endsWith('.policy') ? dirname(one) : one));
  const root = commonFolder(folders);
  const within = (path: string): string => (root === '.' ? path : path.slice(root.length + 1));
  return {
    files: files.filter(({ path }) => isNamed(path)).map((file) => ({ ...file, path: within(file.path) })),
    readListFile: (path) => readListFile(root === '.' ? path : `${root}/${path}`),
  };
}

function commonFolder(folders: readonly string[]): string {
  const split = folders.map((folder) => folder.split('/').filter((name) => name !== '.'));
  const first = split[0] ?? [];
  const differs = first.findIndex((name, at) => split.some((other) => other[at] !== name));
  return (differs === -1 ? first : first.slice(0, differs)).join('/') || '.';
}

async function readTests(directory: string): Promise<Map<string, string> | null> {
  const paths = await findTests([directory]);
  if (paths.length > filesMax) return null;
  const bytes = paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  if (bytes > bytesMax) return null;
  const texts = new Map<string, string>();
  for (const path of paths) {
    const read = await readPolicyText(path);
    if (!('text' in read)) return null;
    texts.set(relative(directory, path).split(sep).join('/'), read.text);
  }
  return texts;
}

/** The text of a test file of the directory; null when there is none. */
export async function testTextIn(directory: string | null, path: string): Promise<string | null> {
  if (directory === null) return null;
  const read = await readPolicyText(join(directory, path));
  return 'text' in read ? read.text : null;
}
