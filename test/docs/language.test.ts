// Runs the contents of the language reference: its policies compile, its tests pass, its examples are true,
// its tables of values show what the gate accepts and how it spells it, and its table of functions matches the
// source. UPDATE_GOLDEN=1 rewrites the table of functions.

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasErrors } from '../../src/language/diagnostic/diagnostic.ts';
import { builtins } from '../../src/language/model/builtins.ts';
import type { JsonObject } from '../../src/language/model/json.ts';
import { titleText } from '../../src/language/model/title.ts';
import { resolveRecord } from '../../src/language/spec/payload.ts';
import { reservedWords, ruleNameWords } from '../../src/language/syntax/parse/tokens.ts';
import { compile } from '../../src/pipeline.ts';
import { runTestFiles } from '../../src/testing/run.ts';
import { createFolder } from '../service/policies/folder.ts';

const page = 'docs/LANGUAGE.md';
const text = readFileSync(page, 'utf8');

const fields = `
  note: string
  mail: email
  link: url
  file: path
  peer: ip
  extra?: string
  names: [string]
  lines: [{ sku: string, price: number }]`;

function blocks(language: string, within = text): readonly string[] {
  return [...within.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
    .filter(([, one]) => one === language)
    .map(([, , block = '']) => block);
}

/** The cells of the table behind a mark, without its head. */
function tableAfter(mark: string): readonly (readonly string[])[] {
  const lines = text
    .slice(text.indexOf(`<!-- ${mark}`))
    .split('<!-- end -->')[0]!
    .split('\n');
  return lines
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|').slice(1, -1));
}

/** The texts in code style in a cell. */
function codes(cell = ''): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

const expressions = text.slice(text.indexOf('\n## Expressions'), text.indexOf('\n## Silences'));
const examples = [
  ...blocks('', expressions).flatMap((block) => block.trim().split('\n')),
  ...Object.values(builtins).map(({ example }) => example),
];
const payload = JSON.parse(/^`(\{"note".*\})`$/m.exec(text)?.[1] ?? '') as JsonObject;

function compileText(policies: string) {
  return compile({
    files: [{ path: 'docs.policy', text: policies }],
    readListFile: (path) =>
      path === 'tables/orders.csv'
        ? { text: 'id,owner,status,limit,cur,tags\no-1,ann,open,5,USD,a;b\n' }
        : { code: 'list-file-missing', message: path },
  });
}

function decide(policies: string, action: string, sent: JsonObject) {
  const { engine, diagnostics } = compileText(policies);
  expect(diagnostics.filter((one) => hasErrors([one]))).toEqual([]);
  return engine!.decideTraced({
    action,
    payload: sent,
    agent: {},
    request: {},
    nowMs: Date.parse('2026-03-02T10:00:00+01:00'),
    meters: {},
    satisfied: { escalate: [], reauth: [] },
  });
}

/** The decision on a payload of the one field `x`, of an action that allows everything. */
function decideField(type: string, x: string) {
  return decide(`action a.b { x: ${type} }\npolicy p on a.b { allow any }`, 'a.b', { x });
}

describe('the language reference', () => {
  it.each(examples)('%s', (example) => {
    const policies = `action doc.read {${fields}\n}\npolicy docs on doc.read {\n  allow example\n    when ${example}\n}`;
    expect(decide(policies, 'doc.read', payload).decision.outcome).toBe('ALLOW');
  });

  it('compiles its first policy without a warning', () => {
    expect(compileText(blocks('writ')[0]!).diagnostics).toEqual([]);
  });

  // Short examples leave out lower bounds and uses.
  const short: ReadonlySet<string> = new Set(['allow-wildcard', 'unused-declaration', 'upper-bound-alone']);
  it.each(blocks('writ'))('compiles %s', (policies) => {
    expect(compileText(policies).diagnostics.filter(({ code }) => !short.has(code))).toEqual([]);
  });

  it('passes its tests', async () => {
    const folder = createFolder({ 'a.policy': blocks('writ')[0]!, 'a.test.yaml': blocks('yaml')[0]! });
    const { files } = await runTestFiles([folder]);
    expect(files.flatMap(({ cases }) => cases.map(({ outcome }) => outcome))).toEqual(
      Array.from({ length: 4 }, () => 'passed'),
    );
  });

  it.each(
    tableAfter('values').flatMap(([type, accepted, refused]) => [
      ...codes(accepted).map((value) => [codes(type)[0]!, value, 'ALLOW'] as const),
      ...codes(refused).map((value) => [codes(type)[0]!, value, 'DENY'] as const),
    ]),
  )('a field of type %s with %s: %s', (type, value, outcome) => {
    expect(decideField(type, value).decision.outcome).toBe(outcome);
  });

  it.each(
    tableAfter('amounts').flatMap(([accepted, refused]) => [
      ...codes(accepted).map((amount) => [amount, 'ALLOW'] as const),
      ...codes(refused).map((amount) => [amount, 'DENY'] as const),
    ]),
  )('the amount %s: %s', (amount, outcome) => {
    const policies = 'action a.b { x: money(c), c: string }\npolicy p on a.b { allow any }';
    const [number, currency = ''] = amount.split(' ');
    expect(decide(policies, 'a.b', { x: Number(number), c: currency }).decision.outcome).toBe(outcome);
  });

  it.each(tableAfter('spellings').map((cells) => cells.map((cell) => codes(cell)[0]!)))(
    'a field of type %s with %s is read as %s',
    (type, sent, canonical) => {
      expect(decideField(type!, sent!).payload).toEqual({ x: canonical });
    },
  );

  it.each(tableAfter('titles').map((cells) => cells.map((cell) => codes(cell)[0]!)))(
    'the title of %s is %s',
    (sent, shown) => {
      const declared = codes(/^`action mail\.draft .*`:$/m.exec(text)?.[0])[0]!;
      const { title, shape } = compileText(
        `${declared}\npolicy p on mail.draft { allow any }`,
      ).set!.actions.get('mail.draft')!;
      const given = JSON.parse(sent!) as JsonObject;
      expect(titleText(title!, given, resolveRecord(shape, given))).toBe(shown);
    },
  );

  it('shows examples of each kind', () => {
    const counts = ['values', 'amounts', 'spellings', 'titles'].map((mark) => tableAfter(mark).length);
    expect(counts).toEqual([8, 1, 6, 3]);
    expect(blocks('writ').length).toBeGreaterThanOrEqual(12);
  });

  it('lists the words that name nothing', () => {
    const [, nothing = ''] = /These name nothing else: ([^.]*)\./.exec(text) ?? [];
    const [, rules = ''] = /These name a policy, rule or guarantee, but no value: ([^.]*)\./.exec(text) ?? [];
    expect(new Set(codes(rules))).toEqual(ruleNameWords);
    expect(new Set([...codes(nothing), ...codes(rules)])).toEqual(new Set(reservedWords));
  });

  it('can be read in half an hour, and has no long text in a table', () => {
    expect(text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length).toBeLessThanOrEqual(8_000);
    const cells = text.split('\n').flatMap((line) => (line.startsWith('| ') ? line.split(' | ') : []));
    expect(cells.filter((cell) => cell.split(/\s+/).length > 35)).toEqual([]);
  });

  it('shows the functions there are', () => {
    const rows = Object.values(builtins).map(
      ({ signature, meaning, example }) =>
        `| \`${signature.replaceAll('|', '\\|')}\` | ${meaning} | \`${example}\` |`,
    );
    const table = `| function | | true, for example |\n|---|---|---|\n${rows.join('\n')}\n`;
    const made = text.replace(
      /(<!-- functions: .*-->\n)[\s\S]*?(<!-- end -->)/,
      (_, start, end) => `${start}${table}${end}`,
    );
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, made);
    expect(process.env.UPDATE_GOLDEN === '1' ? made : text).toBe(made);
  });
});
