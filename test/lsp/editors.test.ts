// Editors that people have, without a screen: Neovim and Emacs with eglot, where the machine has them. `npm run editors` asks
// for both.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const [neovim, emacs] = ['/usr/bin/nvim', '/usr/bin/emacs'];
const eglot = '/usr/share/emacs/site-lisp/elpa';
const isWanted = process.env.WRIT_EDITORS !== undefined;
const entry = join(import.meta.dirname, '../../src/tools/cli/writ.js');

const shared = `list vendors = ["Staples", "Dell"]
action payment.create { amount: number, vendor: string }
`;
const rules = `policy payments on payment.create {
  allow known when payload.vendr in vendors
      deny much when payload.amount > 50
}
`;

async function inEditor(program: string, args: readonly string[]) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-editor-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'policies'));
  writeFileSync(join(folder, 'policies/shared.policy'), shared);
  const file = join(folder, 'policies/rules.policy');
  writeFileSync(file, rules);
  const env = {
    ...process.env,
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_STATE_HOME: folder,
    WRIT_COMMAND: JSON.stringify([process.execPath, entry, 'lsp', '--stdio']),
    WRIT_FOLDER: folder,
    WRIT_FILE: file,
  };
  const { stdout, stderr } = await run(program, [...args], { env, timeout: 60_000 });
  const line = `${stdout}\n${stderr}`.split('\n').find((one) => one.startsWith('{'));
  return JSON.parse(line ?? 'null');
}

const script = (name: string) => join(import.meta.dirname, 'editors', name);
const canonical = `policy payments on payment.create {
  allow known
    when payload.vendor in vendors

  deny much
    when payload.amount > 50
}
`;

test.skipIf(!isWanted && !existsSync(neovim))('Neovim', { timeout: 60_000 }, async () => {
  const got = await inEditor(neovim, [
    '--headless',
    '-n',
    '-u',
    'NONE',
    '-c',
    `luafile ${script('neovim.lua')}`,
  ]);
  expect(got).toMatchObject({
    diagnostics: [{ line: 1, message: expect.stringContaining('vendor') }],
    fixed: 0,
    definition: 'shared.policy',
    hover: expect.stringContaining('list vendors'),
    symbols: ['payments'],
  });
  expect(got.completions).toBeGreaterThan(0);
  expect(`${got.text}\n`).toBe(canonical);
});

test.skipIf(!isWanted && !(existsSync(emacs) && existsSync(eglot)))(
  'Emacs',
  { timeout: 60_000 },
  async () => {
    const got = await inEditor(emacs, ['-Q', '--batch', '-l', script('eglot.el')]);
    expect(got).toMatchObject({ diagnostics: ['unknown-field'], fixed: 0, definition: ['shared.policy'] });
    expect(got.text).toBe(canonical);
  },
);
