// Turns what an editor asks to debug into a decision that can be walked step by step. The request comes from
// a JSON file, from the launch itself, or from a case of a test file. Throws a LaunchError that names what is
// missing, for the person at the editor.

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { type DecisionStep, decisionSteps, type SteppedDecision } from '../../analysis/decision-steps.ts';
import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { position, renderDiagnostics } from '../../language/diagnostic/render.ts';
import { nearestOf } from '../../language/diagnostic/suggest.ts';
import type { JsonObject } from '../../language/model/json.ts';
import type { Facts } from '../../language/model/request.ts';
import { type CompileResult, compile } from '../../pipeline.ts';
import { readSources } from '../../service/policies/bundles/read-sources.ts';
import { type ReadSources, readPaths } from '../../service/policies/read-policies.ts';
import { readTestFile } from '../../testing/read-test-file.ts';
import { caseFacts } from '../../testing/sequence.ts';
import type { TestCase } from '../../testing/test-file.ts';
import { UsageError } from '../output/output.ts';
import { explainDecision } from '../support/explain-text.ts';
import { bodyOf, readFacts, readRequestFile } from '../support/read-facts.ts';
import type { DapSource } from './protocol.ts';

/** The launch configuration that a person writes in an editor. */
export interface LaunchArguments {
  /**
   * A folder, a file or a bundle. The default is `policies` of `cwd`, or `cwd` itself; for a test, the
   * policies that the test file names.
   */
  readonly policies?: string;
  /** The request: a JSON file as `writ explain` takes it, or the request itself. */
  readonly decide?: string | JsonObject;
  /** A test file; `case` chooses a case by its name, `line` by a line within it. */
  readonly test?: string;
  readonly case?: string;
  readonly line?: number;
  /** Whether to stop at the first step; true when absent. */
  readonly stopOnEntry?: boolean;
  readonly cwd?: string;
}

export class LaunchError extends Error {}

export interface LaunchResult {
  readonly walked: SteppedDecision;
  readonly steps: readonly DecisionStep[];
  readonly read: ReadSources;
  /** The request, shown in the stack below the steps that decide it. */
  readonly request: { readonly name: string; readonly source: DapSource; readonly line: number };
  /** Returns the file on disk for a path of the set. */
  readonly pathOf: (file: string) => string;
}

export async function launch(given: LaunchArguments): Promise<LaunchResult> {
  const cwd = given.cwd ?? process.cwd();
  try {
    return await (given.test === undefined ? launchRequest(given, cwd) : launchCase(given.test, given, cwd));
  } catch (error) {
    if (error instanceof UsageError) throw new LaunchError(error.message);
    throw error;
  }
}

async function launchRequest({ policies, decide }: LaunchArguments, cwd: string): Promise<LaunchResult> {
  if (decide === undefined)
    throw new LaunchError(
      'the launch needs a target: `decide`, a request such as `request.json`, or `test`, a test file, with a `case`',
    );
  const policyPath = resolve(cwd, policies ?? (existsSync(join(cwd, 'policies')) ? 'policies' : '.'));
  const working = workingOf(await readSources(policyPath));
  const file = typeof decide === 'string' ? resolve(cwd, decide) : null;
  const given =
    file === null ? { given: bodyOf(decide as JsonObject), isRecorded: false } : await requestOf(file);
  const facts = readFacts(
    { ...given, given: { now: new Date().toISOString(), ...given.given } },
    working.set,
  );
  return walk(working, facts, { file, line: 1, pathRoot: working.read.root ?? dirname(policyPath) });
}

async function requestOf(file: string): ReturnType<typeof readRequestFile> {
  if (!existsSync(file)) throw new LaunchError(`there is no file ${file}`);
  return await readRequestFile(`@${file}`, file);
}

async function launchCase(test: string, given: LaunchArguments, cwd: string): Promise<LaunchResult> {
  const path = resolve(cwd, test);
  if (!existsSync(path)) throw new LaunchError(`there is no file ${path}`);
  const text = readFileSync(path, 'utf8');
  const file = readTestFile({ path, text });
  const render = (diagnostics: typeof file.diagnostics): string =>
    renderDiagnostics(diagnostics, () => text, { color: false });
  if (file.diagnostics.length > 0)
    throw new LaunchError(`the test file has errors:\n${render(file.diagnostics)}`);
  const one = findCase(file.cases, given, text);
  const working = workingOf(
    given.policies === undefined
      ? await readPaths(file.policies)
      : await readSources(resolve(cwd, given.policies)),
  );
  const mistakes: string[] = [];
  const facts = caseFacts(one, working, (_span, message, help) => {
    mistakes.push(help === undefined ? message : `${message} (${help})`);
  });
  if (facts === null) throw new LaunchError(mistakes.join('\n'));
  const { line } = position(text, one.span.start);
  return walk(working, facts, { file: path, line, pathRoot: working.read.root ?? dirname(path) });
}

/**
 * Finds a case by its name, by a line within it, or as the only case. Throws a LaunchError when there is no
 * such case.
 */
function findCase(cases: readonly TestCase[], { case: name, line }: LaunchArguments, text: string): TestCase {
  const names = cases.map((one) => one.name);
  const listed = names
    .slice(0, 8)
    .map((one) => `\`${one}\``)
    .join(', ');
  if (name !== undefined) {
    const testCase = cases.find((one) => one.name === name) ?? cases.find((one) => one.name.startsWith(name));
    if (testCase !== undefined) return testCase;
    const near = nearestOf(name, names);
    throw new LaunchError(
      `no case is named \`${name}\`: ${near === null ? `choose one of ${listed}` : `did you mean \`${near}\`?`}`,
    );
  }
  if (line !== undefined) {
    const before = cases.filter(({ span }) => position(text, span.start).line <= line);
    if (before.length > 0) return before.at(-1)!;
  }
  const [only, ...others] = cases;
  if (only !== undefined && others.length === 0) return only;
  throw new LaunchError(
    only === undefined ? 'the test file has no cases' : `name the \`case\` to debug, one of ${listed}`,
  );
}

interface DecisionSetup {
  readonly read: ReadSources;
  readonly set: NonNullable<CompileResult['set']>;
  readonly engine: NonNullable<CompileResult['engine']>;
}

function workingOf(read: ReadSources): DecisionSetup {
  const { set, engine, diagnostics } = compile(read.sources);
  const errors = [...read.diagnostics, ...diagnostics].filter((one) => hasErrors([one]));
  if (set !== null && engine !== null && errors.length === 0) return { read, set, engine };
  throw new LaunchError(
    `the policies have errors:\n${renderDiagnostics(errors, read.sourceOf, { color: false })}`,
  );
}

interface RequestOrigin {
  /** The file of the request; null when the launch itself holds the request. */
  readonly file: string | null;
  readonly line: number;
  /** The folder that paths of the set are relative to. */
  readonly pathRoot: string;
}

function walk(
  { read, set, engine }: DecisionSetup,
  facts: Facts,
  { file, line, pathRoot }: RequestOrigin,
): LaunchResult {
  const explained = explainDecision({ set, decide: engine.decide }, facts);
  const walked = { ...explained, facts };
  return {
    walked,
    steps: decisionSteps(walked, read.sourceOf),
    read,
    request: {
      name: `request ${facts.action}`,
      source: file === null ? {} : { name: basename(file), path: file },
      line: file === null ? 0 : line,
    },
    pathOf: (path) => (isAbsolute(path) ? path : join(pathRoot, path)),
  };
}
