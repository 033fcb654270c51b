// Reports a test run as text for people and as plain JSON: what failed, with expected and actual values, and
// the counts.

import { relative } from 'node:path';
import { escapeForTerminal } from '../language/diagnostic/render.ts';
import type { Truth } from '../language/model/trace.ts';
import type { Coverage, RuleCoverage } from './coverage.ts';
import type { CaseResult, FileResult, TestRun } from './run.ts';

/** Functions that mark text; they return it unchanged when there are no colours. */
export interface Marks {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly faint: (text: string) => string;
}

export interface RunCounts {
  readonly passed: number;
  /** Number of failed, disagreed and mistaken cases. */
  readonly failed: number;
  /** Number of files none of whose cases ran. */
  readonly broken: number;
}

/** Failures in full, one line per file, and the counts. Ends with a line break. */
export function reportRun(run: TestRun, marks: Marks): string {
  const { passed, failed, broken } = countRun(run);
  const parts = [
    passed > 0 || failed + broken === 0 ? marks.good(`${passed} passed`) : '',
    failed > 0 ? marks.bad(`${failed} failed`) : '',
    broken > 0 ? marks.bad(`${broken} ${broken === 1 ? 'file' : 'files'} not run`) : '',
  ].filter((part) => part !== '');
  const time = marks.faint(`(${(run.durationMs / 1_000).toFixed(2)} s)`);
  return `${run.files.flatMap((file) => reportFile(file, marks)).join('\n')}\n\n${parts.join(', ')} ${time}\n`;
}

/**
 * A table of each file's rules, with how often each was true, false and unknown; missing truths are marked.
 */
export function reportCoverage(coverage: Coverage, marks: Marks): string {
  if (coverage.percent === null) return '\nno coverage: no rule was tested\n';
  const width = Math.max(4, ...coverage.rules.map(({ rule }) => rule.length));
  const head = `  ${'rule'.padEnd(width)}${truths.map((truth) => truth.padStart(8)).join('')}`;
  const files = [...Map.groupBy(coverage.rules, ({ file }) => file)].flatMap(([file, rules]) => [
    escapeForTerminal(relative('', file)),
    ...rules.map((rule) => coverageRow(rule, width, marks)),
  ]);
  return `\n${[marks.faint(head), ...files].join('\n')}\ncoverage ${coverage.percent} %\n`;
}

/** The rules that were never true or never false, one per line; empty when there are none. */
export function reportUncovered(coverage: Coverage): string {
  return coverage.rules
    .filter(({ lacks }) => lacks.length > 0)
    .map((rule) => `  ${escapeForTerminal(relative('', rule.file))}: ${rule.rule} was ${neverText(rule)}\n`)
    .join('');
}

export function countRun(run: TestRun): RunCounts {
  const cases = run.files.flatMap((file) => file.cases);
  const passed = cases.filter(({ outcome }) => outcome === 'passed').length;
  const broken = run.files.filter(({ failure }) => failure !== null).length;
  return { passed, failed: cases.length - passed, broken };
}

/** The whole run as plain data. */
export function runToJson(run: TestRun): object {
  return {
    ...countRun(run),
    durationMs: Math.round(run.durationMs),
    files: run.files,
    coverage: run.coverage,
  };
}

/** A failed case in words, as lines without indentation. */
export function explainFailure(result: CaseResult): readonly string[] {
  const { outcome, decision, mistake } = result;
  if (mistake !== null) return mistake.trimEnd().split('\n');
  const [left, right] = outcome === 'disagreed' ? ['definition', 'compiled'] : ['expected', 'actual'];
  const lines = result.differences.flatMap(({ field, expected, actual }) => [
    field,
    `  ${left.padEnd(10)} ${escapeForTerminal(expected)}`,
    `  ${right.padEnd(10)} ${escapeForTerminal(actual)}`,
  ]);
  const phrase =
    decision === null
      ? []
      : [`decided ${decision.outcome} by ${decision.by}: ${escapeForTerminal(decision.reason)}`];
  const fault = 'the compiled policies and the definition of the language disagree: please report this bug';
  return outcome === 'disagreed' ? [fault, ...lines] : [...lines, ...phrase];
}

const truths = ['true', 'false', 'unknown'] as const satisfies readonly Truth[];

function coverageRow(rule: RuleCoverage, width: number, marks: Marks): string {
  const cells = truths.map((truth) => {
    const text = String(rule.counts[truth]).padStart(8);
    return rule.lacks.includes(truth) ? marks.bad(text) : text;
  });
  const remark = rule.lacks.length === 0 ? '' : `  ${marks.bad(neverText(rule))}`;
  return `  ${rule.rule.padEnd(width)}${cells.join('')}${remark}`;
}

function neverText({ lacks }: RuleCoverage): string {
  return `never ${lacks.join(', never ')}`;
}

function reportFile(file: FileResult, marks: Marks): readonly string[] {
  const path = escapeForTerminal(file.path);
  if (file.failure !== null)
    return [`${marks.bad('✗')} ${path}`, ...indent(file.failure.trimEnd().split('\n'))];
  const failed = file.cases.filter(({ outcome }) => outcome !== 'passed');
  const count = marks.faint(`${file.cases.length - failed.length}/${file.cases.length}`);
  return [
    `${failed.length === 0 ? marks.good('✓') : marks.bad('✗')} ${path} ${count}`,
    ...failed.flatMap((result) => [
      `  ${marks.bad('✗')} ${escapeForTerminal(result.name)} ${marks.faint(`${path}:${result.line}`)}`,
      ...indent(indent(explainFailure(result))),
    ]),
  ];
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? line : `  ${line}`));
}
