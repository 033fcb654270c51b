// What the pages of the packs say that they stop, asked for in roundabout ways: other spellings, names that
// are none, texts that hide a link or a key, addresses that do something. None of it is allowed before a
// person has decided. The facts beside the payload are those of the pack's own tests, which leave room in
// every budget.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writ } from '../cli/writ.ts';
import { createFolder } from '../service/policies/folder.ts';

interface Asked {
  readonly pack: string;
  readonly action: string;
  readonly payload: unknown;
}

const asked = readFileSync(new URL('roundabout.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Asked);
const byPack = Map.groupBy(asked, ({ pack }) => pack);

it('asks a thousand of ten packs', () => {
  expect(asked.length).toBeGreaterThanOrEqual(1_000);
  expect(byPack.size).toBe(10);
});

it.each([...byPack])('%s allows none of them', async (pack, requests) => {
  const cwd = createFolder();
  await writ(['init', 'rules', '--pack', pack], { cwd });
  const folder = join(cwd, 'rules');
  const [own = ''] = readdirSync(folder).filter((file) => file.endsWith('.test.yaml'));
  const [defaults] = readFileSync(join(folder, own), 'utf8').split(/^tests:$/m);
  rmSync(join(folder, own));
  const tests = requests.map(({ action, payload }, at) => ({
    name: `${at} ${JSON.stringify(payload).slice(0, 150)}`,
    action,
    payload,
    expect: { not: 'ALLOW' },
  }));
  const cases = tests.map((one) => `  - ${JSON.stringify(one)}\n`).join('');
  writeFileSync(join(folder, 'roundabout.test.yaml'), `${defaults}tests:\n${cases}`);
  const { code, stdout } = await writ(['test', 'rules'], { cwd });
  expect(stdout.split('\n').filter((line) => line.startsWith('  ✗'))).toEqual([]);
  expect(stdout).toMatch(new RegExp(`^${requests.length} passed`, 'm'));
  expect(code).toBe(0);
});
