// `writ init`: its files are in order from the first moment, and existing files stay.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { answersOf } from '../../src/cli/commands/init.ts';
import { loadCompiled } from '../../src/cli/support/load-policies.ts';
import { parse } from '../../src/language/syntax/parse.ts';
import { printFile } from '../../src/language/syntax/print/print.ts';
import { tryGuarantees } from '../../src/reasoning/guarantees/try.ts';
import { countRun } from '../../src/testing/report.ts';
import { runTestFiles } from '../../src/testing/run.ts';
import { createFolder } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

it('makes policies without a warning whose tests pass, see all rules both ways, and which are in canonical form', async () => {
  const folder = createFolder();
  const { code, stdout } = await writ(['init', "new/agent's"], { cwd: folder });
  expect(code).toBe(0);
  expect(stdout.split('\n').filter((line) => /^ {2}node \S+writ\.js /.test(line))).toHaveLength(3);
  expect(stdout).toContain("writ.js check --strict 'new/agent'\\''s'\n");
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

it('decides the example request that it prints', async () => {
  const folder = createFolder();
  const { stdout } = await writ(['init'], { cwd: folder });
  const offered = stdout.split('\n').find((line) => line.includes(' decide ')) ?? '';
  const ran = await promisify(execFile)('sh', ['-c', offered], { cwd: folder });
  expect(ran.stdout).toContain('ALLOW by refunds/small_refund');
});

it('refuses a folder with files', async () => {
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

describe('the questions on a terminal', () => {
  function terminal(answers: string) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.end(answers);
    const shown: string[] = [];
    output.on('data', (chunk: Buffer) => shown.push(chunk.toString()));
    return {
      input: Object.assign(input, { isTTY: true }),
      output: Object.assign(output, { isTTY: true }),
      shown,
    };
  }
  const packs = ['devops', 'mail'];

  it('are three, each with a default for Enter', async () => {
    const { shown, ...none } = terminal('\n\n\n');
    expect(await answersOf({}, packs, none)).toEqual({ pack: null, directory: 'policies', domain: null });
    expect(shown.join('').match(/\? \[/g)).toHaveLength(3);
    const { shown: _, ...some } = terminal('mail\nrules\nacme.org\n');
    expect(await answersOf({}, packs, some)).toEqual({
      pack: 'mail',
      directory: 'rules',
      domain: 'acme.org',
    });
  });

  it('are repeated after an invalid answer, and skipped if an argument gives it', async () => {
    const { shown, ...rest } = terminal('mial\nmail\nACME\nacme.org\n');
    const answers = await answersOf({ directory: 'rules' }, packs, rest);
    expect(answers).toEqual({ pack: 'mail', directory: 'rules', domain: 'acme.org' });
    expect(shown.join('')).toContain('did you mean mail?');
    expect(shown.join('')).toContain('"ACME" is not a domain');
    expect(shown.join('')).not.toContain('Which directory');
  });

  it('stop at the end of the input', async () => {
    const { shown: _, ...rest } = terminal('mail\n');
    await expect(answersOf({}, packs, rest)).rejects.toThrow('nothing was written');
  });

  it('are not asked without a terminal', async () => {
    const { shown, input, output } = terminal('mail\nrules\n\n');
    const piped = { input: Object.assign(input, { isTTY: false }), output };
    expect(await answersOf({}, packs, piped)).toEqual({ pack: null, directory: 'policies', domain: null });
    expect(shown).toEqual([]);
  });
});

it('writes the given domain, and the policies and tests still pass', async () => {
  const cwd = createFolder();
  const made = await writ(['init', 'rules', '--pack', 'mail', '--domain', 'a-firm.co.uk'], { cwd });
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(join(cwd, 'rules/mail.policy'), 'utf8')).toContain('["a-firm.co.uk"]');
  expect(await writ(['fmt', '--check', 'rules'], { cwd })).toMatchObject({ code: 0 });
  expect(await writ(['test', 'rules'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  expect(await writ(['init', 'other', '--domain', 'no domain'], { cwd })).toMatchObject({
    code: 2,
    stderr: 'error: --domain "no domain" is not a domain: use one such as acme.org, in lower case\n',
  });
  expect(readdirSync(cwd)).toEqual(['rules']);
});
