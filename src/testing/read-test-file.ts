// Reads the text of a `*.test.yaml` file into cases, with defaults merged. Anything unknown to the format is
// an error with its place, because skipping a misspelt expectation would make a test that cannot fail.

import { dirname, join } from 'node:path';
import { type Diagnostic, sortDiagnostics } from '../language/diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../language/diagnostic/span.ts';
import { readExpectation } from './expectation.ts';
import { find, readMap, readText, readTexts } from './fields.ts';
import { readSequence } from './read-sequence.ts';
import { readSituation } from './situation.ts';
import type { PastRequest, TestCase, TestFile } from './test-file.ts';
import { applyPart, changeKeys, describeChanges, factKeys, type RawFacts } from './watch-changes.ts';
import { type LocatedMap, type LocatedValue, type Report, readYaml, testDiagnostic } from './yaml.ts';

/** Never throws because of the file's content. Paths of policies are relative to the file's folder. */
export function readTestFile(source: SourceText): TestFile {
  const diagnostics = new Map<string, Diagnostic>();
  // Cases share their defaults, so each case would report the same mistake in them.
  const report: Report = (span, message, help) => {
    const key = `${span.start} ${message}`;
    if (!diagnostics.has(key)) diagnostics.set(key, testDiagnostic(span, message, help));
  };
  const root = readYaml(source, report);
  const map = root && readMap(root, { name: 'a test file', keys: fileKeys }, report);
  const defaults = applyPart(new Map(), readDefaults(map ?? null, report), report);
  const cases = readTests(map ?? null, defaults, report);
  return {
    path: source.path,
    text: source.text,
    policies: readPolicyPaths(map ?? null, report).map((path) => join(dirname(source.path), path)),
    cases,
    diagnostics: sortDiagnostics([...diagnostics.values()]),
  };
}

export const fileKeys = ['policies', 'defaults', 'tests'] as const;
export const caseKeys = ['name', ...factKeys, ...changeKeys, 'expect'] as const;
export const testKeys = [...caseKeys, 'cases', 'sequence'] as const;

function readPolicyPaths(file: LocatedMap | null, report: Report): readonly string[] {
  const node = find(file, 'policies');
  if (node === null) return ['.'];
  if (node.kind === 'list') {
    if (node.items.length === 0) report(node.span, '`policies` has no file');
    return (readTexts(node, '`policies`', report) ?? []).map(({ text }) => text);
  }
  const path = readText(node, '`policies`', report);
  return path === null ? [] : [path];
}

function readDefaults(file: LocatedMap | null, report: Report): LocatedMap {
  const nothing: LocatedMap = { kind: 'map', entries: [], span: { file: '', start: 0, end: 0 } };
  const node = find(file, 'defaults');
  return (node && readMap(node, { name: '`defaults`', keys: factKeys }, report)) ?? nothing;
}

function readTests(file: LocatedMap | null, defaults: RawFacts, report: Report): readonly TestCase[] {
  if (file === null) return [];
  const tests = find(file, 'tests');
  if (tests?.kind !== 'list') {
    report(tests?.span ?? file.span, 'a test file needs a list of `tests`');
    return [];
  }
  return tests.items.flatMap((test) => readTest(test, defaults, report));
}

function readTest(located: LocatedValue, defaults: RawFacts, report: Report): readonly TestCase[] {
  const test = readMap(located, { name: 'a test', keys: testKeys }, report);
  if (test === null) return [];
  const facts = applyPart(defaults, test, report);
  const named = find(test, 'name');
  if (named === null) report(test.span, 'a test needs a `name`');
  const name = (named && readText(named, '`name`', report)) ?? '';
  const expect = find(test, 'expect');
  const sequence = find(test, 'sequence');
  if (sequence !== null) return readInSequence({ name, test, sequence, facts, expect }, report);
  const cases = find(test, 'cases');
  if (cases === null) return readCase({ name, span: test.span, facts, expect }, report);
  if (cases.kind !== 'list' || cases.items.length === 0) {
    report(cases.span, '`cases` must be a non-empty list');
    return [];
  }
  return cases.items.flatMap((item, index) => {
    const part = readMap(item, { name: 'a case', keys: caseKeys }, report);
    if (part === null) return [];
    const head = { name: `${name} #${index + 1}${remark(part, report)}`, span: part.span };
    return readCase(
      { ...head, facts: applyPart(facts, part, report), expect: find(part, 'expect') ?? expect },
      report,
    );
  });
}

interface RawSequence {
  readonly name: string;
  readonly test: LocatedMap;
  readonly sequence: LocatedValue;
  readonly facts: RawFacts;
  readonly expect: LocatedValue | null;
}

/** One case per step, each with the steps before it. */
function readInSequence(
  { name, test, sequence, facts, expect }: RawSequence,
  report: Report,
): readonly TestCase[] {
  const [cases, meters] = [find(test, 'cases'), find(test, 'meters')];
  if (cases !== null) report(cases.span, 'a test has either `cases` or a `sequence`');
  if (meters !== null) report(meters.span, 'a sequence counts its own meters', 'omit them');
  const before: PastRequest[] = [];
  return readSequence(sequence, facts, report).flatMap(
    ({ step, elapsedMs, answer, result, ...own }, index) => {
      const remark = own.remark === '' ? '' : ` (${own.remark})`;
      const raw = { name: `${name} #${index + 1}${remark}`, span: step.span, facts: own.facts };
      return readCase({ ...raw, expect: find(step, 'expect') ?? expect }, report).map((one) => {
        const situation = { ...one.situation, nowMs: one.situation.nowMs + elapsedMs };
        const testCase: TestCase = { ...one, situation, before: [...before], answer };
        before.push({ situation, answer, result });
        return testCase;
      });
    },
  );
}

/** What tells a case from its neighbours: its own name, or what it changes. */
function remark(part: LocatedMap, report: Report): string {
  const named = find(part, 'name');
  const text = named === null ? describeChanges(part) : readText(named, '`name`', report);
  return text === null || text === '' ? '' : ` (${text})`;
}

interface RawCase {
  readonly name: string;
  readonly span: Span;
  readonly facts: RawFacts;
  readonly expect: LocatedValue | null;
}

function readCase({ name, span, facts, expect }: RawCase, report: Report): readonly TestCase[] {
  const situation = readSituation(facts, span, report);
  if (expect === null) report(span, 'there is no expectation', 'add `expect:` with a decision');
  const expectation = expect && readExpectation(expect, report);
  return situation === null || expectation === null
    ? []
    : [{ name, span, situation, expectation, before: null, answer: null }];
}
