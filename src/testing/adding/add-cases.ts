// Adds cases to the text of a test file, after the existing cases, whose lines stay unchanged. INVARIANT:
// when the file is read again, it holds exactly the added situation, whatever the file's defaults are; an
// existing case is not added twice.

import { isDeepStrictEqual } from 'node:util';
import type { SourceText } from '../../language/diagnostic/span.ts';
import type { Json, JsonObject } from '../../language/model/json.ts';
import { readTestFile } from '../read-test-file.ts';
import type { Situation, TestCase, TestFile } from '../test-file.ts';
import { insertionPoint } from '../yaml.ts';
import type { AddedCase } from './case-of-clause.ts';

export interface WithCases {
  readonly text: string;
  readonly added: readonly AddedCase[];
}

/** Null when the file is malformed, or its tests are not a list of lines. */
export function addCases({ path, text }: SourceText, cases: readonly AddedCase[]): WithCases | null {
  let now = text.trim() === '' ? 'tests:\n' : text;
  const added: AddedCase[] = [];
  for (const one of cases) {
    const isFirst = added.length === 0 && text.trim() === '';
    const before: TestFile | null = isFirst ? null : readTestFile({ path, text: now });
    if (before !== null && before.diagnostics.length > 0) return null;
    const next = withCase({ path, text: now }, one);
    const last = next === null ? undefined : readTestFile({ path, text: next }).cases.at(-1);
    if (next === null || last === undefined) return null;
    if (before?.cases.some((each) => isSameCase(each, last)) === true) continue;
    now = next;
    added.push(one);
  }
  return { text: now, added };
}

function isSameCase(a: TestCase, b: TestCase): boolean {
  return isDeepStrictEqual([plain(a.situation), a.expectation], [plain(b.situation), b.expectation]);
}

/** The situation without source places. */
function plain({ meters, satisfied, ...facts }: Situation): object {
  return {
    ...facts,
    meters: meters.map(({ meter, low, high }) => ({ meter, low, high })),
    satisfied: satisfied.map(({ kind, rule }) => ({ kind, rule })),
  };
}

function withCase(source: SourceText, one: AddedCase): string | null {
  const insertion = insertionPoint(source);
  if (insertion === null) return null;
  const inserted = (unset: readonly string[]): string => {
    const lines = caseLines(one, unset).map((line) => `${insertion.indent}${line}\n`);
    const before = source.text.slice(0, insertion.offset);
    const isApart = before.endsWith('\n') || before === '';
    return `${before}${isApart ? '' : '\n'}${lines.join('')}${source.text.slice(insertion.offset)}`;
  };
  // Facts that only the file's defaults add are removed by `unset`.
  const read = readTestFile({ ...source, text: inserted([]) }).cases.at(-1);
  return inserted(read === undefined ? [] : surplus(read.situation, one.facts));
}

function caseLines({ name, facts, expect }: AddedCase, unset: readonly string[]): readonly string[] {
  const entries = Object.entries(facts).map(([key, value]) => `  ${key}: ${flow(value)}`);
  const removed = unset.length === 0 ? [] : [`  unset: ${flow(unset)}`];
  return [`- name: ${flow(name)}`, ...entries, ...removed, `  expect: ${flow(expect)}`];
}

/** JSON, which is valid YAML. */
function flow(value: Json | readonly string[]): string {
  return JSON.stringify(value);
}

function surplus(situation: Situation, facts: JsonObject): readonly string[] {
  const given = { ...situation, meters: Object.fromEntries(situation.meters.map(({ meter }) => [meter, 0])) };
  const fields = (['payload', 'agent', 'request', 'meters'] as const).flatMap((root) =>
    Object.keys(given[root])
      .filter((key) => !Object.hasOwn(asObject(facts[root]), key))
      .map((key) => `${root}.${/^\w+$/.test(key) ? key : JSON.stringify(key)}`),
  );
  const kinds = [...new Set(situation.satisfied.map(({ kind }) => kind))];
  const satisfied = kinds
    .filter((kind) => !Object.hasOwn(asObject(facts.satisfied), kind))
    .map((kind) => `satisfied.${kind}`);
  return [...fields, ...satisfied];
}

function asObject(value: Json | undefined): object {
  return typeof value === 'object' && value !== null ? value : {};
}
