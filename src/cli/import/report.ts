// The report of an import, and the tests of what the imported policies decide, as texts. Both have one form for all sources.

import type { JsonObject } from '../../language/model/json.ts';
import type { ImportedEntry } from './write-policies.ts';

export interface ImportFiles {
  readonly policy: string;
  readonly tests: string;
  readonly report: string;
  readonly entries: readonly ImportedEntry[];
  readonly words: EntryWords;
}

/** The words for an entry and for its place. */
export interface EntryWords {
  readonly entry: string;
  readonly entries: string;
  readonly place: string;
}

export interface Report {
  /** What was imported, such as `The permissions of Codex`. */
  readonly title: string;
  readonly words: EntryWords;
  /** What becomes of what only entries without rules allow. */
  readonly rest: string;
  readonly entries: readonly ImportedEntry[];
  readonly notes: readonly string[];
  /** Further lines at the end. */
  readonly more?: readonly string[];
}

export function reportText({ title, words, rest, entries, notes, more = [] }: Report): string {
  const left = entries.filter(({ reason }) => reason !== null).length;
  const others = left === 0 ? '' : ` The others are not carried; ${rest}.`;
  return [
    `# ${title} as policies\n`,
    `${entries.length - left} of ${entries.length} ${words.entries} have rules.${others}\n`,
    `| ${words.place} | ${words.entry} | rules |`,
    '|---|---|---|',
    ...entries.map((one) => `| ${inCell(one.list)} | ${code(one.text)} | ${becameText(one)} |`),
    '',
    '## What the policies assume, and where they are stricter\n',
    ...notes.map((note) => `- ${note}`),
    '',
    ...more,
  ].join('\n');
}

function becameText({ rules, reason, stricter }: ImportedEntry): string {
  if (reason !== null) return `not carried: ${inCell(reason)}`;
  const names = rules.map((name) => `\`${name}\``).join(', ');
  return stricter === null ? names : `${names}; stricter: ${inCell(stricter)}`;
}

export function inCell(value: string): string {
  return value.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}

export function code(value: string): string {
  return `\`${inCell(value).replaceAll('`', "'")}\``;
}

/** A request with the decision of the imported policies. */
export interface TestCase {
  readonly name: string;
  readonly action: string;
  readonly payload: JsonObject;
  readonly decision: string;
  readonly rule: string;
}

/** A file of tests; `about` says what its requests are, and `defaults` are further lines of the facts of all. */
export function testsText(
  cases: readonly TestCase[],
  { about, defaults = [] }: { readonly about: string; readonly defaults?: readonly string[] },
): string {
  const texts = cases.map(({ name, action, payload, decision, rule }) =>
    [
      `  - name: ${JSON.stringify(name)}`,
      `    action: ${action}`,
      `    payload: ${JSON.stringify(payload)}`,
      `    expect: { decision: ${decision}, by: ${rule} }`,
      '',
    ].join('\n'),
  );
  const facts = ['now: 2026-03-02T10:00:00Z', ...defaults].map((line) => `  ${line}\n`).join('');
  return `# What the imported policies decide about ${about}. Written by \`writ import\`.\n\ndefaults:\n${facts}\ntests:\n${texts.join('')}`;
}
