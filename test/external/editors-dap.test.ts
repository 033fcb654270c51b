// LAW: a real editor walks through a decision like a client of the protocol: Emacs with dap-mode, without a
// screen.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { requireProgram } from './programs.ts';

const run = promisify(execFile);
const emacs = '/usr/bin/emacs';
const entry = join(import.meta.dirname, '../../src/cli/writ.js');
const timeout = 120_000;

const policies = `action pay.send { amount: money(currency), currency: "USD" | "EUR", to: string }

policy paying on pay.send {
  allow small
    when payload.amount <= 100 USD and payload.to != "eve"

  deny much
    when payload.amount > 50 USD and payload.to == "bob"
}
`;
const request = {
  action: 'pay.send',
  payload: { amount: 60, currency: 'USD', to: 'bob' },
  now: '2026-03-02T10:00:00Z',
};

test('Emacs with dap-mode', { timeout }, async () => {
  requireProgram([emacs, '--batch', '--eval', "(require 'dap-mode)"], 'emacs-nox elpa-dap-mode');
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-editor-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'policies'));
  writeFileSync(join(folder, 'policies/rules.policy'), policies);
  writeFileSync(join(folder, 'request.json'), JSON.stringify(request));
  const env = {
    ...process.env,
    HOME: folder,
    WRIT_FOLDER: folder,
    WRIT_COMMAND: JSON.stringify([process.execPath, entry, 'dap']),
  };
  const script = join(import.meta.dirname, 'editors/dap-mode.el');
  const { stdout, stderr } = await run(emacs, ['--batch', '-l', script], { env, timeout });
  const line = `${stdout}\n${stderr}`.split('\n').find((one) => one.startsWith('{'));
  expect(JSON.parse(line ?? stderr)).toEqual({
    // The gate has no place in a file.
    entry: { name: 'The gate opens: `pay.send` is declared, and the payload matches its shape.', line: 0 },
    breakpoint: { name: 'payload.amount > 50 USD and payload.to == "bob"', line: 8 },
    in: { name: 'payload.amount > 50 USD', line: 8 },
    value: '120 USD',
    next: { name: 'payload.to == "bob"', line: 8 },
    ended: true,
  });
});
