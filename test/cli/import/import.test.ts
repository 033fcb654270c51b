// `writ import` on settings files of each host: the policies, tests and report equal the files beside the settings, the
// policies have no warning, and the tests pass. UPDATE_GOLDEN=1 writes the files.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readCommentedJson } from '../../../src/cli/output/commented-json.ts';
import { writ } from '../writ.ts';
import { casesFolder, folders, importCases } from './cases.ts';

const options = ['--project', folders.project, '--home', folders.home];

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'writ-import-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test.each(importCases())('$name', async ({ name, source, file }) => {
  const out = join(folder(), 'out');
  const ran = await writ(['import', source, join(casesFolder, name, file), '--out', out, ...options]);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(out)).toHaveLength(3);
  for (const made of readdirSync(out)) {
    // Beside the settings the report is no page of the documentation.
    const golden = join(casesFolder, name, made.replace(/\.md$/, '.txt'));
    const text = readFileSync(join(out, made), 'utf8');
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(golden, text);
    expect(text).toBe(existsSync(golden) ? readFileSync(golden, 'utf8') : '');
  }
  expect(await writ(['fmt', '--check', out])).toMatchObject({ code: 0 });
  const checked = await writ(['check', '--strict', out]);
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  const tested = await writ(['test', out]);
  expect(tested.code, tested.stdout + tested.stderr).toBe(0);
});

/** All texts in the lists of a JSON settings file, in its comments none. */
function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((one): one is string => typeof one === 'string');
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

test('each entry of a settings file is in the report, with its rules or a reason', () => {
  for (const { name, file, text, settings } of importCases()) {
    const report = readFileSync(join(casesFolder, name, `${settings.name}.report.txt`), 'utf8');
    const rows = report.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| list'));
    const entries = file.endsWith('.json') ? [...new Set(textsIn(readCommentedJson(text)))] : [];
    for (const entry of entries)
      expect(
        rows.filter((row) => row.includes(` \`${entry}\` |`)).length,
        `${name}: ${entry}`,
      ).toBeGreaterThan(0);
    const calls = text.match(/^(?:prefix_rule|host_executable|\[\[rule\]\])/gm) ?? [];
    expect(rows.length, name).toBeGreaterThanOrEqual(Math.max(entries.length, calls.length));
    for (const row of rows) expect(row).toMatch(/\| (?:`\w+(?:\/\w+)?`.*|not carried: .+) \|$/);
  }
});

test.each([
  [
    'claude-settings',
    'settings.json',
    '{ "permissions": { "allow": "Bash" } }',
    '`permissions.allow` is not a list',
  ],
  ['claude-settings', 'settings.json', '{ "permissions": { "deny": [1] } }', 'has an entry that is no text'],
  ['claude-settings', 'settings.json', '{ "permissions": ', 'settings.json: '],
  [
    'claude-settings',
    'settings.json',
    '{ "permissions": { "allow": ["mcp__a__b_c"], "deny": ["mcp__a_b__c"] } }',
    'differ too little',
  ],
  [
    'claude-settings',
    'settings.json',
    '{ "permissions": { "deny": ["Bash(rm \\u202E:*)"] } }',
    'cannot be written as a policy',
  ],
  ['codex', 'a.rules', 'prefix_rule(pattern = ["a"], decision = "maybe")', 'is not known'],
  ['codex', 'a.rules', 'x = 1', 'line 1: '],
  ['codex', 'a.rules', 'prefix_rule(pattern = [a for a in b])', 'line 1: '],
  ['codex', 'a.rules', 'prefix_rule(decision = "forbidden")', 'has no pattern'],
  ['codex', 'config.toml', 'a = [', 'line 1: '],
  ['gemini', 'settings.json', '{ "tools": { "exclude": {} } }', '`tools.exclude` is not a list'],
  ['gemini', 'p.toml', '[[rule]]\ndecision = "no"', 'rule 1 has no known decision'],
  ['cursor', 'cli.json', '{ "permissions": { "deny": "x" } }', '`deny` is not a list'],
])('%s: %s that is not understood makes no policy: %s', async (source, file, text, message) => {
  const path = join(folder(), file);
  writeFileSync(path, text);
  const { code, stdout, stderr } = await writ(['import', source, path]);
  expect(stderr).toContain(message);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test('prints the policies, and the report on standard error; writes over no file', async () => {
  const out = folder();
  const file = join(casesFolder, 'claude-node', 'settings.json');
  const printed = await writ(['import', 'claude-settings', file, ...options]);
  expect(printed.stdout).toBe(readFileSync(join(casesFolder, 'claude-node', 'claude_code.policy'), 'utf8'));
  expect(printed.stderr).toBe(
    readFileSync(join(casesFolder, 'claude-node', 'claude_code.report.txt'), 'utf8'),
  );
  writeFileSync(join(out, 'claude_code.test.yaml'), 'mine');
  const refused = await writ(['import', 'claude-settings', file, '--out', out]);
  expect(refused.stderr).toMatch(/claude_code\.test\.yaml exists already; nothing was written/);
  expect(refused.code).toBe(2);
  expect(readdirSync(out)).toEqual(['claude_code.test.yaml']);
});
