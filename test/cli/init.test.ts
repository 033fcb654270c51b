// `writ init`: what it makes is in order from the first moment, and what was there stays.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { parse } from '../../src/language/syntax/parse.ts';
import { printFile } from '../../src/language/syntax/print/print.ts';
import { tryGuarantees } from '../../src/reasoning/guarantees/try.ts';
import { loadCompiled } from '../../src/tools/cli/tasks/policies.ts';
import { countRun } from '../../src/tools/testing/report.ts';
import { runTestFiles } from '../../src/tools/testing/run.ts';
import { createFolder } from '../policies/folder.ts';
import { writ } from './writ.ts';

// Generous: other work may share the machine.
vi.setConfig({ testTimeout: 30_000 });

it('makes policies without a warning whose tests pass, see all rules both ways, and which are in canonical form', async () => {
  const folder = createFolder();
  const { code, stdout } = await writ(['init', "new/agent's"], { cwd: folder });
  expect(code).toBe(0);
  expect(stdout.split('\n').filter((line) => line.startsWith('  writ '))).toHaveLength(3);
  expect(stdout).toContain("  writ check --strict 'new/agent'\\''s'\n");
  const made = join(folder, "new/agent's");
  const { diagnostics, compiled, read } = await loadCompiled(made);
  expect(diagnostics).toEqual([]);
  const trials = tryGuarantees(compiled.set!, { decide: compiled.engine!.decide, requests: 2_000 });
  expect(trials.map(({ tried, counterexample }) => [tried > 0, counterexample])).toEqual([
    [true, null],
    [true, null],
  ]);
  const run = await runTestFiles([made]);
  expect(countRun(run)).toMatchObject({ failed: 0, broken: 0 });
  expect(run.coverage.percent).toBe(100);
  for (const file of read.sources.files) expect(printFile(parse(file).file)).toBe(file.text);
});

it('decides the request that it offers', async () => {
  const folder = createFolder();
  const { stdout } = await writ(['init'], { cwd: folder });
  const offered = stdout.split('\n').find((line) => line.includes('writ decide')) ?? '';
  const args = offered.trim().match(/'[^']*'|\S+/g) ?? [];
  const ran = await writ(
    args.slice(1).map((arg) => arg.replace(/^'|'$/g, '')),
    { cwd: folder },
  );
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('ALLOW by refunds/small_refund') });
});

it('writes nothing where something is', async () => {
  const folder = createFolder({ 'a/notes.txt': 'mine', file: 'mine' });
  const [full, file] = await Promise.all([
    writ(['init', 'a'], { cwd: folder }),
    writ(['init', 'file'], { cwd: folder }),
  ]);
  expect(full).toEqual({ code: 2, stdout: '', stderr: 'error: a is not empty; nothing was written\n' });
  expect(file.code).toBe(2);
  expect(readdirSync(join(folder, 'a'))).toEqual(['notes.txt']);
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('mine');
});
