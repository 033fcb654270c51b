// `writ test`: runs the test files beside the policies, on the compiled function and on the language's
// definition. With `--mutate` it also tries mutants of the policies. A run without cases fails, because a
// build server would take it for success.

import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { findPolicies, findUntested } from '../../testing/find-test-files.ts';
import { reportJunit } from '../../testing/junit.ts';
import { type Mutation, mutate } from '../../testing/mutation/mutate.ts';
import { mutationToJson, reportMutation } from '../../testing/mutation/report.ts';
import { countRun, reportCoverage, reportRun, reportUncovered, runToJson } from '../../testing/report.ts';
import { runTestFiles, type TestRun } from '../../testing/run.ts';
import { createRunSignal, watchTests } from '../../testing/watch.ts';
import { fileError } from '../output/file-error.ts';
import {
  createMarks,
  type ExitCode,
  exitCodes,
  print,
  printError,
  printJson,
  UsageError,
} from '../output/output.ts';
import { defaultPath } from '../support/load-policies.ts';
import { testRecorded } from './test-requests.ts';

export function defineTest(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument(
      '[path...]',
      'test files, or directories with *.test.yaml (default: ./policies, else the current directory)',
    )
    .option('-t, --filter <text>', 'run only the cases whose name contains the text')
    .option('--bundle <file>', 'test the policies of a bundle instead of those named in the test files')
    .option('-w, --watch', 'run again when a policy, test or list file changes')
    .option('--coverage', 'show how often each rule was true, false and unknown')
    .option('--coverage-min <percent>', 'fail if coverage is lower', readPercent('--coverage-min'))
    .option('--mutate', 'change the policies in small ways and show the changes that no test detects')
    .option('--mutate-min <percent>', 'fail if the mutation score is lower', readPercent('--mutate-min'))
    .option('--requests <file>', 'decide exported requests again; fail if a decision differs from its record')
    .option('--junit <file>', 'also write JUnit XML; - for standard output, instead of the report')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  writ test\n  writ test policies/payments -t boundaries --watch\n  writ test policies --bundle policies.writ\n  writ test --coverage-min 90 --mutate-min 80 --junit report.xml\n  writ audit export > log.jsonl && writ test policies --requests log.jsonl',
    )
    .action(async (paths: string[], options: Options) => {
      finish(await test(paths.length === 0 ? [defaultPath()] : paths, options));
    });
}

interface Options {
  readonly filter?: string;
  readonly bundle?: string;
  readonly watch?: boolean;
  readonly coverage?: boolean;
  readonly coverageMin?: number;
  readonly mutate?: boolean;
  readonly mutateMin?: number;
  readonly requests?: string;
  readonly junit?: string;
  readonly json?: boolean;
}

/** Options about test cases that people wrote; `--requests` excludes them. */
const optionsOfCases = [
  'filter',
  'bundle',
  'watch',
  'coverage',
  'coverageMin',
  'mutate',
  'mutateMin',
  'junit',
] as const;

async function test(paths: readonly string[], options: Options): Promise<ExitCode> {
  const { json, junit, watch, requests } = options;
  if (requests !== undefined) return await testRequests(paths, { ...options, requests });
  const [policy] = findPolicies(paths);
  if (policy !== undefined)
    throw new UsageError(`${policy} is a policy file: name its folder or its *.test.yaml file`);
  if (json === true && junit === '-')
    throw new UsageError('--json and --junit - cannot both use standard output');
  if (watch === true && (json === true || junit === '-'))
    throw new UsageError('--watch cannot be combined with --json or --junit -');
  if (watch === true) return watchAndTest(paths, options);
  return (await testOnce(paths, options)).code;
}

async function testRequests(
  paths: readonly string[],
  options: Options & { readonly requests: string },
): Promise<ExitCode> {
  const [path, ...others] = paths;
  if (path === undefined || others.length > 0)
    throw new UsageError('--requests needs one policy directory or file');
  const named = optionsOfCases.find((name) => options[name] !== undefined);
  if (named !== undefined)
    throw new UsageError(
      `--requests runs no test files: it cannot be combined with --${named.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`,
    );
  return await testRecorded({ file: options.requests, path, isJson: options.json === true });
}

interface TestOutcome {
  readonly run: TestRun;
  readonly code: ExitCode;
}

/** Runs the tests once and prints the result. */
async function testOnce(
  paths: readonly string[],
  options: Options,
  signal?: AbortSignal,
): Promise<TestOutcome> {
  const { filter, bundle } = options;
  const run = await runTestFiles(paths, {
    ...(filter === undefined ? {} : { filter }),
    ...(bundle === undefined ? {} : { bundle }),
  });
  const isText = options.json !== true && options.junit !== '-';
  const { passed, failed, broken } = countRun(run);
  const isEmpty = passed + failed + broken === 0;
  if (isText && !isEmpty) reportText(run, options);
  const mutation = isEmpty ? null : await tryMutants(run, options, signal);
  // An interrupted run has no mutation score.
  if (signal?.aborted === true) return { run, code: exitCodes.ok };
  if (isText && mutation !== null) print(reportMutation(mutation, createMarks()));
  if (options.json === true) printJson({ ...runToJson(run), mutation: mutation && mutationToJson(mutation) });
  await writeJunit(run, options);
  const complaints = [
    ...(await emptyComplaints(run, paths, filter)),
    ...minimumComplaints(run, mutation, options),
  ];
  for (const complaint of complaints) printError(`${complaint}\n`);
  const isGood = failed + broken === 0 && complaints.length === 0;
  return { run, code: isGood ? exitCodes.ok : exitCodes.wrong };
}

function reportText(run: TestRun, { coverage, coverageMin = 0 }: Options): void {
  const marks = createMarks();
  print(reportRun(run, marks));
  if (coverage === true) print(reportCoverage(run.coverage, marks));
  else if ((run.coverage.percent ?? 100) < coverageMin)
    print(`\nnot covered:\n${reportUncovered(run.coverage)}`);
}

/**
 * Tries mutants of the policies. Null when no option asks for mutants, or when tests fail without any mutant.
 */
async function tryMutants(run: TestRun, options: Options, signal?: AbortSignal): Promise<Mutation | null> {
  if (!wantsMutants(options) || !isPassed(run)) return null;
  const onProgress = process.stderr.isTTY === true ? showProgress : () => undefined;
  return mutate(run.tested, signal === undefined ? { onProgress } : { onProgress, signal });
}

function showProgress(done: number, total: number): void {
  // The escape sequence moves to the start of the line and clears the line.
  printError(`\r\u001b[K${done === total ? '' : `${done}/${total} mutants`}`);
}

function wantsMutants({ mutate: isWanted, mutateMin }: Options): boolean {
  return isWanted === true || mutateMin !== undefined;
}

function isPassed(run: TestRun): boolean {
  const { failed, broken } = countRun(run);
  return failed + broken === 0;
}

async function emptyComplaints(
  run: TestRun,
  paths: readonly string[],
  filter: string | undefined,
): Promise<readonly string[]> {
  const untested = await findUntested(paths);
  if (untested.length > 0) return [`no *.test.yaml under ${untested.join(', ')}`];
  const { passed, failed, broken } = countRun(run);
  if (passed + failed + broken > 0) return [];
  return [filter === undefined ? 'the test files have no cases' : `no case name contains \`${filter}\``];
}

function minimumComplaints(run: TestRun, mutation: Mutation | null, options: Options): readonly string[] {
  const { coverageMin = 0, mutateMin = 0 } = options;
  const { percent } = run.coverage;
  const lacksMutants = mutation !== null && mutation.score < mutateMin;
  return [
    ...(percent !== null && percent < coverageMin
      ? [`coverage is ${percent} %, less than ${coverageMin} %`]
      : []),
    ...(lacksMutants ? [`mutation score is ${mutation.score} %, less than ${mutateMin} %`] : []),
    ...(wantsMutants(options) && !isPassed(run) ? ['mutants are tried only when every test passes'] : []),
  ];
}

async function writeJunit(run: TestRun, { junit }: Options): Promise<void> {
  if (junit === undefined) return;
  const text = reportJunit(run);
  if (junit === '-') return print(text);
  try {
    await writeFile(junit, text);
  } catch (error) {
    throw new UsageError(`cannot write ${junit}: ${fileError(error)}`);
  }
}

/** Resolves to success whatever the test results are, because the person who ends a watch has seen them. */
async function watchAndTest(paths: readonly string[], options: Options): Promise<ExitCode> {
  const end = new AbortController();
  const again = createRunSignal();
  const release = listenForKeys({ end: () => end.abort(), again: again.ring });
  const isTerminal = process.stdout.isTTY === true && process.env.TERM !== 'dumb';
  const { faint } = createMarks();
  try {
    await watchTests(paths, {
      run: async (changed, signal) => {
        if (isTerminal) print(clearScreen);
        if (changed.length > 0) print(`${faint(`changed: ${changed.join(', ')}`)}\n`);
        return (await testOnce(paths, options, AbortSignal.any([signal, end.signal]))).run;
      },
      onIdle: () => print(`\n${faint('watching for changes; press Enter to run again, q to quit')}\n`),
      end: end.signal,
      again,
    });
  } finally {
    release();
  }
  return exitCodes.ok;
}

/** Clears the visible part of the terminal only, and keeps the scrollback. */
const clearScreen = '\u001b[2J\u001b[H';
const endKeys = ['q', '\u0003', '\u0004'];
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface KeyActions {
  readonly end: () => void;
  readonly again: () => void;
}

/**
 * Listens for single keys from a terminal, or the same characters from a pipe. Returns a function that stops
 * listening.
 */
function listenForKeys({ end, again }: KeyActions): () => void {
  const { stdin } = process;
  const isTerminal = stdin.isTTY === true;
  const onData = (data: Buffer): void => {
    const keys = [...data.toString()];
    if (keys.some((key) => endKeys.includes(key))) end();
    else if (keys.some((key) => key === '\r' || key === '\n')) again();
  };
  if (isTerminal) stdin.setRawMode(true);
  stdin.on('data', onData);
  for (const signal of endSignals) process.on(signal, end);
  return () => {
    stdin.off('data', onData);
    if (isTerminal) stdin.setRawMode(false);
    stdin.pause();
    for (const signal of endSignals) process.off(signal, end);
  };
}

function readPercent(option: string): (text: string) => number {
  return (text) => {
    const percent = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || percent > 100)
      throw new UsageError(`${option} must be a number from 0 to 100`);
    return percent;
  };
}
