// Writes a test run as JUnit XML for build servers, with a suite for each file and a testcase for each case.

import { explainFailure } from './report.ts';
import type { CaseResult, FileResult, TestRun } from './run.ts';

export function reportJunit(run: TestRun): string {
  const suites = run.files.map(suite).join('\n');
  const seconds = secondsOf(run.durationMs);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="writ" time="${seconds}">\n${suites}\n</testsuites>\n`;
}

function suite({ path, failure, cases }: FileResult): string {
  // A file that could not run becomes one case with an error: an empty suite would look like success.
  const errors = failure === null ? cases.filter(isError).length : 1;
  const failures = cases.filter(({ outcome }) => outcome === 'failed').length;
  const tests = failure === null ? cases.length : 1;
  const body =
    failure === null
      ? cases.map((one) => testcase(path, one)).join('\n')
      : element(path, { name: 'load', line: 1, seconds: '0' }, problem('error', 'not run', failure));
  const time = secondsOf(cases.reduce((sum, { durationMs }) => sum + durationMs, 0));
  const counts = `tests="${tests}" failures="${failures}" errors="${errors}" time="${time}"`;
  return `  <testsuite name="${escapeXml(path)}" ${counts}>\n${body}\n  </testsuite>`;
}

function testcase(path: string, result: CaseResult): string {
  const { name, line, outcome } = result;
  const body =
    outcome === 'passed'
      ? ''
      : problem(isError(result) ? 'error' : 'failure', outcome, explainFailure(result).join('\n'));
  return element(path, { name, line, seconds: secondsOf(result.durationMs) }, body);
}

function isError({ outcome }: CaseResult): boolean {
  return outcome === 'disagreed' || outcome === 'mistaken';
}

function element(
  path: string,
  { name, line, seconds }: { readonly name: string; readonly line: number; readonly seconds: string },
  body: string,
): string {
  const attributes = `classname="${escapeXml(path)}" name="${escapeXml(name)}" file="${escapeXml(path)}" line="${line}" time="${seconds}"`;
  return body === ''
    ? `    <testcase ${attributes}/>`
    : `    <testcase ${attributes}>\n${body}\n    </testcase>`;
}

function problem(kind: 'failure' | 'error', message: string, text: string): string {
  return `      <${kind} message="${escapeXml(message)}">${escapeXml(text)}</${kind}>`;
}

function secondsOf(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

/** Replaces characters that XML 1.0 cannot hold by the replacement character. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
