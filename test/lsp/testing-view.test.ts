// The Testing view of VS Code over the real server: a fake editor keeps the items of the view, runs them, and
// shows the result of each.

import { expect, test } from 'vitest';
import { showTests, type TestingViewOptions } from '../../integrations/vscode/testing-view.ts';
import { type Got, openEditor } from './client.ts';

const policies = `action payment.create { amount: number }
policy payments on payment.create {
  allow small when payload.amount <= 50
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
  - name: large ones
    action: payment.create
    payload: { amount: 60 }
    expect: ALLOW
`;

/** A collection of items as the editor keeps it: ordered and iterable. */
function collection(): Got {
  let items: readonly Got[] = [];
  return {
    replace: (given: readonly Got[]) => {
      items = given;
    },
    forEach: (visit: (item: Got) => void) => items.forEach(visit),
  };
}

test('lists cases and claims, runs them, and says what came of each', async () => {
  const files = { 'policies/payments.policy': policies, 'policies/payments.test.yaml': tests };
  const editor = await openEditor(files);
  const said: string[] = [];
  let carryOut: Got = null;
  const note =
    (outcome: string) =>
    (item: Got, message?: unknown): void =>
      void said.push(`${outcome} ${item.label}${typeof message === 'string' ? `: ${message}` : ''}`);
  const controller: Got = {
    items: collection(),
    createTestItem: (id: string, label: string, uri: Got) => ({ id, label, uri, children: collection() }),
    createRunProfile: (_label: string, _kind: number, handler: Got) => {
      carryOut = handler;
    },
    createTestRun: () => ({
      started: () => undefined,
      passed: (item: Got) => note('passed')(item),
      failed: note('failed'),
      errored: note('errored'),
      end: () => void said.push('end'),
    }),
  };
  const lines: number[] = [];
  const options: TestingViewOptions = {
    controller,
    ask: (command, ...args) => editor.ask('workspace/executeCommand', { command, arguments: args }),
    findFiles: async (ending) =>
      Object.keys(files)
        .filter((file) => file.endsWith(ending))
        .map((file) => ({ path: `/${file}`, toString: () => editor.uri(file) }) as Got),
    messageOf: (text) => text as Got,
    setLine: (_item, line) => void lines.push(line),
  };
  await showTests(options).refresh();
  const token: Got = { isCancellationRequested: false };
  await carryOut({}, token);
  expect(said).toEqual([
    'passed small ones',
    'failed large ones: decision: expected ALLOW, actual DENY; decided DENY by default_deny: No policy allows this',
    'passed bounds: never allow when payload.amount > 100',
    expect.stringMatching(/^failed bounds: never allow when payload.amount <= 20: refuted: .*\n\{"action"/),
    'end',
  ]);
  // The two files are read at the same time.
  expect(lines.toSorted()).toEqual([1, 5, 5, 6]);
  expect(editor.messages).toEqual([]);
  said.length = 0;
  editor.open('policies/payments.policy', policies.replace('<= 50', '<='));
  await carryOut({}, token);
  expect(said.map((line) => line.split(' ')[0])).toEqual(['errored', 'errored', 'errored', 'errored', 'end']);
  await carryOut({}, { isCancellationRequested: true });
  expect(said.at(-1)).toBe('end');
  expect(said).toHaveLength(6);
});
