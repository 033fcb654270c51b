// `writ test` as a user runs it: minimums, mutants, nothing to run, and watching until it is stopped.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder, until, writeFiles } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

const policy = `action a.b { n: integer }

policy p on a.b {
  allow small
    when payload.n < 100
}
`;
const tests = `tests:
  - { name: small, action: a.b, payload: { n: 5 }, expect: ALLOW }
`;
const moreTests = `${tests}  - { name: hundred, action: a.b, payload: { n: 100 }, expect: DENY }
`;

describe('writ test', () => {
  it('reports that a policy file is not a test file', async () => {
    const cwd = createFolder({ 'a.policy': policy, 'a.test.yaml': tests });
    expect(await writ(['test', 'a.policy'], { cwd })).toMatchObject({
      code: 2,
      stderr: 'error: a.policy is a policy file: name its folder or its *.test.yaml file\n',
    });
  });
});

describe('writ test --coverage-min', () => {
  it('fails below it and names the rule with the missing part', async () => {
    const little = createFolder({ 'a.policy': policy, 'a.test.yaml': tests });
    const [below, table, wrong] = await Promise.all([
      writ(['test', '--coverage-min', '51'], { cwd: little }),
      writ(['test', '--coverage', '--coverage-min', '50'], { cwd: little }),
      writ(['test', '--coverage-min', '101'], { cwd: little }),
    ]);
    expect(below).toMatchObject({ code: 1, stderr: 'coverage is 50 %, less than 51 %\n' });
    expect(below.stdout).toContain('not covered:\n  a.policy: p/small was never false\n');
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toContain(
      'a.policy\n  p/small       1       0       0  never false\ncoverage 50 %\n',
    );
    expect(wrong).toMatchObject({
      code: 2,
      stderr: 'error: --coverage-min must be a number from 0 to 100\n',
    });
  });
});

describe('writ test --mutate', () => {
  it('shows survivors, fails below a minimum, and speaks JSON', async () => {
    const folder = createFolder({ 'a.policy': policy, 'a.test.yaml': moreTests });
    const [below, json] = await Promise.all([
      writ(['test', '--mutate-min', '90'], { cwd: folder }),
      writ(['test', '--mutate', '--json'], { cwd: folder }),
    ]);
    expect(below).toMatchObject({ code: 1, stderr: 'mutation score is 80 %, less than 90 %\n' });
    expect(below.stdout).toContain(`survived p/small: \`100\` became \`99\` a.policy:5
  @@ -3,4 +3,4 @@
   policy p on a.b {
     allow small
  -    when payload.n < 100
  +    when payload.n < 99
   }
`);
    expect(below.stdout).toMatch(/\nmutation score 80 %: 4 killed, 1 survived\n$/);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      passed: 2,
      mutation: { killed: 4, survived: 1, score: 80, files: [{ path: 'a.policy' }] },
    });
  });

  it('tries no mutants while a test fails', async () => {
    const folder = createFolder({ 'a.policy': policy, 'a.test.yaml': tests.replace('ALLOW', 'DENY') });
    const failed = await writ(['test', '--mutate-min', '10'], { cwd: folder });
    expect(failed).toMatchObject({ code: 1, stderr: 'mutants are tried only when every test passes\n' });
  });
});

describe('writ test of nothing', () => {
  it('fails for a directory without tests, also beside one with', async () => {
    const empty = createFolder({ 'a.policy': policy });
    const full = createFolder({ 'a.policy': policy, 'a.test.yaml': tests });
    const none = createFolder({ 'a.policy': policy, 'a.test.yaml': 'tests: []\n' });
    const [alone, beside, noCase] = await Promise.all([
      writ(['test', empty]),
      writ(['test', full, empty]),
      writ(['test', none]),
    ]);
    expect(alone).toEqual({ code: 1, stdout: '', stderr: `no *.test.yaml under ${empty}\n` });
    expect(beside).toMatchObject({ code: 1, stderr: `no *.test.yaml under ${empty}\n` });
    expect(beside.stdout).toContain('1 passed');
    expect(noCase).toMatchObject({ code: 1, stderr: 'the test files have no cases\n' });
  });
});

describe('writ test --watch', () => {
  /** Starts `writ test` in watch mode, and collects its output. */
  function start(folder: string) {
    const entry = join(import.meta.dirname, '../../src/cli/writ.js');
    const child = spawn(process.execPath, [entry, 'test', '--watch'], { cwd: folder });
    const printed = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      printed.out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      printed.err += chunk.toString();
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const runs = (): number => printed.out.split('watching for changes').length - 1;
    return { child, printed, ended, runs };
  }

  it('runs again after a change, names the change, and ends at q', async () => {
    const folder = createFolder({ 'a.policy': policy, 'a.test.yaml': tests });
    const { child, printed, ended, runs } = start(folder);
    await until(() => runs() === 1, 60_000);
    writeFiles(folder, { 'a.policy': policy.replace('100', '1') });
    await until(() => runs() === 2, 60_000);
    child.stdin.write('\n');
    await until(() => runs() === 3, 60_000);
    child.stdin.write('q');
    expect(await ended).toBe(0);
    const [first, second, third] = printed.out.split('watching for changes');
    expect(first).toContain('1 passed');
    expect(second).toContain('changed: a.policy\n');
    expect(second).toContain('1 failed');
    expect(third).not.toContain('changed:');
    // Output into a pipe has no terminal codes.
    expect(printed.out).not.toContain('\u001b');
    expect(printed.err).toBe('');
  });

  it('ends at an interrupt, and refuses options with output for machines', async () => {
    const folder = createFolder({ 'a.policy': policy, 'a.test.yaml': tests });
    const { child, ended, runs } = start(folder);
    await until(() => runs() === 1, 60_000);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    const json = await writ(['test', '--watch', '--json'], { cwd: folder });
    expect(json).toMatchObject({ code: 2, stderr: expect.stringContaining('--watch cannot be combined') });
  });
});

describe('writ test of what cannot run', () => {
  it('shows how an approval is written, and no coverage where nothing ran', async () => {
    const wrong = `tests:
  - { name: small, action: a.b, payload: { n: 5 }, expect: { requires: { escalate: [security] } } }
`;
    const cwd = createFolder({ 'a.policy': policy, 'a.test.yaml': wrong });
    const { code, stdout } = await writ(['test', '--coverage'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain('an approval must be a mapping');
    expect(stdout).toContain('write `{ group: security }`');
    expect(stdout).toContain('no coverage: no rule was tested');
    expect(stdout).not.toContain('coverage 100');
  });
});
