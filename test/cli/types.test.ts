// `writ types`: its output compiles with the client, and a payload that the gate would refuse does not
// compile.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writ } from './writ.ts';

const policies = `
action payment.create {
  amount: number
  currency: "USD" | "EUR"
  vendor?: string
  due: date | null
  lines: [{ sku: string, count: integer, ... }]
  "odd-name": ["a" | "b"]
  extra?: any
}
action ping.now { }
action open.log { ... }
`;

/** A folder inside of the checkout, so that the client is found. */
function folder(): string {
  const path = mkdtempSync(join(import.meta.dirname, 'types-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('the types compile, and check calls against the declarations', async () => {
  const path = folder();
  writeFileSync(join(path, 'a.policy'), policies);
  const { stdout, code } = await writ(['types', path]);
  expect(code).toBe(0);
  writeFileSync(join(path, 'actions.ts'), stdout);
  const call = (line: string) => `// @ts-expect-error a payload of another shape\nwrit.authorize(${line});`;
  const text = [
    "import { connect } from '../../../integrations/typescript/client.ts';",
    "import type { Actions } from './actions.ts';",
    "const writ = connect<Actions>({ url: 'http://localhost', key: 'k' });",
    "const good = { amount: 1, currency: 'USD', due: null, lines: [{ sku: 'a', count: 1, more: true }], 'odd-name': ['a'] } as const;",
    "writ.authorize('payment.create', good);",
    "writ.authorize('payment.create', { ...good, vendor: 'x', due: '2026-03-02', extra: [1] });",
    "writ.authorize('ping.now', {});",
    "writ.authorize('open.log', { anything: 1 });",
    call("'payment.create', {}"),
    call("'payment.create', { ...good, amount: '1' }"),
    call("'payment.create', { ...good, currency: 'GBP' }"),
    call("'payment.create', { ...good, due: undefined }"),
    call("'payment.create', { ...good, lines: [{ sku: 'a' }] }"),
    call("'payment.create', { ...good, 'odd-name': ['c'] }"),
    call("'payment.created', good"),
    call("'ping.now', { n: 1 }"),
  ].join('\n');
  writeFileSync(join(path, 'calls.ts'), text);
  const options = { extends: '../../../tsconfig.json', include: ['*.ts'], files: [], exclude: [] };
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify(options));
  const compiled = spawnSync('node_modules/.bin/tsc', ['-p', path], { encoding: 'utf8' });
  expect(compiled.stdout).toBe('');
  expect(compiled.status).toBe(0);
});

test('policies with errors produce no types', async () => {
  const path = folder();
  writeFileSync(join(path, 'a.policy'), 'action a.b { x: nothing }');
  const { code, stdout, stderr } = await writ(['types', path]);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('nothing');
});
