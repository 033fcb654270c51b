// LAW: real editors get from the server what a protocol client gets: Neovim, and Emacs with eglot, without a
// screen.

import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Got, openEditor } from '../lsp/client.ts';
import { asksIn, mended, workspace } from './editors/asks.ts';
import { requireProgram } from './programs.ts';

const run = promisify(execFile);
const [neovim, emacs] = ['/usr/bin/nvim', '/usr/bin/emacs'];
const entry = join(import.meta.dirname, '../../src/cli/writ.js');
const timeout = 180_000;

/** The one change since HEAD is an added rule. */
const committed = mended.replace('      deny much when payload.amount > most\n', '');

/** The value without empty parts, because each editor writes them in its own way. */
function plain(value: Got, folder: string): Got {
  if (typeof value === 'string')
    return value.replaceAll(pathToFileURL(folder).href, '').replaceAll(folder, '');
  if (typeof value !== 'object' || value === null) return value === false ? undefined : (value ?? undefined);
  const inner = Array.isArray(value)
    ? value.map((one) => plain(one, folder))
    : Object.fromEntries(
        Object.entries(value)
          .map(([key, one]) => [key.replace(pathToFileURL(folder).href, ''), plain(one, folder)])
          .filter(([, one]) => one !== undefined),
      );
  return Object.keys(inner).length === 0 ? undefined : inner;
}

function commit(folder: string): void {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder });
  writeFileSync(join(folder, 'policies/rules.policy'), committed);
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first');
  writeFileSync(join(folder, 'policies/rules.policy'), workspace['policies/rules.policy'] ?? '');
}

/** Expected answers by the name of the request. */
const expected: Record<string, Got> = {};
beforeAll(async () => {
  const editor = await openEditor(workspace);
  commit(editor.folder);
  for (const [file, text] of Object.entries(workspace)) editor.open(file, text);
  editor.change('policies/rules.policy', mended);
  for (const { name, method, params, isResolved } of asksIn(editor.folder)) {
    const answer = await editor.ask(method, params);
    const told = (lens: Got) => (lens.command ? lens : editor.ask('codeLens/resolve', lens));
    expected[name] = plain(isResolved ? await Promise.all(answer.map(told)) : answer, editor.folder);
  }
}, timeout);

test('a protocol client gets an answer of each', () => {
  expect(Object.keys(expected).filter((name) => expected[name] === undefined)).toEqual([]);
});

async function inEditor(program: string, args: readonly string[]): Promise<Got> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-editor-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(workspace)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  commit(folder);
  const env = {
    ...process.env,
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_STATE_HOME: folder,
    WRIT_COMMAND: JSON.stringify([process.execPath, entry, 'lsp', '--stdio']),
    WRIT_FOLDER: folder,
    WRIT_FILES: JSON.stringify(Object.keys(workspace)),
    WRIT_ASKS: JSON.stringify(asksIn(folder)),
  };
  const { stdout, stderr } = await run(program, [...args], { env, timeout, maxBuffer: 64 * 1024 * 1024 });
  const line = `${stdout}\n${stderr}`.split('\n').find((one) => one.startsWith('{'));
  if (line === undefined) throw new Error(`${program} has printed nothing: ${stdout}${stderr}`);
  const { answers, ...own } = JSON.parse(line);
  return { own, answers: plain(answers, folder) };
}

const script = (name: string) => join(import.meta.dirname, 'editors', name);
const canonical = `policy payments on payment.create {
  allow usual
    when payload.vendor in vendors and length(payload.vendor) > 0

  deny much
    when payload.amount > most
}

guarantee bounds on payment.create {
  never allow when payload.amount > 100
  never allow when payload.amount > 10
}
`;
/** Results of the editors' own functions. */
const own = {
  diagnostics: [{ line: 1, code: 'unknown-field' }],
  settings: [{ line: 2, code: '' }],
  mended: 0,
  tests: [{ line: 5, code: 'case-failed' }],
  changes: 1,
  renamed: true,
};

test('Neovim', { timeout }, async () => {
  requireProgram([neovim, '--version'], 'neovim');
  const got = await inEditor(neovim, [
    '--headless',
    '-n',
    '-u',
    'NONE',
    '-c',
    `luafile ${script('neovim.lua')}`,
  ]);
  expect(got.answers).toEqual(expected);
  expect(got.own).toMatchObject({
    ...own,
    lenses: expect.arrayContaining(['proved for all requests', 'hide changes since HEAD']),
  });
  expect(`${got.own.text}\n`).toBe(canonical);
});

test('Emacs', { timeout }, async () => {
  requireProgram([emacs, '--batch', '--eval', "(require 'eglot)"], 'emacs-nox elpa-eglot');
  const got = await inEditor(emacs, ['-Q', '--batch', '-l', script('eglot.el')]);
  expect(got.answers).toEqual(expected);
  expect(got.own).toMatchObject({ ...own, definition: ['shared.policy'] });
  expect(got.own.text).toBe(canonical);
});
