// Computes the mutation score of policies and their tests: how many mutants of the policies some test tells
// from the original. A mutant does not count if it does not compile, or if no request can tell it from the
// original or an earlier mutant.

import { createHash } from 'node:crypto';
import { join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { position } from '../../language/diagnostic/render.ts';
import { authorize } from '../../language/spec/authorize.ts';
import {
  type CompileCache,
  type CompileResult,
  compile,
  createCompileCache,
  findErrors,
  type PolicySources,
} from '../../pipeline.ts';
import { differences } from '../expectation.ts';
import type { TestedPolicies } from '../run.ts';
import { caseFacts } from '../sequence.ts';
import type { TestCase } from '../test-file.ts';
import { isDecidedAlike } from './decided-alike.ts';
import { applyEdits } from './edit.ts';
import { meaningOf } from './meaning.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { type Hunk, hunkOf } from './unified-diff.ts';

export interface Mutation {
  /** Sorted by path; files without a mutant are left out. */
  readonly files: readonly FileMutation[];
  readonly killed: number;
  readonly survived: number;
  /** The share of killed mutants from 0 to 100, rounded down; 100 when there is nothing to change. */
  readonly score: number;
}

export interface FileMutation extends Omit<Mutation, 'files'> {
  /** Relative to the current directory. */
  readonly path: string;
  readonly survivors: readonly Survivor[];
}

/** A mutant that no test tells from the original. */
export interface Survivor {
  /** Line number, from 1. */
  readonly line: number;
  readonly subject: string;
  readonly change: string;
  readonly hunk: Hunk;
  /** Whether it is proved that the mutant decides every request like the original. */
  readonly isDecidedAlike: boolean;
}

export interface MutateOptions {
  /** Called now and then with the number of mutants tried, and the number of all mutants. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborting returns what has been found so far. */
  readonly signal?: AbortSignal;
}

/**
 * Tries every mutant on the tests; every test must pass on the unchanged policies. Mutants are decided by the
 * definition: compiling a function for each would not pay for a few decisions.
 */
export async function mutate(
  tested: readonly TestedPolicies[],
  { onProgress, signal }: MutateOptions = {},
): Promise<Mutation> {
  const trials = tested.flatMap(trialsOf);
  const verdicts = new Map<string, Verdict>();
  let yieldAt = 0;
  for (const [done, trial] of trials.entries()) {
    if (signal?.aborted === true) break;
    // Yields now and then, so that key presses and signals are handled.
    if (performance.now() >= yieldAt) {
      onProgress?.(done, trials.length);
      await setImmediate();
      yieldAt = performance.now() + busyMsMax;
    }
    const isKilled = judge(trial);
    if (isKilled === null) continue;
    // A file that two groups of tests reach counts each mutant once, killed by either group.
    const cached = verdicts.get(trial.key);
    verdicts.set(trial.key, { trial, isKilled: isKilled || cached?.isKilled === true });
  }
  onProgress?.(trials.length, trials.length);
  const all = [...verdicts.values()];
  return summarize(all, await decidedAlike(all, signal));
}

/** Milliseconds for proofs about survivors. The survivors that are left then are not marked. */
const proofMsMax = 5_000;

/** The surviving mutants that are proved to decide every request like the original. */
async function decidedAlike(
  verdicts: readonly Verdict[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<Trial>> {
  const alike = new Set<Trial>();
  const begin = performance.now();
  for (const { trial, isKilled } of verdicts) {
    if (isKilled || trial.mutant.policy === null) continue;
    if (signal?.aborted === true || performance.now() - begin > proofMsMax) break;
    await setImmediate();
    const { set } = findErrors(sourcesOf(trial), trial.group.cache);
    if (set !== null && isDecidedAlike(trial.group.set, set, trial.mutant.subject)) alike.add(trial);
  }
  return alike;
}

const busyMsMax = 50;

/** One mutant with what it is tried on. */
interface Trial {
  readonly key: string;
  readonly mutant: Mutant;
  /** Relative to the current directory. */
  readonly path: string;
  /** The text before the mutant's change. */
  readonly before: string;
  readonly group: Group;
}

/** A policy set with its cases, and what its mutants share. */
interface Group {
  readonly sources: PolicySources;
  readonly set: NonNullable<CompileResult['set']>;
  readonly cases: readonly TestCase[];
  readonly cache: CompileCache;
  /** Digests of the meanings tried so far, the original's first. */
  readonly meanings: Set<string>;
}

interface Verdict {
  readonly trial: Trial;
  readonly isKilled: boolean;
}

function trialsOf({ read, compiled, cases }: TestedPolicies): readonly Trial[] {
  const { set, files } = compiled;
  if (set === null || cases.length === 0) return [];
  const { sources, root } = read;
  const meanings = new Set([digestOf(set)]);
  const group: Group = { sources, set, cases, cache: createCompileCache(), meanings };
  const textOf = (path: string): string => {
    const policy = read.sourceOf(path);
    if (policy !== null) return policy;
    const list = sources.readListFile(path);
    return 'text' in list ? list.text : '';
  };
  return files.flatMap((file) => {
    const mutants = mutantsOf(file, textOf(file.span.file), sources.readListFile);
    return mutants.map((mutant) => {
      const path = relative('', join(root ?? '', fileOf(mutant)));
      const before = textOf(fileOf(mutant));
      return { key: JSON.stringify([path, mutant.edits]), mutant, path, before, group };
    });
  });
}

function fileOf({ edits }: Mutant): string {
  return edits[0]!.span.file;
}

/** Whether a test fails on the mutant; null when the mutant does not count. */
function judge(trial: Trial): boolean | null {
  const { mutant, group } = trial;
  const sources = sourcesOf(trial);
  const checked = findErrors(sources, group.cache);
  const { set } = checked;
  if (set === null) return null;
  const digest = digestOf(set);
  if (group.meanings.has(digest)) return null;
  group.meanings.add(digest);
  let engine: CompileResult['engine'] = null;
  const tried = {
    set,
    // Compiled only when a sequence needs meters.
    get engine() {
      engine ??= compile(sources, group.cache, () => checked).engine;
      return engine!;
    },
  };
  const actions = group.set.policies.find(({ name }) => name === mutant.policy)?.actions ?? null;
  return group.cases.some((test) => {
    const actionKeys = [test, ...(test.before ?? [])].map(({ situation }) => situation.action);
    if (actions !== null && !actions.some((action) => actionKeys.includes(action))) return false;
    // A name that the mutant no longer declares also fails the test.
    const facts = caseFacts(test, tried, () => undefined);
    return facts === null || differences(test.expectation, authorize(set, facts)).length > 0;
  });
}

function sourcesOf({ mutant, before, group }: Trial): PolicySources {
  return withText(group.sources, fileOf(mutant), applyEdits(before, mutant.edits));
}

function withText({ files, readListFile }: PolicySources, path: string, text: string): PolicySources {
  return {
    files: files.map((file) => (file.path === path ? { path, text } : file)),
    readListFile: (list) => (list === path ? { text } : readListFile(list)),
  };
}

function digestOf(set: NonNullable<CompileResult['set']>): string {
  return createHash('sha256').update(meaningOf(set)).digest('base64');
}

function summarize(verdicts: readonly Verdict[], alike: ReadonlySet<Trial>): Mutation {
  const byPath = Map.groupBy(verdicts, ({ trial }) => trial.path);
  const files = [...byPath]
    .map(([path, own]) => ({
      path,
      ...countOf(own),
      survivors: own
        .filter(({ isKilled }) => !isKilled)
        .map(({ trial }) => survivorOf(trial, alike.has(trial))),
    }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { ...countOf(verdicts), files };
}

function countOf(verdicts: readonly Verdict[]): Omit<Mutation, 'files'> {
  const killed = verdicts.filter(({ isKilled }) => isKilled).length;
  const score = verdicts.length === 0 ? 100 : Math.floor((100 * killed) / verdicts.length);
  return { killed, survived: verdicts.length - killed, score };
}

function survivorOf({ mutant, before }: Trial, isDecidedAlike: boolean): Survivor {
  const { subject, change, edits } = mutant;
  const offset = edits[0]!.span.start;
  // The edit may begin at the end of the line before, so blanks are skipped to find the changed line.
  const { line } = position(before, offset + /^\s*/.exec(before.slice(offset))![0].length);
  const hunk = hunkOf(before, applyEdits(before, edits));
  return { line, subject, change, hunk, isDecidedAlike };
}
