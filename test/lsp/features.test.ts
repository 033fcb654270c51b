// Each feature of the language server, requested over the protocol as an editor does.

import { beforeAll, describe, expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { type Editor, type Got, openEditor, type Position } from './client.ts';

const shared = `# What may be asked for.
approvers finance "Finance"
list vendors = ["Staples", "Dell"]
# Paid in a day.
meter paid = sum(payload.amount) of payment.create per agent over 24h
action payment.create { amount: number, vendor: string, note?: string }
action payment.cancel { amount: integer }
`;
const rules = `policy payments on payment.create {
  allow known when payload.vendor in vendors and paid <= 100
  escalate much to finance within 4h when payload.amount > 50
}
`;

let editor: Editor;
beforeAll(async () => {
  editor = await openEditor({ 'policies/shared.policy': shared, 'policies/rules.policy': rules });
});

const file = 'policies/rules.policy';

function open(marked: string): Position {
  editor.close(file);
  return editor.open(file, marked);
}

function appliedTo(text: string, edits: Got[]): string {
  return TextDocument.applyEdits(TextDocument.create('file:///a.policy', 'policy', 0, text), edits);
}

const textsAt = (locations: readonly Got[]): readonly string[] =>
  locations.map(({ uri, range }) => `${uri.split('/').at(-1)}:${range.start.line + 1}`).toSorted();

describe('diagnostics', () => {
  test('are those of the check, follow what is typed, and go when it is fixed', async () => {
    open(rules.replace('payload.vendor', 'payload.vendr'));
    await expect.poll(() => editor.diagnostics(file)?.length).toBeGreaterThan(0);
    const [first] = editor.diagnostics(file) ?? [];
    expect(first).toMatchObject({
      source: 'writ',
      severity: 1,
      code: 'unknown-field',
      range: { start: { line: 1 } },
    });
    editor.change(file, rules);
    await expect.poll(() => editor.diagnostics(file)?.filter(({ severity }) => severity === 1)).toEqual([]);
  });

  test('of a file that is not open follow its change on disk', async () => {
    open(rules);
    editor.write('policies/shared.policy', shared.replace('list vendors', 'list sellers'));
    editor.notify('workspace/didChangeWatchedFiles', {
      changes: [{ uri: editor.uri('policies/shared.policy'), type: 2 }],
    });
    await expect.poll(() => editor.diagnostics(file)?.map(({ code }) => code)).toContain('unknown-name');
    editor.write('policies/shared.policy', shared);
    editor.notify('workspace/didChangeWatchedFiles', {
      changes: [{ uri: editor.uri('policies/shared.policy'), type: 2 }],
    });
    await expect.poll(() => editor.diagnostics(file)?.filter(({ severity }) => severity === 1)).toEqual([]);
  });

  test('bring their fixes, one by one and all', async () => {
    open(rules.replace('payload.vendor', 'payload.vendr'));
    const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 60 } };
    const actions = await editor.ask('textDocument/codeAction', {
      textDocument: { uri: editor.uri(file) },
      range,
      context: { diagnostics: [] },
    });
    expect(actions.map(({ kind }: Got) => kind)).toEqual(['quickfix', 'source.fixAll']);
    const [edit] = actions[0].edit.changes[editor.uri(file)];
    expect(edit.newText).toContain('vendor');
  });
});

describe('completion', () => {
  const labels = async (marked: string) => {
    const position = open(marked);
    const items = await editor.at('textDocument/completion', file, position, { context: { triggerKind: 1 } });
    return items.map(({ label }: Got) => label);
  };

  test('offers the fields of the actions that are meant', async () => {
    expect(await labels(rules.replace('payload.amount > 50', 'payload.|'))).toEqual(
      expect.arrayContaining(['amount', 'vendor', 'note']),
    );
  });

  test('offers groups, lists, clauses and functions where each may stand', async () => {
    expect(await labels(rules.replace('to finance', 'to |'))).toContain('finance');
    expect(await labels(rules.replace('in vendors', 'in |'))).toContain('vendors');
    expect(await labels(rules.replace('when payload.amount > 50', 'when |'))).toEqual(
      expect.arrayContaining(['payload', 'paid', 'length', 'not']),
    );
  });
});

describe('behind a value', () => {
  const offered = async (condition: string): Promise<readonly string[]> => {
    const position = open(rules.replace('payload.amount > 50', condition));
    const items = await editor.at('textDocument/completion', file, position, { context: { triggerKind: 1 } });
    return items
      .toSorted((one: Got, other: Got) => (one.sortText < other.sortText ? -1 : 1))
      .map(({ label }: Got) => label);
  };

  test('operators come first, and no values', async () => {
    for (const condition of ['payload.vendor |', '(paid) |', 'paid |']) {
      const labels = await offered(condition);
      expect(labels.slice(0, 25)).toEqual(
        expect.arrayContaining(['==', 'in', 'starts with', 'mentions any of']),
      );
      expect(labels).not.toContain('payload');
      expect(labels).toContain('because');
    }
    expect(await offered('payload.vendor == |')).toContain('payload');
  });
});

describe('hover', () => {
  const hover = async (marked: string): Promise<string> => {
    const found = await editor.at('textDocument/hover', file, open(marked));
    return found?.contents.value ?? '';
  };

  test('tells the type of a field, a fact and a function', async () => {
    expect(await hover(rules.replace('payload.amount', 'payload.am|ount'))).toContain(
      'payload.amount: number',
    );
    expect(await hover(rules.replace('payload.amount > 50', 'ag|ent.risk_tier == "low"'))).toContain(
      'risk tier',
    );
    expect(await hover(rules.replace('payload.amount > 50', 'len|gth(payload.vendor) > 3'))).toContain(
      'code points',
    );
  });

  test('tells the type of a column behind the name of a row, and of a field behind the name of a record', async () => {
    const before = `table staff pushed by "hr" key id: string { manager?: email, team: string }
let boss = staff[payload.who.id]
let who = payload.who
action row.read { who: { id: string, name?: string } }
policy reading on row.read {
  allow one when boss has manager and boss.team == "a" and staff["b"].team == "b" and who.id == "c"
}
`;
    expect(await hover(before.replace('boss.team', 'boss.te|am'))).toContain('staff.team: string');
    expect(await hover(before.replace('boss has manager', 'boss has man|ager'))).toContain(
      'staff.manager: email (may be absent)',
    );
    expect(await hover(before.replace('staff["b"].team', 'staff["b"].te|am'))).toContain(
      'staff.team: string',
    );
    expect(await hover(before.replace('who.id == "c"', 'who.i|d == "c"'))).toContain(
      'payload.who.id: string',
    );
  });

  test('tells what a name stands for, with its comment, and who decides an action', async () => {
    expect(await hover(rules.replace('pa|id', 'paid').replace('paid <=', 'pa|id <='))).toContain(
      'Paid in a day',
    );
    const action = await hover(rules.replace('on payment.create', 'on payment.cre|ate'));
    expect(action).toContain('- escalate `payments/much`');
  });

  test('tells what a word or a phrase of the language means', async () => {
    const said = await hover(rules.replace('payload.amount > 50', 'payload.vendor mentions an|y of ["a"]'));
    expect(said).toContain('```writ\nmentions any of\n```');
    expect(said).toContain('whole words');
    expect(await hover(rules.replace('escalate', 'escal|ate'))).toContain('until people approve');
    expect(await hover(rules.replace('payload.amount > 50', 'payload.vendor == "when nob|ody"'))).toBe('');
  });

  test('shows the signature of an open call', async () => {
    const position = open(rules.replace('payload.amount > 50', 'length(|) > 3'));
    const { signatures } = await editor.at('textDocument/signatureHelp', file, position);
    expect(signatures[0].label).toBe('length(string | list): integer');
  });
});

describe('names', () => {
  test('lead to their declaration, also in another file', async () => {
    const list = open(rules.replace('in vendors', 'in ven|dors'));
    expect(textsAt(await editor.at('textDocument/definition', file, list))).toEqual(['shared.policy:3']);
    const field = open(rules.replace('payload.amount', 'payload.am|ount'));
    expect(textsAt(await editor.at('textDocument/definition', file, field))).toEqual(['shared.policy:6']);
  });

  test('lead to their uses', async () => {
    const position = open(rules.replace('to finance', 'to fin|ance'));
    const all = await editor.at('textDocument/references', file, position, {
      context: { includeDeclaration: true },
    });
    expect(textsAt(all)).toEqual(['rules.policy:3', 'shared.policy:2']);
    const here = await editor.at('textDocument/documentHighlight', file, position);
    expect(here).toHaveLength(1);
  });

  test('are changed in all files at once, to what may be a name', async () => {
    const position = open(rules.replace('to finance', 'to fin|ance'));
    expect((await editor.at('textDocument/prepareRename', file, position)).placeholder).toBe('finance');
    const rename = (newName: string) => editor.at('textDocument/rename', file, position, { newName });
    const { changes } = await rename('treasury');
    expect(Object.keys(changes)).toHaveLength(2);
    await expect(rename('vendors')).rejects.toThrow('`vendors` is already declared');
    await expect(rename('Big')).rejects.toThrow('lower-case letter');
    await expect(rename('policy')).rejects.toThrow('is a keyword');
    await expect(rename('payload')).rejects.toThrow('every request');
  });

  test('of the payload cannot be renamed', async () => {
    const position = open(rules.replace('payload.amount', 'payload.am|ount'));
    expect(await editor.at('textDocument/prepareRename', file, position)).toBeNull();
  });
});

describe('a file', () => {
  test('has an outline and foldings', async () => {
    open(rules);
    const about = { textDocument: { uri: editor.uri(file) } };
    const symbols = await editor.ask('textDocument/documentSymbol', about);
    expect(symbols).toMatchObject([{ name: 'payments', children: [{ name: 'known' }, { name: 'much' }] }]);
    expect((await editor.ask('textDocument/foldingRange', about))[0]).toEqual({ startLine: 0, endLine: 3 });
    const found = await editor.ask('workspace/symbol', { query: 'pay' });
    expect(found.map(({ name }: Got) => name)).toEqual(
      expect.arrayContaining(['payments', 'payment.create', 'payment.cancel']),
    );
  });

  test('is brought into its canonical form, unless it has a mistake', async () => {
    const about = { textDocument: { uri: editor.uri(file) }, options: { tabSize: 2, insertSpaces: true } };
    const untidy = rules.replace('  allow', '      allow');
    open(untidy);
    const edits = await editor.ask('textDocument/formatting', about);
    const whole = appliedTo(untidy, edits);
    expect(whole).not.toBe(untidy);
    open(whole);
    expect(await editor.ask('textDocument/formatting', about)).toEqual([]);
    open(rules.replace('allow known', 'allow'));
    expect(await editor.ask('textDocument/formatting', about)).toEqual([]);
  });

  test('is formatted where it is selected, and nowhere else', async () => {
    const about = { textDocument: { uri: editor.uri(file) }, options: { tabSize: 2, insertSpaces: true } };
    const text = `policy a on payment.create {\n      allow x when payload.amount<1\n      allow y when payload.amount<2\n}\n\n\n\npolicy b on payment.cancel{ allow z }\n`;
    const formattedLines = async (from: number, to: number, toCharacter = 0) => {
      open(text);
      const range = { start: { line: from, character: 0 }, end: { line: to, character: toCharacter } };
      return appliedTo(text, await editor.ask('textDocument/rangeFormatting', { ...about, range }));
    };
    const lines = text.split('\n');
    const second = '\n  allow y\n    when payload.amount < 2';
    expect(await formattedLines(2, 3)).toBe(lines.with(2, second).join('\n'));
    expect(await formattedLines(2, 2, 4)).toBe(lines.with(2, second).join('\n'));
    expect(await formattedLines(1, 2)).toBe(
      lines.with(1, '  allow x\n    when payload.amount < 1').join('\n'),
    );
    expect(await formattedLines(0, 1)).toBe(text);
    const whole = await formattedLines(0, 8);
    expect(whole).toContain('}\n\npolicy b on payment.cancel {');
    open(text);
    expect(appliedTo(text, await editor.ask('textDocument/formatting', about))).toBe(whole);
    open(text.replace('payload.amount<2', 'payload.'));
    const range = { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } };
    expect(await editor.ask('textDocument/rangeFormatting', { ...about, range })).toEqual([]);
  });

  test('shows the value of a let behind its name', async () => {
    const text = `let most = 100\n${rules.replace('<= 100', '<= most')}`;
    open(text);
    const hints = (from: number, to: number) => {
      const range = { start: { line: from, character: 0 }, end: { line: to, character: 0 } };
      return editor.ask('textDocument/inlayHint', { textDocument: { uri: editor.uri(file) }, range });
    };
    const line = text.split('\n')[2] ?? '';
    const position = { line: 2, character: line.indexOf('most') + 4 };
    expect(await hints(0, 5)).toEqual([
      { position: { line: 2, character: line.indexOf('paid') + 4 }, label: 'over 24h', paddingLeft: true },
      { position, label: '= 100', paddingLeft: true },
    ]);
    expect(await hints(3, 5)).toEqual([]);
  });

  test('shows the zone of hours, and what a meter counts in, behind their names', async () => {
    const text = `hours office = mon-fri 09:00-17:00 in "Europe/Berlin"
meter spent = sum(payload.amount) in USD of pay per agent over 7d
action pay { amount: money }
policy pays on pay {
  allow some when now in office and spent + payload.amount <= 10 USD
}
`;
    editor.open('policies/hints.policy', text);
    const textDocument = { uri: editor.uri('policies/hints.policy') };
    const range = { start: { line: 3, character: 0 }, end: { line: 6, character: 0 } };
    const hints = await editor.ask('textDocument/inlayHint', { textDocument, range });
    expect(hints.map(({ label }: Got) => label)).toEqual(['in "Europe/Berlin"', 'USD over 7d']);
    editor.close('policies/hints.policy');
  });

  test('is coloured by what each name is', async () => {
    open(rules);
    const { data } = await editor.ask('textDocument/semanticTokens/full', {
      textDocument: { uri: editor.uri(file) },
    });
    const { tokenTypes } = editor.capabilities.semanticTokensProvider.legend;
    const types = data
      .filter((_: number, at: number) => at % 5 === 3)
      .map((type: number) => tokenTypes[type]);
    expect(types.slice(0, 6)).toEqual(['class', 'event', 'method', 'property', 'variable', 'variable']);
  });
});

test('what fails is one request', async () => {
  await expect(editor.ask('textDocument/nothing', {})).rejects.toThrow();
  expect(
    await editor.ask('textDocument/hover', {
      textDocument: { uri: 'untitled:a' },
      position: { line: 0, character: 0 },
    }),
  ).toBeNull();
});
