// Runs test files. Every case is decided twice, by the compiled function and by the definition. If the two
// differ, the case gets an outcome of its own, because then the mistake is not in the policies.

import { isDeepStrictEqual } from 'node:util';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../language/diagnostic/diagnostic.ts';
import { position, renderDiagnostics, type SourceOf } from '../language/diagnostic/render.ts';
import { type Decision, isRefusedByGate } from '../language/model/decision.ts';
import type { PolicySet } from '../language/model/policy.ts';
import type { Facts } from '../language/model/request.ts';
import { authorize } from '../language/spec/authorize.ts';
import { type ExplainedRule, explain } from '../language/spec/explain-rule.ts';
import { memo } from '../language/value/memo.ts';
import { type CompileResult, compile } from '../pipeline.ts';
import { readBundled } from '../service/policies/bundles/read-sources.ts';
import { type ReadSources, readPaths, readPolicyText } from '../service/policies/read-policies.ts';
import { type CountTruths, type Coverage, CoverageCounter } from './coverage.ts';
import { type Difference, differences } from './expectation.ts';
import { findTests } from './find-test-files.ts';
import { readTestFile } from './read-test-file.ts';
import { caseFacts, waitsForPeople } from './sequence.ts';
import type { TestCase, TestFile } from './test-file.ts';
import { testDiagnostic } from './yaml.ts';

export interface TestRun {
  readonly files: readonly FileResult[];
  readonly coverage: Coverage;
  readonly durationMs: number;
  /** One entry for each set of policies that a test file names, even if the policies have errors. */
  readonly tested: readonly TestedPolicies[];
}

/** Policies with the cases that they decided. */
export interface TestedPolicies extends LoadedPolicies {
  readonly cases: readonly TestCase[];
}

export interface FileResult {
  readonly path: string;
  /**
   * Why none of the file's cases ran, as rendered text: the file is malformed, or its policies have errors.
   * Null when they ran.
   */
  readonly failure: string | null;
  readonly cases: readonly CaseResult[];
}

export interface CaseResult {
  readonly name: string;
  /** Line in the test file, from 1. */
  readonly line: number;
  readonly outcome: CaseOutcome;
  /** Expected against actual values; for a disagreement, the definition against the compiled function. */
  readonly differences: readonly Difference[];
  /** Null when the policies could not decide the case. */
  readonly decision: Decision | null;
  /** The rendered reason why the case could not be decided, else null. */
  readonly mistake: string | null;
  readonly durationMs: number;
}

/** `disagreed`: the compiled function and the definition differ. `mistaken`: the case names something unknown. */
type CaseOutcome = 'passed' | 'failed' | 'disagreed' | 'mistaken';

export interface RunOptions {
  /** Runs the cases whose name contains this text; absent for all cases. */
  readonly filter?: string;
  /** A bundle whose policies are tested instead of those that the files name. */
  readonly bundle?: string;
  /** Called with the paths of policies that a test file names, before any of them is read; may throw. */
  readonly onPolicies?: (paths: readonly string[]) => void;
}

/** Runs the test files among the paths and under directories. Never rejects because of the files' content. */
export async function runTestFiles(paths: readonly string[], options: RunOptions = {}): Promise<TestRun> {
  const start = performance.now();
  const counter = new CoverageCounter();
  const { load, loaded } = createLoader(counter, options.bundle);
  const files: FileResult[] = [];
  const cases = new Map<LoadedPolicies, TestCase[]>();
  for (const path of await findTests(paths)) {
    const read = await readPolicyText(path);
    if (!('text' in read)) {
      files.push(unreadable(path, [read]));
      continue;
    }
    const file = filtered(readTestFile(read), options.filter);
    options.onPolicies?.(file.policies);
    const result = await runTests(file, load);
    files.push(result);
    if (result.failure !== null) continue;
    const policies = await load(file.policies);
    cases.set(policies, [...(cases.get(policies) ?? []), ...file.cases]);
  }
  const all = await Promise.all(loaded.values());
  const tested = all.map((policies) => ({ ...policies, cases: cases.get(policies) ?? [] }));
  return { files, coverage: counter.result(), durationMs: performance.now() - start, tested };
}

/** Loads and compiles a test file's policies; equal paths may be compiled once. */
export type LoadPolicies = (paths: readonly string[]) => Promise<LoadedPolicies>;

interface LoadedPolicies {
  readonly read: ReadSources;
  readonly compiled: CompileResult;
  readonly count: CountTruths;
}

/** The policies that a test file names, as its cases need them. */
export interface SubjectOfTests extends Pick<LoadedPolicies, 'compiled' | 'count'> {
  readonly read: Pick<ReadSources, 'diagnostics' | 'sourceOf'>;
}

/** The result of a test file: why none of its cases ran, or each case, in order. */
export type FileRun =
  | { readonly failure: readonly Diagnostic[]; readonly sourceOf: SourceOf }
  | { readonly failure: null; readonly cases: readonly CaseRun[] };

export interface CaseRun extends Pick<CaseResult, 'outcome' | 'differences' | 'decision' | 'durationMs'> {
  readonly test: TestCase;
  /** Reports on names in the case that do not exist. */
  readonly mistakes: readonly Diagnostic[];
}

/** Runs the cases of one file, in order. */
export async function runTests(file: TestFile, load: LoadPolicies): Promise<FileResult> {
  const judged = await runTestFile(file, load);
  if (judged.failure !== null) return unreadable(file.path, judged.failure, judged.sourceOf);
  return { path: file.path, failure: null, cases: judged.cases.map((one) => resultOf(file, one)) };
}

export async function runTestFile(
  file: TestFile,
  load: (paths: readonly string[]) => Promise<SubjectOfTests>,
): Promise<FileRun> {
  if (file.diagnostics.length > 0) return { failure: file.diagnostics, sourceOf: () => file.text };
  const { read, compiled, count } = await load(file.policies);
  const { set, engine } = compiled;
  const diagnostics = sortDiagnostics([...read.diagnostics, ...compiled.diagnostics]);
  if (set === null || engine === null || hasErrors(diagnostics))
    return { failure: diagnostics, sourceOf: read.sourceOf };
  const subject = { set, engine, count };
  return { failure: null, cases: file.cases.map((one) => runTestCase(one, subject)) };
}

interface Loader {
  readonly load: LoadPolicies;
  readonly loaded: ReadonlyMap<string, Promise<LoadedPolicies>>;
}

/** Compiles each group of paths once, however many test files name it. */
function createLoader(counter: CoverageCounter, bundle: string | undefined): Loader {
  const loaded = new Map<string, Promise<LoadedPolicies>>();
  const load = async (paths: readonly string[]): Promise<LoadedPolicies> => {
    const read = bundle === undefined ? await readPaths(paths) : await readBundled(bundle);
    const compiled = compile(read.sources);
    const fileOf = (path: string): string => (read.root === null ? path : `${read.root}/${path}`);
    const count = compiled.set === null ? () => undefined : counter.addSet(compiled.set, fileOf);
    return { read, compiled, count };
  };
  return {
    loaded,
    load: (paths) => {
      const key = bundle ?? paths.toSorted().join('\0');
      return memo(loaded, key, () => load(paths));
    },
  };
}

type Engine = NonNullable<CompileResult['engine']>;

interface Subject {
  readonly set: PolicySet;
  readonly engine: Engine;
  readonly count: CountTruths;
}

function resultOf(file: TestFile, { test, mistakes, ...judged }: CaseRun): CaseResult {
  return {
    name: test.name,
    line: position(file.text, test.span.start).line,
    ...judged,
    mistake: mistakes.length === 0 ? null : renderDiagnostics(mistakes, () => file.text, { color: false }),
  };
}

function runTestCase(test: TestCase, subject: Subject): CaseRun {
  const start = performance.now();
  const mistakes: Diagnostic[] = [];
  const facts = caseFacts(test, subject, (...what) => mistakes.push(testDiagnostic(...what)));
  const mistaken: CaseRun = {
    test,
    outcome: 'mistaken',
    differences: [],
    decision: null,
    mistakes,
    durationMs: 0,
  };
  if (facts === null) return mistaken;
  const { decision, disagreements } = decideTwice(facts, subject);
  if (test.answer !== null && !waitsForPeople(decision)) {
    const message = `\`then: ${test.answer.kind}\` answers a pending request, but this one is ${decision.outcome}`;
    mistakes.push(testDiagnostic(test.span, message));
    return mistaken;
  }
  const unexpected = differences(test.expectation, decision);
  const outcome = disagreements.length > 0 ? 'disagreed' : unexpected.length > 0 ? 'failed' : 'passed';
  return {
    test,
    outcome,
    differences: outcome === 'disagreed' ? disagreements : unexpected,
    decision,
    mistakes: [],
    durationMs: performance.now() - start,
  };
}

/**
 * The definition's decision, and where the compiled function differs from it: in the decision, or in a rule's
 * truth.
 */
function decideTwice(
  facts: Facts,
  { set, engine, count }: Subject,
): { decision: Decision; disagreements: readonly Difference[] } {
  const decision = authorize(set, facts);
  const fields = compareDecisions(decision, engine.decide(facts));
  // A payload that a gate refuses does not have the shape on which rules can be explained.
  if (isRefusedByGate(decision)) return { decision, disagreements: fields };
  const explained = explain(set, facts);
  count(explained);
  return { decision, disagreements: [...fields, ...compareTruths(explained, engine, facts)] };
}

function compareDecisions(defined: Decision, compiled: Decision): readonly Difference[] {
  const fields = Object.keys(defined) as (keyof Decision)[];
  return fields
    .filter((field) => !isDeepStrictEqual(defined[field], compiled[field]))
    .map((field) => ({
      field,
      expected: JSON.stringify(defined[field]),
      actual: JSON.stringify(compiled[field]),
    }));
}

function compareTruths(
  explained: readonly ExplainedRule[],
  engine: Engine,
  facts: Facts,
): readonly Difference[] {
  const traced = new Map(engine.trace(facts).map(({ rule, truth }) => [rule, truth]));
  return explained
    .filter(({ rule, truth }) => traced.get(rule) !== truth)
    .map(({ rule, truth }) => ({ field: rule, expected: truth, actual: traced.get(rule) ?? 'not traced' }));
}

function filtered(file: TestFile, filter: string | undefined): TestFile {
  if (filter === undefined) return file;
  return { ...file, cases: file.cases.filter(({ name }) => name.includes(filter)) };
}

function unreadable(
  path: string,
  diagnostics: readonly Diagnostic[],
  sourceOf: SourceOf = () => null,
): FileResult {
  return { path, failure: renderDiagnostics(diagnostics, sourceOf, { color: false }), cases: [] };
}
