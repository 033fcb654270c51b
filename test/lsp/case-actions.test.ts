// The code action on a failing test case: the edit makes the case pass, and no guarantee is loosened by it.

import { expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { type Editor, type Got, openEditor } from './client.ts';

const policies = `action a.send {
  amount: integer 1..1000 # in cents
  to:     string ..40
}

approvers leads "Leads"

list known from "known.txt"

policy p on a.send {
  allow small # alone
    when payload.amount <= 50 and payload.to in known

  allow larger after approval by leads
    when payload.amount <= 100 and payload.to in known
}

guarantee ceiling on a.send {
  never allow when payload.amount > 100
}
`;
const tests = `tests:
  - { name: more, action: a.send, payload: { amount: 60, to: ann }, expect: { decision: ALLOW, by: p/small } }
  - { name: eve, action: a.send, payload: { amount: 10, to: eve }, expect: { decision: ALLOW, by: p/small } }
  - { name: too much, action: a.send, payload: { amount: 101, to: ann }, expect: ALLOW }
  - { name: never, action: a.send, payload: { amount: 10, to: ann }, expect: DENY }
  - { name: fine, action: a.send, payload: { amount: 10, to: ann }, expect: ALLOW }
`;
const files = {
  'policies/p.policy': policies,
  'policies/known.txt': 'ann\nbob\n',
  'policies/p.test.yaml': tests,
};
const file = 'policies/p.test.yaml';
const title = 'Change the policies so that this case passes';

function actionsAt(editor: Editor, line: number, end = line): Promise<readonly Got[]> {
  return editor.ask('textDocument/codeAction', {
    textDocument: { uri: editor.uri(file) },
    range: { start: { line, character: 2 }, end: { line: end, character: 3 } },
    context: { diagnostics: [] },
  });
}

test('changes the policies by an edit that is looked for when a person picks the action', async () => {
  const resolves = { codeAction: { resolveSupport: { properties: ['edit'] } } };
  const editor = await openEditor(files, {}, resolves);
  editor.open(file, tests);
  // Cases that pass, or that need stricter policies, have no action.
  const offered = await actionsAt(editor, 0, 6);
  expect(offered.map((one: Got) => [one.title, one.kind, one.edit, one.isPreferred])).toEqual(
    Array(3).fill([title, 'quickfix', undefined, undefined]),
  );
  expect(offered.map(({ diagnostics: [{ code, range }] }: Got) => [code, range.start.line])).toEqual([
    ['case-failed', 1],
    ['case-failed', 2],
    ['case-failed', 3],
  ]);
  const [more, eve, tooMuch] = offered;
  // The text as it is typed counts, and the rest of it stays.
  const typed = policies.replace('# alone', '# by itself');
  editor.open('policies/p.policy', typed);
  const { edit } = await editor.ask('codeAction/resolve', more);
  const uri = editor.uri('policies/p.policy');
  expect(Object.keys(edit.changes)).toEqual([uri]);
  const changed = TextDocument.applyEdits(TextDocument.create(uri, 'policy', 0, typed), edit.changes[uri]);
  expect(changed).toBe(typed.replace('<= 50', '<= 60'));
  editor.change('policies/p.policy', changed);
  await expect.poll(() => editor.diagnostics(file)?.map(({ range }) => range.start.line)).toEqual([2, 3, 4]);
  expect(await actionsAt(editor, 1)).toEqual([]);
  // A list file is changed where its entries stand.
  const listed = await editor.ask('codeAction/resolve', eve);
  expect(listed.edit.changes).toEqual({
    [editor.uri('policies/known.txt')]: [
      { range: { start: { line: 2, character: 0 }, end: { line: 2, character: 0 } }, newText: 'eve\n' },
    ],
  });
  await expect(editor.ask('codeAction/resolve', tooMuch)).rejects.toThrow(
    'the guarantee `ceiling` forbids it: never allow when payload.amount > 100',
  );
  editor.change(file, tests.replace('tests:', 'tests: # one more'));
  await expect(editor.ask('codeAction/resolve', tooMuch)).rejects.toThrow('no such case');
});

test('comes with its edit where an editor does not ask for it, and only if there is one', async () => {
  const editor = await openEditor(files);
  editor.open(file, tests);
  const offered = await actionsAt(editor, 0, 6);
  expect(offered.map((one: Got) => [one.title, Object.keys(one.edit.changes)])).toEqual([
    [title, [editor.uri('policies/p.policy')]],
    [title, [editor.uri('policies/known.txt')]],
  ]);
});
