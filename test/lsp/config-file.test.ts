// `writ.yaml` in an editor: the findings of `writ config`, and the settings of the file.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Editor, type Got, openEditor } from './client.ts';

const file = 'writ.yaml';
let editor: Editor;
beforeAll(async () => {
  editor = await openEditor({ 'policies/a.policy': 'action a.b {}\n' });
});

const wrong = 'prt: 1\nlimits:\n  burst: many\nlog:\n  level: loud\n';

test('gets diagnostics at their places', async () => {
  editor.open(file, wrong);
  const places = () => editor.diagnostics(file)?.map(({ range }) => range.start.line + 1);
  await expect.poll(places).toEqual([1, 3, 5]);
  editor.change(file, 'port: 8080\n');
  await expect.poll(places).toEqual([]);
  editor.change(file, 'smtp:\n  url: smtp://mail\n');
  await expect.poll(places).toEqual([2]);
  editor.change(file, 'a: [');
  await expect.poll(places).toEqual([1]);
  editor.close(file);
  await expect.poll(places).toEqual([]);
});

test('gets no diagnostic that `writ config` does not print', async () => {
  editor.open(file, wrong);
  await expect.poll(() => editor.diagnostics(file)?.length).toBe(3);
  editor.write(file, wrong);
  const entry = join(import.meta.dirname, '../../src/cli/writ.js');
  const { stderr } = spawnSync(process.execPath, [entry, 'config'], { cwd: editor.folder, encoding: 'utf8' });
  const lines = stderr.trim().split('\n');
  expect(lines).toHaveLength(3);
  for (const [at, { message }] of (editor.diagnostics(file) as Got[]).entries())
    expect(lines[at]).toContain(message);
  editor.close(file);
});

test.each([
  ['li|', ['limits.burst', 'port', 'log.level', 'log.format']],
  ['limits:\n  b|', ['burst', 'rate_per_minute']],
  ['log:\n  level: |', ['trace', 'silent']],
  ['receipts: |', ['true', 'false']],
])('%j offers what may stand there', async (marked, labels) => {
  const position = editor.open(file, marked);
  const items = await editor.at('textDocument/completion', file, position, { context: { triggerKind: 1 } });
  expect(items.map(({ label }: Got) => label)).toEqual(expect.arrayContaining([...labels]));
  editor.close(file);
});

test('tells what a setting takes', async () => {
  const position = editor.open(file, 'limits:\n  bu|rst: 5\n');
  const { contents } = await editor.at('textDocument/hover', file, position);
  expect(contents.value).toContain('`limits.burst`: whole number from 1 to 1000000000 (default 100)');
  expect(contents.value).toContain('`WRIT_LIMITS_BURST`');
  editor.close(file);
});
