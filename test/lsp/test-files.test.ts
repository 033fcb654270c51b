// Test files in an editor: the results of `writ test`, links between names and policies, and completions.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Editor, type Got, openEditor, type Position } from './client.ts';

const policies = `approvers finance "Finance"
meter paid = sum(payload.amount) of payment.create per agent over 24h
action payment.create { amount: number, vendor: string, to: { city: string } }
policy payments on payment.create {
  allow small when payload.amount <= 500 and paid <= 100
  escalate much to finance within 4h when payload.amount > 50
}
`;
const tests = `tests:
  - name: small ones
    action: payment.create
    payload: { amount: 5, vendor: Staples, to: { city: Berlin } }
    meters: { paid: 10 }
    expect: { decision: ALLOW, by: payments/small }
  - name: large ones
    action: payment.create
    payload:
      amount: 70
      vendor: Dell
      to: { city: Rome }
    meters: { paid: 20 }
    expect:
      decision: ESCALATE
      requires: { escalate: [{ group: finance }] }
`;
const file = 'policies/payments.test.yaml';
let editor: Editor;
beforeAll(async () => {
  editor = await openEditor({ 'policies/payments.policy': policies, [file]: tests });
});

function open(marked: string): Position {
  editor.close(file);
  return editor.open(file, marked);
}

const shown = (found: readonly Got[] | undefined) =>
  found?.map(({ range, code }) => `${range.start.line + 1} ${code}`);

describe('diagnostics', () => {
  test('are of the cases that fail, go when they pass, and follow the policies as they are typed', async () => {
    open(tests.replace('decision: ALLOW', 'decision: DENY'));
    await expect.poll(() => shown(editor.diagnostics(file))).toEqual(['2 case-failed']);
    const [{ message }] = editor.diagnostics(file) as Got[];
    expect(message).toContain(
      '`small ones`: decision: expected DENY, actual ALLOW; decided ALLOW by payments/small',
    );
    editor.change(file, tests);
    await expect.poll(() => shown(editor.diagnostics(file))).toEqual([]);
    editor.open('policies/payments.policy', policies.replace('payload.amount > 50', 'payload.amount > 80'));
    await expect.poll(() => shown(editor.diagnostics(file))).toEqual(['7 case-failed']);
    editor.close('policies/payments.policy');
    await expect.poll(() => shown(editor.diagnostics(file))).toEqual([]);
  });

  test('are of what the format does not know, at once', async () => {
    open(tests.replace('decision: ALLOW', 'decison: ALLOW'));
    await expect.poll(() => shown(editor.diagnostics(file))).toEqual(['6 test-file-malformed']);
    editor.change(file, 'tests: [');
    await expect.poll(() => shown(editor.diagnostics(file))?.length).toBeGreaterThan(0);
    editor.close(file);
    await expect.poll(() => editor.diagnostics(file)).toEqual([]);
  });

  test('say nothing that `writ test` does not say', async () => {
    const wrong = tests
      .replace('decision: ALLOW', 'decision: DENY')
      .replace('{ paid: 10 }', '{ payed: 10 }')
      .replace('ESCALATE', 'ALLOW');
    open(wrong);
    await expect.poll(() => editor.diagnostics(file)?.length).toBe(2);
    editor.write(file, wrong);
    const entry = join(import.meta.dirname, '../../src/cli/writ.js');
    const said = (() => {
      try {
        return execFileSync(process.execPath, [entry, 'test', 'policies', '--json'], {
          cwd: editor.folder,
        }).toString();
      } catch (error) {
        return String((error as { stdout: Buffer }).stdout);
      }
    })();
    editor.write(file, tests);
    const [{ cases }] = JSON.parse(said).files;
    const [mistaken, failed] = cases;
    const [first, second] = editor.diagnostics(file) as Got[];
    expect(mistaken.mistake).toContain(first.message.split('\n')[0]);
    expect([failed.line - 1, failed.outcome]).toEqual([second.range.start.line, 'failed']);
    for (const { expected, actual } of failed.differences)
      expect(second.message).toContain(`${expected}, actual ${actual}`);
  });
});

describe('names', () => {
  const places = (locations: readonly Got[]) =>
    locations.map(({ uri, range }) => `${uri.split('/').at(-1)}:${range.start.line + 1}`).toSorted();

  test.each([
    ['action: payment.cre|ate', 'payments.policy:3'],
    ['{ amo|unt: 5', 'payments.policy:3'],
    ['by: payments/sm|all', 'payments.policy:5'],
    ['by: pay|ments/small', 'payments.policy:4'],
    ['{ group: fin|ance }', 'payments.policy:1'],
    ['meters: { pa|id: 10 }', 'payments.policy:2'],
    ['to: { ci|ty: Berlin }', 'payments.policy:3'],
  ])('%s leads to its declaration', async (marked, place) => {
    const position = open(tests.replace(marked.replace('|', ''), marked));
    expect(places(await editor.at('textDocument/definition', file, position))).toEqual([place]);
  });

  test('of policies are found and renamed in tests, too', async () => {
    open(tests);
    const position = editor.open('policies/payments.policy', policies.replace('allow small', 'allow sm|all'));
    const path = 'policies/payments.policy';
    const found = await editor.at('textDocument/references', path, position, {
      context: { includeDeclaration: false },
    });
    expect(places(found)).toEqual(['payments.test.yaml:6']);
    const { changes } = await editor.at('textDocument/rename', path, position, { newName: 'little' });
    expect(changes[editor.uri(file)]).toMatchObject([{ newText: 'little' }]);
    editor.close(path);
  });

  test('tell their type and what they stand for', async () => {
    const hover = async (marked: string) => {
      const position = open(tests.replace(marked.replace('|', ''), marked));
      return (await editor.at('textDocument/hover', file, position))?.contents.value ?? '';
    };
    expect(await hover('am|ount: 5')).toContain('payload.amount: number');
    expect(await hover('payments/sm|all')).toContain('allow small');
    expect(await hover('action: payment.cre|ate')).toContain('- escalate `payments/much`');
  });
});

test.each([
  ['tests:\n  - na|', ['name', 'action', 'payload', 'cases', 'sequence']],
  ['tests:\n  - action: pay|', ['payment.create']],
  ['tests:\n  - action: payment.create\n    payload: { am|', ['amount', 'vendor', 'to']],
  ['tests:\n  - action: payment.create\n    payload:\n      to:\n        ci|', ['city']],
  ['tests:\n  - expect: AL|', ['ALLOW', 'DENY', 'ESCALATE', 'REAUTH_REQUIRED']],
  ['tests:\n  - expect: { by: pay|', ['payments/small', 'payments/much']],
  ['tests:\n  - satisfied:\n      escalate: [pay|', ['payments/much']],
  ['tests:\n  - satisfied:\n      sta|', ['standing']],
  ['tests:\n  - satisfied: { standing: [{ ru|', ['rule', 'per', 'until']],
  ['tests:\n  - sequence:\n      - then: st|', ['approved', 'rejected', 'standing']],
  ['tests:\n  - sequence:\n      - then: { standing: { fo|', ['for', 'times']],
  ['tests:\n  - meters: { pa|', ['paid']],
  ['tests:\n  - unknown:\n      - me|', ['meters.paid', 'agent.tags', 'request.user', 'payload.to.city']],
  ['tests:\n  - sequence:\n      - th|', ['then', 'after', 'result']],
  ['defaults:\n  agent: { risk_tier: l|', ['low', 'high']],
])('%j offers what may stand there', async (marked, labels) => {
  const position = open(marked);
  const items = await editor.at('textDocument/completion', file, position, { context: { triggerKind: 1 } });
  expect(items.map(({ label }: Got) => label)).toEqual(expect.arrayContaining([...labels]));
});
