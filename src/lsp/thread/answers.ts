// Answers of the second thread: guarantees as `writ check` judges them, tests as `writ test` runs them,
// changes as `writ diff` finds them, and walks through decisions. All of them include texts that are not
// saved yet.

import { hash } from 'node:crypto';
import { join, relative, sep } from 'node:path';
import { decisionSteps } from '../../analysis/decision-steps.ts';
import { diffFindings } from '../../analysis/diff/diff-findings.ts';
import { guaranteeChanges, reportOf } from '../../analysis/diff/diff-report.ts';
import { type LoadedSide, type ReadSide, readSide, sideOf } from '../../analysis/diff/diff-side.ts';
import { RevisionError } from '../../analysis/diff/git-revision.ts';
import { testFileRequests } from '../../analysis/diff/test-file-requests.ts';
import {
  type ClauseResult,
  deciderOf,
  evaluateGuarantees,
  undecidedLines,
} from '../../analysis/findings/guarantee-results.ts';
import { gateIssues, readGiven } from '../../analysis/request-input.ts';
import { createSuggester } from '../../analysis/suggest/suggest.ts';
import { expectsMilder, suggestForCase } from '../../analysis/suggest/test-cases.ts';
import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import { gates } from '../../language/model/decision.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { explain } from '../../language/spec/explain-rule.ts';
import {
  type CheckResult,
  type CompileCache,
  checkSources,
  compile,
  createCompileCache,
  findErrors,
} from '../../pipeline.ts';
import { unknownFacts } from '../../reasoning/counterfactual/unknown-facts.ts';
import { diffPolicies } from '../../reasoning/diff/diff.ts';
import { requestJson } from '../../reasoning/prove/report/request-json.ts';
import { createReadCache, type ReadCache } from '../../service/policies/read-cache.ts';
import { type ReadSources, readPaths, readPolicies } from '../../service/policies/read-policies.ts';
import { caseDiagnostics, caseText } from '../../testing/case-diagnostics.ts';
import { CoverageCounter } from '../../testing/coverage.ts';
import { findTests } from '../../testing/find-test-files.ts';
import { readTestFile } from '../../testing/read-test-file.ts';
import { type CaseRun, type LoadPolicies, runTestFile } from '../../testing/run.ts';
import type { TestFile } from '../../testing/test-file.ts';
import { readTextFile, withOpen } from '../set/open-texts.ts';
import type {
  ChangesView,
  ClauseView,
  DecisionStepsView,
  SetState,
  SuggestionView,
  TestCaseView,
  TestFileView,
  TestsView,
  ThreadAnswers,
  ThreadInputs,
  ThreadQuestion,
} from './questions.ts';

type ThreadHandlers = {
  readonly [Q in ThreadQuestion]: (params: ThreadInputs[Q]) => Promise<ThreadAnswers[Q]>;
};

/** Caches and results for one set. */
interface SetCache {
  readonly memory: ReadCache;
  readonly cache: CompileCache;
  claims: { readonly of: string; readonly judged: readonly ClauseView[] | null } | null;
}

export function createAnswers(): ThreadHandlers {
  const sets = new Map<string, SetCache>();
  const knownOf = (root: string): SetCache => {
    const cached = sets.get(root) ?? { memory: createReadCache(), cache: createCompileCache(), claims: null };
    sets.set(root, cached);
    return cached;
  };
  return {
    claims: (state) => clausesOf(state, knownOf(state.root)),
    tests: testsOf,
    changes: (state) => changesOf(state, knownOf(state.root)),
    walk: (params) => walkOf(params, knownOf(params.root)),
    suggestion: suggestionOf,
  };
}

interface CheckedState {
  readonly checked: CheckResult;
  readonly read: ReadSources;
  readonly sourceOf: ReadSources['sourceOf'];
  /** A hash of all texts and of the list files that they name. */
  readonly mark: string;
}

async function checkedOf(
  { root, open }: SetState,
  { memory, cache }: SetCache,
  check: typeof checkSources,
): Promise<CheckedState> {
  const read = await readPolicies(root, memory);
  const files = withOpen(read.sources.files, open.filter(isPolicy), () => true);
  const checked = check({ ...read.sources, files }, cache);
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const mark = hash('sha256', JSON.stringify([files, read.contentHash(checked.listFiles)]));
  return { checked, read, mark, sourceOf: (path) => texts.get(path) ?? null };
}

function isPolicy({ path }: SourceText): boolean {
  return path.endsWith('.policy');
}

// ---- guarantees

async function clausesOf(state: SetState, cache: SetCache): Promise<readonly ClauseView[] | null> {
  const { checked, mark, sourceOf } = await checkedOf(state, cache, checkSources);
  if (cache.claims?.of === mark) return cache.claims.judged;
  const { set } = checked;
  const judged = set === null ? null : judgedOf(set, sourceOf);
  cache.claims = { of: mark, judged };
  return judged;
}

function judgedOf(set: PolicySet, sourceOf: ReadSources['sourceOf']): readonly ClauseView[] {
  return evaluateGuarantees(set, { decide: deciderOf(set) }).map((one) => ({
    file: one.claim.span.file,
    start: one.claim.span.start,
    result: one.kind,
    why: whyOf(one, sourceOf),
    request: one.counterexample === null ? null : requestJson(one.counterexample.facts),
  }));
}

function whyOf(judged: ClauseResult, sourceOf: ReadSources['sourceOf']): string | null {
  const { counterexample, kind } = judged;
  if (counterexample !== null) {
    const { facts, decision } = counterexample;
    return `a request for \`${facts.action}\` is ${decision.outcome} by \`${decision.by}\``;
  }
  return kind === 'undecided' ? undecidedLines(judged, sourceOf).join('; ') : null;
}

// ---- tests

async function testsOf({ root, open, only }: ThreadInputs['tests']): Promise<TestsView> {
  const counter = new CoverageCounter();
  const inSet = (path: string): string => relative(root, path).split(sep).join('/');
  const load = createLoader({ root, open }, counter);
  const paths = only === null ? await testPaths(root, open) : [join(root, only)];
  const files: TestFileView[] = [];
  for (const path of paths) {
    const file = await readTests(inSet(path), { root, open });
    if (file !== null) files.push(shownFile(inSet(path), file, await runTestFile(file, load)));
  }
  const coverage = counter.result().rules.map((rule) => ({ ...rule, file: inSet(rule.file) }));
  return { files, coverage };
}

/** A test file by its path in the set; null when there is none. */
async function readTests(file: string, { root, open }: SetState): Promise<TestFile | null> {
  const path = join(root, file);
  const text = open.find((one) => one.path === file)?.text ?? (await readTextFile(path));
  return text === null ? null : readTestFile({ path, text });
}

async function testPaths(root: string, open: readonly SourceText[]): Promise<readonly string[]> {
  const unsaved = open
    .filter(({ path }) => !isPolicy({ path, text: '' }))
    .map(({ path }) => join(root, path));
  return [...new Set([...(await findTests([root])), ...unsaved])].toSorted();
}

function shownFile(
  path: string,
  file: TestFile,
  judged: Awaited<ReturnType<typeof runTestFile>>,
): TestFileView {
  if (judged.failure !== null) return { path, isBroken: true, cases: [], diagnostics: [] };
  const inSet = (one: ReturnType<typeof caseDiagnostics>[number]) => ({
    ...one,
    span: { ...one.span, file: path },
  });
  return {
    path,
    isBroken: false,
    cases: judged.cases.map(shownCase),
    diagnostics: caseDiagnostics(file, judged.cases).map(inSet),
  };
}

function shownCase(judged: CaseRun): TestCaseView {
  const { test, outcome, decision } = judged;
  const isMilder = outcome === 'failed' && decision !== null && expectsMilder(test.expectation, decision);
  return {
    name: test.name,
    start: test.span.start,
    outcome,
    text: caseText(judged),
    expectsMilder: isMilder,
  };
}

/** Reads the policies of a test file, with open texts laid over the files; `top` is the folder of their paths. */
async function readTested(
  paths: readonly string[],
  { root, open }: SetState,
): Promise<{ readonly read: ReadSources; readonly top: string }> {
  const read = await readPaths(paths);
  const top = read.root ?? root;
  const ofTop = open
    .filter(isPolicy)
    .map(({ path, text }) => ({ path: relative(top, join(root, path)).split(sep).join('/'), text }));
  const known = new Set(read.sources.files.map(({ path }) => path));
  const files = withOpen(read.sources.files, ofTop, ({ path }) => known.has(path));
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const sourceOf = (path: string): string | null => texts.get(path) ?? null;
  return { read: { ...read, sources: { ...read.sources, files }, sourceOf }, top };
}

/** Compiles each group of paths once. */
function createLoader(state: SetState, counter: CoverageCounter): LoadPolicies {
  const loaded = new Map<string, ReturnType<LoadPolicies>>();
  const load = async (paths: readonly string[]): ReturnType<LoadPolicies> => {
    const { read, top } = await readTested(paths, state);
    const compiled = compile(read.sources, createCompileCache(), findErrors);
    const count =
      compiled.set === null ? () => undefined : counter.addSet(compiled.set, (path) => join(top, path));
    return { read, compiled, count };
  };
  return (paths) => {
    const key = paths.toSorted().join('\0');
    const made = loaded.get(key) ?? load(paths);
    loaded.set(key, made);
    return made;
  };
}

// ---- a change for a failing case

/** Each comparison takes proofs, and a person waits. */
const suggestOptions = { suggestionsMax: 1, verifiedMax: 5 };

async function suggestionOf({ only, start, ...state }: ThreadInputs['suggestion']): Promise<SuggestionView> {
  const none = (failure: string): SuggestionView => ({ files: [], failure });
  const file = await readTests(only, state);
  const one =
    file?.diagnostics.length === 0 ? file.cases.find(({ span }) => span.start === start) : undefined;
  if (file === null || one === undefined) return none('no such case');
  const { read, top } = await readTested(file.policies, state);
  const suggester = hasErrors(read.diagnostics) ? null : createSuggester(read.sources);
  if (suggester === null) return none('the policies have errors');
  const found = suggestForCase(suggester, one, suggestOptions);
  if (typeof found === 'string') return none(found);
  const { suggestions, forbidding } = found;
  const [claim] = forbidding;
  const [best] = suggestions;
  if (best === undefined && claim !== undefined)
    return none(`the guarantee \`${claim.guarantee}\` forbids it: ${claim.text}`);
  if (best === undefined) return none('no change was found that keeps the guarantees');
  const inSet = (path: string): string => relative(state.root, join(top, path)).split(sep).join('/');
  return { files: best.files.map((one) => ({ ...one, path: inSet(one.path) })), failure: null };
}

// ---- what changes

async function changesOf(state: SetState, cache: SetCache): Promise<ChangesView> {
  const { root } = state;
  const { checked, sourceOf } = await checkedOf(state, cache, findErrors);
  const { set, files } = checked;
  if (set === null) return failed('the policies have errors');
  const old = await headOf(root);
  if (typeof old === 'string') return failed(old);
  const side = (one: LoadedSide): LoadedSide => ({ ...one, shown: (file) => file });
  const sides = {
    before: side(old),
    after: side(sideOf({ set, files }, { name: 'files', path: root, sourceOf })),
  };
  const diff = diffPolicies(sides.before.set, set, { known: await testFileRequests(root, set) });
  const report = reportOf({ sides, diff, guarantees: guaranteeChanges(sides, diff), log: null });
  return { findings: diffFindings(report, ''), failure: null };
}

function failed(failure: string): ChangesView {
  return { findings: [], failure };
}

/** The policies of HEAD, or a text with the reason why there is nothing to compare with. */
async function headOf(root: string): Promise<LoadedSide | string> {
  try {
    const { side }: ReadSide = await readSide({ revision: 'HEAD', name: 'HEAD', path: root });
    return side ?? 'the policies of HEAD have errors';
  } catch (error) {
    if (error instanceof RevisionError) return error.message;
    throw error;
  }
}

// ---- a request, step by step

async function walkOf(params: ThreadInputs['walk'], cache: SetCache): Promise<DecisionStepsView> {
  const { checked, sourceOf } = await checkedOf(params, cache, findErrors);
  const { set } = checked;
  if (set === null) return { steps: null, issues: [] };
  const { facts, issues } = readGiven(params.request, set, Date.now());
  if (facts === null) return { steps: null, issues };
  const decision = authorize(set, facts);
  const isOfGate = decision.by !== 'default_deny' && (gates as readonly string[]).includes(decision.by);
  const [rules, unknown] = isOfGate ? [[], []] : [explain(set, facts), unknownFacts(set, facts)];
  const steps = decisionSteps({ set, facts, decision, rules, unknown }, sourceOf);
  return { steps, issues: gateIssues(facts, set) };
}
