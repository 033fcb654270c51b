// Code lenses above a text, and the commands behind them: each shows what a command prints about the same
// set.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createQuestionThread } from '../../src/lsp/thread/ask.ts';
import { type Editor, type Got, openEditor } from './client.ts';

const policies = `action payment.create { amount: number }
policy payments on payment.create {
  allow small when payload.amount <= 50
  deny huge when payload.amount > 1000
}
guarantee bounds on payment.create {
  never allow when payload.amount > 100
  never allow when payload.amount <= 20
}
`;
const tests = `tests:
  - name: small ones
    action: payment.create
    payload: { amount: 5 }
    expect: ALLOW
  - name: no decision
    action: payment.create
    payload: { amount: 60 }
    expect: ALLOW
`;
const [policyFile, testFile] = ['policies/payments.policy', 'policies/payments.test.yaml'];
const entry = join(import.meta.dirname, '../../src/cli/writ.js');

let editor: Editor;
beforeAll(async () => {
  editor = await openEditor({ [policyFile]: policies, [testFile]: tests });
  editor.open(policyFile, policies);
  editor.open(testFile, tests);
});

const writ = (...args: readonly string[]): Got => {
  const { stdout } = spawnSync(process.execPath, [entry, ...args], { cwd: editor.folder, encoding: 'utf8' });
  return JSON.parse(stdout);
};

/** The resolved code lenses of a file, as an editor gets them. */
async function lenses(file: string): Promise<readonly Got[]> {
  const textDocument = { uri: editor.uri(file) };
  const found: readonly Got[] = await editor.ask('textDocument/codeLens', { textDocument });
  return await Promise.all(found.map((lens) => (lens.command ? lens : editor.ask('codeLens/resolve', lens))));
}

const shown = (found: readonly Got[]) =>
  found.map(({ range, command }) => `${range.start.line + 1} ${command.title}`);

const carryOut = ({ command, arguments: args }: Got) =>
  editor.ask('workspace/executeCommand', { command, arguments: args });

describe('lines above policies', () => {
  test('say how tests have found a rule, and what is proved of a claim', async () => {
    expect(shown(await lenses(policyFile))).toEqual([
      '1 show changes since HEAD',
      '3 tests: true 1, false 1, unknown 0',
      '4 tests: true 0, false 2, unknown 0; never true',
      '7 proved for all requests',
      '8 refuted: a request for `payment.create` is ALLOW by `payments/small`',
    ]);
  });

  test('say what the commands say', async () => {
    const { guarantees } = writ('check', '--json');
    const { coverage } = writ('test', 'policies', '--json');
    const told = await lenses(policyFile);
    const claims = told.slice(-2).map(({ command }) => command.title.split(/[ :]/)[0]);
    expect(claims).toEqual(guarantees.map(({ result }: Got) => result));
    const counted = coverage.rules.map(
      ({ counts }: Got) => `true ${counts.true}, false ${counts.false}, unknown ${counts.unknown}`,
    );
    const titles = new Map(told.map(({ range, command }) => [range.start.line, command.title]));
    // Rules are sorted by name: `huge` stands below `small` in the file.
    expect([titles.get(3), titles.get(2)].map((title, at) => title?.includes(counted[at]))).toEqual([
      true,
      true,
    ]);
  });

  test('show the request that refutes a claim', async () => {
    const { command } = (await lenses(policyFile)).at(-1);
    const { claim, request } = await carryOut(command);
    expect(claim).toBe('never allow when payload.amount <= 20');
    const [, refuted] = writ('check', '--json').guarantees;
    expect(request).toEqual(refuted.request);
    expect(editor.messages.at(-1)).toContain(JSON.stringify(request));
  });

  test('are gone while the policies have an error', async () => {
    editor.change(policyFile, policies.replace('<= 50', '<='));
    expect(
      shown(await lenses(policyFile)).filter((line) => /proved for all|refuted|tests:/.test(line)),
    ).toEqual([]);
    editor.change(policyFile, policies);
  });
});

describe('lines above tests', () => {
  test('run a case, or all of them', async () => {
    const [all, first, second] = (await lenses(testFile)).map(({ command }) => command);
    expect([all.title, first.title, second.title]).toEqual(['run all', 'run', 'run']);
    expect(await carryOut(first)).toMatchObject({ passed: 1, failed: 0, cases: [{ name: 'small ones' }] });
    expect(editor.messages.at(-1)).toBe('1 passed');
    expect(await carryOut(second)).toMatchObject({ passed: 0, failed: 1, cases: [{ outcome: 'failed' }] });
    expect(editor.messages.at(-1)).toContain('no decision: decision: expected ALLOW, actual DENY');
    expect(await carryOut(all)).toMatchObject({ passed: 1, failed: 1 });
  });

  test('run what is typed, saved or not', async () => {
    editor.change(policyFile, policies.replace('<= 50', '<= 60'));
    const [all] = (await lenses(testFile)).map(({ command }) => command);
    expect(await carryOut(all)).toMatchObject({ passed: 2, failed: 0 });
    editor.change(policyFile, policies);
  });

  test('carry out nothing on what is not there', async () => {
    await expect(carryOut({ command: 'writ.runCase', arguments: [editor.uri(testFile), 1] })).rejects.toThrow(
      'no such case',
    );
    await expect(carryOut({ command: 'writ.runCase', arguments: [] })).rejects.toThrow('unknown command');
    await expect(carryOut({ command: 'writ.other', arguments: [editor.uri(testFile)] })).rejects.toThrow();
  });
});

describe('what changes since HEAD', () => {
  const changes = () => editor.diagnostics(policyFile)?.filter(({ source }) => source === 'writ diff');
  const lens = async (title: string) =>
    (await lenses(policyFile)).find(({ command }) => command.title === title).command;

  const ask = (command: string) => carryOut({ command, arguments: [editor.uri(policyFile)] });

  test('are not shown without a repository', async () => {
    await expect(ask('writ.showChanges')).rejects.toThrow('no git repository');
  });

  test('is shown where it is asked for, follows what is typed, and is hidden again', async () => {
    await ask('writ.hideChanges');
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: editor.folder });
    git('init', '-q');
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--allow-empty', '-qm', 'first');
    const changed = policies.replace('<= 50', '<= 70');
    editor.change(policyFile, changed);
    await carryOut(await lens('show changes since HEAD'));
    await expect
      .poll(() => changes()?.map(({ code, range }) => `${range.start.line + 1} ${code}`))
      .toEqual(['3 decision-loosened']);
    editor.write(policyFile, changed);
    const { runs } = writ('diff', '--format', 'sarif');
    editor.write(policyFile, policies);
    const said = runs[0].results.map(
      ({ ruleId, message }: Got) => `${ruleId} ${message.text.replaceAll(/([{}])\1/g, '$1')}`,
    );
    expect(changes()?.map(({ code, message }) => `${code} ${message}`)).toEqual(said);
    editor.change(policyFile, policies.replace('<= 50', '<= 40'));
    await expect.poll(() => changes()?.map(({ code }) => code)).toEqual(['decision-stricter']);
    await carryOut(await lens('hide changes since HEAD'));
    await expect.poll(changes).toEqual([]);
    editor.change(policyFile, policies);
  });
});

test('a thread that dies refuses its question, and the next one finds another', async () => {
  const dying = createQuestionThread(new URL('data:text/javascript,process.exit(3)'));
  const asked = { root: editor.folder, open: [] };
  await expect(dying.ask('claims', asked)).rejects.toThrow(/ended|exit|stopped/);
  await expect(dying.ask('claims', asked)).rejects.toThrow();
  await dying.close();
  const thread = createQuestionThread();
  const first = thread.ask('claims', asked);
  const second = thread.ask('claims', asked);
  const third = thread.ask('claims', asked);
  await expect(second).rejects.toThrow('replaced by a later request');
  expect((await first)?.map(({ result }) => result)).toEqual(['proved', 'refuted']);
  expect(await third).toEqual(await first);
  await thread.close();
  expect(readFileSync(join(editor.folder, policyFile), 'utf8')).toBe(policies);
});
