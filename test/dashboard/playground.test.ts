// The playground's own logic: examples, the edited copy, its changes, marks and fixes.

import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GivenRequest } from '../../src/analysis/playground-questions.ts';
import { tryRequest } from '../../src/analysis/try-request.ts';
import { vocabularyOf } from '../../src/analysis/vocabulary.ts';
import { createWorkspace } from '../../src/analysis/workspace.ts';
import { readJson } from '../../src/dashboard/editor/json-positions.ts';
import {
  keepDraft,
  nameFault,
  readDraft,
  withText,
} from '../../src/dashboard/pages/playground/draft-files.ts';
import { exampleText } from '../../src/dashboard/pages/playground/example-request.ts';
import { findRule } from '../../src/dashboard/pages/playground/find-rule.ts';
import { fixedFiles, markDiagnostics, markIssues } from '../../src/dashboard/pages/playground/marks.ts';
import { startPath } from '../../src/dashboard/pages/playground/start-path.ts';
import { diffLines, hunksOf } from '../../src/dashboard/parts/diff/line-diff.ts';
import { textsOf } from '../analysis/playground/texts.ts';

const odd = `action odd.one {
  "odd-name":  string 12..
  short:       string ..3
  many:        [integer 5..] 2..4
  parts:       [{ sku: string, size?: number, kind: "x" | "y" }]
  at:          timestamp
  on:          date 2030-01-01..
  local:       datetime
  place:       { ip: ip, site: web_address, link: url, mail: email, file: path }
  is_final:    boolean
  amount:      money(currency) 200..300
  currency:    "EUR" | "USD"
  nothing:     string | null
  hidden:      secret string
  shown:       signed number
  whatever:    any
  optional?:   string
}
policy odd on odd.one { allow all when payload.is_final and payload.shown > 0 }
`;

function demoFiles(): Record<string, string> {
  const files = globSync(['**/*.policy', '**/lists/*.txt'], { cwd: 'policies' });
  return Object.fromEntries(files.map((path) => [path, readFileSync(`policies/${path}`, 'utf8')]));
}

describe('an example request', () => {
  it('of every action matches its declaration', () => {
    const desk = createWorkspace();
    desk.take(textsOf({ ...demoFiles(), 'odd.policy': odd }));
    const laid = desk.compileWith([]);
    if (laid.policies === null) throw new Error(JSON.stringify(laid.diagnostics));
    const vocabulary = vocabularyOf(laid.policies.set, laid.trees);
    expect(vocabulary.actions.length).toBeGreaterThan(20);
    for (const action of vocabulary.actions) {
      const given = JSON.parse(exampleText(action, vocabulary, '2026-03-02T10:00:00Z')) as GivenRequest;
      const { issues, decision } = tryRequest(laid, { given });
      expect(issues, action.key).toEqual([]);
      expect(decision, action.key).not.toBeNull();
    }
  });
});

describe('the copy', () => {
  it('holds only what differs from the active policies', () => {
    const changed = withText([], { path: 'b.policy', text: 'new' }, 'old');
    expect(changed).toEqual([{ path: 'b.policy', text: 'new' }]);
    expect(withText(changed, { path: 'b.policy', text: 'old' }, 'old')).toEqual([]);
    expect(withText(changed, { path: 'a.policy', text: '' }, null).map(({ path }) => path)).toEqual([
      'a.policy',
      'b.policy',
    ]);
  });

  it('is kept for the person alone, whatever the storage holds or refuses', () => {
    const storage = memoryStorage();
    const draft = { changes: [{ path: 'a.policy', text: 'x' }], request: '{}' };
    expect(keepDraft(storage, 'ann', draft)).toBe(true);
    expect(readDraft(storage, 'ann')).toEqual(draft);
    expect(readDraft(storage, 'ben')).toEqual({ changes: [], request: null });
    expect(readDraft(storage, 'ann')).toEqual({ changes: [], request: null });
    storage.setItem('writ.playground.ann', '{"changes": [1, {"path": 2}], "request": 3}');
    expect(readDraft(storage, 'ann')).toEqual({ changes: [], request: null });
    storage.setItem('writ.playground.ann', 'no JSON');
    expect(readDraft(storage, 'ann')).toEqual({ changes: [], request: null });
    const full = {
      ...storage,
      setItem: () => {
        throw new Error('full');
      },
    };
    expect(keepDraft(full, 'ann', draft)).toBe(false);
  });

  it('accepts names of policy files for new files', () => {
    expect(nameFault('payments/limits.policy', [])).toBeNull();
    for (const name of ['', '/a.policy', '../a.policy', 'a\\b.policy', '.hidden.policy', 'a\u202e.policy'])
      expect(nameFault(name, []), name).toMatch(/is a path/);
    expect(nameFault('a.txt', [])).toMatch(/ends with/);
    expect(nameFault('a.policy', ['a.policy'])).toMatch(/already/);
  });

  it('opens the file that is asked for, else the first of policies', () => {
    expect(startPath('b.policy', ['a.txt', 'b.policy'])).toBe('b.policy');
    expect(startPath('gone.policy', ['a.txt', 'b.policy'])).toBe('b.policy');
    expect(startPath(null, [])).toBe('');
  });
});

function memoryStorage() {
  const entries = new Map<string, string>();
  return {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
    removeItem: (key: string) => void entries.delete(key),
    key: (index: number) => [...entries.keys()][index] ?? null,
    get length() {
      return entries.size;
    },
  };
}

describe('the list of changes', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });

  it('leads from the one text to the other, and back', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = diffLines(before.join('\n'), after.join('\n'));
        expect(diff.filter(({ kind }) => kind !== 'gone').map(({ text }) => text)).toEqual(after);
        expect(diff.filter(({ kind }) => kind !== 'new').map(({ text }) => text)).toEqual(before);
        for (const { kind, text, line } of diff)
          expect((kind === 'gone' ? before : after)[line - 1]).toBe(text);
      }),
    );
  });

  it('contains only the changed lines', () => {
    const diff = diffLines('a\nb\nc\nd\ne\nf\ng\n', 'a\nb\nc\nX\ne\nf\ng\n');
    expect(diff.filter(({ kind }) => kind !== 'kept')).toEqual([
      { kind: 'gone', text: 'd', line: 4 },
      { kind: 'new', text: 'X', line: 4 },
    ]);
    expect(hunksOf(diff).map((hunk) => hunk.map(({ text }) => text))).toEqual([
      ['b', 'c', 'd', 'X', 'e', 'f'],
    ]);
    expect(hunksOf(diffLines('same\n', 'same\n'))).toEqual([]);
  });

  it('covers texts without a common line', () => {
    const [before, after] = ['o', 'n'].map((word) =>
      Array.from({ length: 3_000 }, (_, at) => `${word}${at}`),
    );
    const diff = diffLines((before ?? []).join('\n'), (after ?? []).join('\n'));
    expect(diff.filter(({ kind }) => kind === 'gone')).toHaveLength(3_000);
    expect(diff.filter(({ kind }) => kind === 'new')).toHaveLength(3_000);
  });
});

describe('marks', () => {
  const diagnostic = {
    file: 'a.policy',
    code: 'unknown-field',
    severity: 'error' as const,
    message: 'no such field',
    help: 'did you mean `amount`',
    line: 2,
    column: 1,
    end_line: 2,
    end_column: 6,
    fix: {
      title: 'write `amount`',
      edits: [{ file: 'a.policy', text: 'amount', line: 2, column: 1, end_line: 2, end_column: 6 }],
    },
  };

  it('stand where the diagnostics say', () => {
    const [mark] = markDiagnostics('one\namout\n', [diagnostic]);
    expect(mark).toMatchObject({ from: 4, to: 9, message: 'no such field: did you mean `amount`' });
  });

  it('stand at the part of the request that an issue names, or where it is no JSON', () => {
    const text = '{"payload": {"amount": "1"}}';
    const issue = { pointer: '/payload/amount', message: 'must be a number', help: null };
    const [mark] = markIssues(readJson(text), [issue]);
    expect(text.slice(mark?.from, mark?.to)).toBe('"1"');
    expect(markIssues(readJson('{'), [issue])).toMatchObject([{ message: expect.stringContaining('name') }]);
  });

  it('are fixed in every file that the fix names, or in none', () => {
    const texts = new Map([['a.policy', 'one\namout\n']]);
    const textOf = (path: string) => texts.get(path) ?? null;
    expect(fixedFiles(diagnostic.fix, textOf)).toEqual([{ path: 'a.policy', text: 'one\namount\n' }]);
    const [edit] = diagnostic.fix.edits;
    if (edit === undefined) throw new Error('the fix has an edit');
    const wider = { ...diagnostic.fix, edits: [edit, { ...edit, file: 'gone.policy' }] };
    expect(fixedFiles(wider, textOf)).toBeNull();
  });
});

describe('a rule', () => {
  const text =
    'policy a on x.y {\n  allow one\n}\nshadow policy b on x.y {\n  allow two\n  shadow deny one when true\n}\n';

  it('is found in its own policy', () => {
    expect(text.slice(findRule(text, 'a/one') ?? 0)).toMatch(/^one\n}/);
    expect(text.slice(findRule(text, 'b/one') ?? 0)).toMatch(/^one when/);
    expect(findRule(text, 'a/two')).toBeNull();
    expect(findRule(text, 'c/one')).toBeNull();
    expect(findRule(text, 'a(/b')).toBeNull();
  });
});
