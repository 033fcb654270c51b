// The table and the pages of diagnostics match, and the advice of the pages is true: each example to avoid
// has its code, and no example to prefer has it. UPDATE_GOLDEN=1 writes the index.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readingVerbs } from '../../../src/language/check/warnings/rules/open-allows.ts';
import { checkWarnings } from '../../../src/language/diagnostic/check-codes.ts';
import { codes, sourceCodes, sourceWarnings } from '../../../src/language/diagnostic/codes.ts';
import { syntaxCodes, syntaxWarnings } from '../../../src/language/diagnostic/syntax-codes.ts';
import { diagnose, pageNames, prelude, readPage } from './pages.ts';

const names = Object.keys(codes).sort();

/** Tests for the codes whose examples do not fit on a page; codes of the checker have golden cases. */
const drawnBy: Readonly<Record<string, string>> = {
  'directory-unreadable': 'test/service/policies/read.test.ts',
  'change-unfinished': 'test/service/policies/change-files.test.ts',
  'no-policy-files': 'test/service/policies/read.test.ts',
  'file-empty': 'test/service/policies/read.test.ts',
  'file-not-read': 'test/service/policies/read.test.ts',
  'file-unreadable': 'test/service/policies/read.test.ts',
  'file-outside': 'test/service/policies/read.test.ts',
  'file-not-utf8': 'test/service/policies/read.test.ts',
  'file-too-large': 'test/service/policies/read.test.ts',
  'owners-malformed': 'test/language/check/owners/owners.test.ts',
  'action-not-owned': 'test/language/check/owners/owners.test.ts',
  'read-not-owned': 'test/language/check/owners/owners.test.ts',
  'list-file-unreadable': 'test/service/policies/read.test.ts',
  'list-file-too-large': 'test/service/policies/read.test.ts',
  'bidi-control': 'test/language/syntax/cases/characters.txt',
  'control-character': 'test/language/syntax/cases/characters.txt',
  'nesting-too-deep': 'test/language/syntax/parse.test.ts',
  'expression-too-deep': 'test/language/syntax/parse.test.ts',
  'too-many-problems': 'test/language/syntax/parse.test.ts',
};

describe('the pages', () => {
  it('are those of the table', () => {
    expect(pageNames()).toEqual(names);
  });

  it.each(names)('%s', (name) => {
    const page = readPage(name);
    expect(page).toMatchObject({ code: name, summary: codes[name as keyof typeof codes] });
    const isWarning = name in checkWarnings || name in syntaxWarnings || name in sourceWarnings;
    expect(page.severity).toBe(isWarning ? 'warning' : 'error');
    expect(sentencesOf(page.why)).toBeGreaterThanOrEqual(1);
    expect(sentencesOf(page.why)).toBeLessThanOrEqual(4);
    if (typeof page.setting === 'object') return;
    const avoided = diagnose(page.avoid, page.setting).filter(({ code }) => code === name);
    expect(new Set(avoided.map(({ severity }) => severity))).toEqual(new Set([page.severity]));
    const preferred = diagnose(page.prefer, page.setting);
    expect(preferred.filter(({ code, severity }) => code === name || severity === 'error')).toEqual([]);
  });

  it('that are not executed are drawn by a test elsewhere', () => {
    const left = names.filter((name) => typeof readPage(name).setting === 'object').filter(isDrawnNowhere);
    // This code needs a directory of 100,001 files.
    expect(left).toEqual(['directory-too-large']);
  });
});

it('the page of allow-unconditional lists the verbs of actions that only read', () => {
  const listed = [...readPage('allow-unconditional').why.matchAll(/`([a-z]+)`/g)].map(([, word]) => word);
  expect(listed.filter((word) => word !== 'allow')).toEqual([...readingVerbs]);
});

function isDrawnNowhere(name: string): boolean {
  const path = drawnBy[name] ?? `test/language/check/cases/${name}.policy`;
  return !existsSync(path) || !readFileSync(path, 'utf8').includes(name);
}

/** Periods inside of code end no sentence. */
function sentencesOf(text: string): number {
  return text.replace(/`[^`]*`/g, 'code').match(/[.?!](?=\s|$)/g)?.length ?? 0;
}

describe('the page of silences', () => {
  const page = readFileSync('docs/diagnostics/silences.md', 'utf8');
  const example = /```writ\n(.*?)```/s.exec(page)?.[1] ?? '';

  it('shows one that works', () => {
    expect(diagnose(example, 'whole')).toEqual([]);
    const bare = example.replace(/ # writ:.*/g, '');
    expect(diagnose(bare, 'whole').map(({ code }) => code)).toEqual(['allow-wildcard']);
  });
});

describe('the index', () => {
  const path = 'docs/diagnostics/README.md';

  it('is fresh', () => {
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, index());
    expect(readFileSync(path, 'utf8')).toBe(index());
  });
});

function index(): string {
  const checked = names.filter((name) => !(name in sourceCodes) && !(name in syntaxCodes));
  const groups: Readonly<Record<string, readonly string[]>> = {
    Files: Object.keys(sourceCodes),
    Syntax: Object.keys(syntaxCodes),
    Meaning: checked.filter((name) => !(name in checkWarnings)),
    'Probably not meant': checked.filter((name) => name in checkWarnings),
  };
  const sections = Object.entries(groups).map(([title, group]) => `## ${title}\n\n${table(group)}\n`);
  return [
    '# Diagnostics\n',
    'Each code has a page: an example that causes it, the corrected example, and why it matters. A set with an error is not used. A',
    'set with warnings is, unless `--strict` is given; a comment with a reason [silences](silences.md) a warning.\n',
    ...sections,
    '## The prelude\n',
    'Examples that are no whole policy set stand in or beside this one, as their page says. The file `lists/blocked.txt`',
    'is there too and holds `Acme` and `Bolt`, and `tables/orders.csv` has the columns `id` and `owner`.\n',
    `\`\`\`writ\n${prelude}\`\`\`\n`,
  ].join('\n');
}

function table(group: readonly string[]): string {
  const rows = [...group].sort().map((name) => {
    const { severity, summary } = readPage(name);
    return `| [${name}](${name}.md) | ${severity} | ${summary.replaceAll('|', '\\|')} |`;
  });
  return ['| code | severity | summary |', '| --- | --- | --- |', ...rows].join('\n');
}
