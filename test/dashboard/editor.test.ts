// The parts of the editor besides its view: colours, places in a text, edits, completion.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { highlightTree, tagHighlighter } from '@lezer/highlight';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { vocabularyOf } from '../../src/analysis/vocabulary.ts';
import { createWorkspace } from '../../src/analysis/workspace.ts';
import { completeRequest } from '../../src/dashboard/editor/complete-request.ts';
import { policyLanguage, policyTags } from '../../src/dashboard/editor/policy-language.ts';
import { applyEdits, changeBetween, rangeOf } from '../../src/dashboard/editor/text-positions.ts';
import { completePolicy } from '../../src/language/assist/complete-policy.ts';
import { piecesOf } from '../../src/language/assist/policy-words.ts';
import type { Vocabulary } from '../../src/language/assist/vocabulary.ts';
import { builtInTypeWords, declaringWords } from '../../src/language/syntax/parse/tokens.ts';
import { textsOf } from '../analysis/playground/texts.ts';

const policy = `group things
action thing.do in things { name: string, "odd-name"?: integer, parts: [{ sku: string }], kind: "a" | "b" }
action thing.undo in things { name: string, is_final: boolean }
action other.act { target: { place: ip } }
approvers ops "Operations"
list known = ["a"]
hours day = mon-fri 09:00-17:00 in "UTC"
let is_known = payload.name in known
meter done = count() of thing.do per agent over 1h
policy doing on things { allow all when is_known and done < 3 and now in day and payload.name in known }
policy others on other.act { allow after_people after approval by ops }
`;

function vocabulary(): Vocabulary {
  const desk = createWorkspace();
  desk.take(textsOf({ 'a.policy': policy }));
  const { policies, trees, diagnostics } = desk.compileWith([]);
  if (policies === null) throw new Error(JSON.stringify(diagnostics));
  return vocabularyOf(policies.set, trees);
}

const words = vocabulary();

/** The labels that completion offers at `|`. */
function offered(text: string, isAsked = false): readonly string[] {
  const at = text.indexOf('|');
  const completed = completePolicy(words, text.slice(0, at) + text.slice(at + 1), { at, isAsked });
  return completed?.options.map(({ label }) => label) ?? [];
}

describe('completion of a policy', () => {
  it('knows after `payload.` the fields of the actions that the policy is on', () => {
    expect(offered('policy p on thing.do {\n  deny x when payload.|')).toEqual([
      'kind',
      'name',
      '"odd-name"',
      'parts',
    ]);
    expect(offered('policy p on thing.undo {\n  deny x when payload.|')).toEqual(['is_final', 'name']);
    expect(offered('policy p on things {\n  deny x when payload.n|')).toContain('is_final');
    expect(offered('policy p on other.* {\n  deny x when payload.target.|')).toEqual(['place']);
    expect(offered('policy p on *.act {\n  deny x when payload has |')).toEqual(['target']);
    expect(offered('guarantee g on other.act {\n  never allow when payload.|')).toEqual(['target']);
    expect(offered('meter m = sum(payload.|) of other.act per agent over 1h')).toEqual(['target']);
    expect(offered('let x = payload.|')).toEqual(expect.arrayContaining(['target', 'is_final', 'kind']));
  });

  it('knows each declaration, and the types of the columns of a table', () => {
    expect(offered('|', true).toSorted()).toEqual([...declaringWords, 'shadow'].toSorted());
    const before = 'let x = payload.amount\n';
    for (const text of [
      'table t from "a.csv" key id: |',
      'table t pushed by "crm" key id: string {\n  owner: |',
    ])
      expect(offered(before + text, true)).toContain('string');
  });

  it('knows the columns of a row, and the fields of a record, behind their names', () => {
    const before = `table staff pushed by "hr" key id: string {
  manager?: email
  team: string
}
let boss = staff[payload.who.id]
action row.read {
  who: { id: string, name?: string }
}
`;
    const rule = `${before}policy p on row.read {\n  allow x when `;
    for (const text of ['boss.|', 'staff[payload.who.id].|', 'staff["a"].|', 'boss has |'])
      expect(offered(rule + text)).toEqual(['manager', 'team']);
    expect(offered(`${rule}boss.ma|`)).toEqual(['manager', 'team']);
    expect(offered(`${before}policy p on row.read {\n  escalate x to staff[payload.who.id].|`)).toEqual([
      'manager',
      'team',
    ]);
    expect(offered(`${rule}boss.team.|`)).toEqual([]);
    const target = 'let target = payload.target\npolicy p on other.act {\n  allow x when ';
    for (const text of ['target.|', 'target has |']) expect(offered(target + text)).toEqual(['place']);
    expect(offered(`${before}let boss = 5\nlet x = boss.|`)).toEqual([]);
  });

  it('knows the elements of a list by their variable', () => {
    const text = 'policy p on thing.do {\n  deny x when some part in payload.parts (part.|';
    expect(offered(text)).toEqual(['sku']);
  });

  it('knows what the text itself declares', () => {
    const text =
      'action new.act { amount: number, note?: string }\nlist mine = ["a"]\npolicy p on new.act {\n  deny x when payload.|';
    expect(offered(text)).toEqual(['amount', 'note']);
    expect(offered(text.replace('payload.|', 'payload.note in |'))).toContain('mine');
    const long =
      'action new.act {\n  amount: number\n  where: {\n    street: string\n  }\n}\npolicy p on new.act {\n  deny x when payload.|';
    expect(offered(long)).toEqual(['amount', 'where']);
  });

  it('offers at each place what may stand there', () => {
    expect(offered('pol|')).toContain('policy');
    expect(offered('policy p on |')).toEqual([
      'things',
      'other.act',
      'thing.do',
      'thing.undo',
      'other.*',
      'thing.*',
      '*',
    ]);
    expect(offered('policy p on thing.do, oth|')).toContain('other.act');
    expect(offered('policy p on thing.do {\n  esc|')).toContain('escalate');
    expect(offered('policy p on thing.do {\n  escalate x to |')).toEqual(['ops', 'owner', 'is_known']);
    expect(offered('policy p on thing.do {\n  allow x when agent.|')).toContain('risk_tier');
    expect(offered('policy p on thing.do {\n  allow x when payload.name in |')).toContain('known');
    expect(offered('guarantee g on things {\n  never |', true)).toEqual([
      'allow',
      'deny',
      'escalate',
      'reauth',
      'ask',
      'standing',
    ]);
    expect(offered('guarantee g on things {\n  always ask |')).toEqual(['ops', 'owner', 'is_known']);
    expect(offered('guarantee g on things {\n  allow |', true)).toEqual([
      'only when',
      'unapproved only when',
    ]);
    expect(offered('action a.b { name: |', true)).toContain('money');
    expect(offered('policy p on thing.do {\n  allow x when lo|')).toContain('lower');
  });

  it('offers the limit of decisions by chat behind the title of an approval group', () => {
    const limit = ['by chat up to risk'];
    expect(offered('approvers ops "Operations" |', true)).toEqual(limit);
    expect(offered('approvers ops "Operations" by |', true)).toEqual(['chat up to risk']);
    expect(offered('approvers ops "Operations" by chat |', true)).toEqual(['up to risk']);
    expect(offered('approvers ops "Operations" by chat up to risk |', true)).toEqual([]);
    expect(offered('approvers |')).toEqual([]);
  });

  it('offers the parts of a `standing` clause in order', () => {
    const start = 'policy p on thing.do {\n  escalate x to ops standing ';
    const keys = ['session', 'user', 'agent', 'payload'];
    expect(offered(`${start}|`, true)).toEqual(['per']);
    expect(offered(`${start}per |`, true)).toEqual(keys);
    expect(offered(`${start}per session, us|`)).toEqual(keys);
    expect(offered(`${start}per payload.|`)).toContain('name');
    expect(offered(`${start}per session, payload.name |`, true)).toEqual(['for']);
    expect(offered(`${start}per session for 8h |`, true)).toEqual(['up to', 'when', 'unless', 'because']);
    expect(offered(`${start}per session for 8h up to 3 |`, true)).toEqual(['times']);
    expect(offered(`${start}per session for 8h when |`, true)).toContain('payload');
  });

  it('offers every type that stands without being declared', () => {
    expect(offered('action a.b {\n  x: |', true)).toEqual(expect.arrayContaining([...builtInTypeWords]));
  });

  it('offers a value within a reason, and nothing in prose', () => {
    const start = 'policy p on other.act {\n  allow x because "';
    expect(offered(`${start}sent to {payload.|`)).toEqual(['target']);
    expect(offered(`${start}sent to pay|`)).toEqual([]);
    expect(offered('# pay|')).toEqual([]);
    expect(offered(`${start}a # b" when pay|`)).toContain('payload');
  });

  it('never fails, wherever one stands in whatever text', () => {
    const text = readFileSync('policies/slack/slack.policy', 'utf8');
    for (let at = 0; at <= text.length; at += 7) completePolicy(words, text, { at, isAsked: true });
    // A pattern with backtracking would not finish on this text.
    const long = `${'payload.a'.repeat(5_000)} ${'.'.repeat(1_000)}"`;
    completePolicy(words, long, { at: long.length, isAsked: true });
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (noise) => {
        completePolicy(words, noise, { at: noise.length, isAsked: true });
        completeRequest(words, noise, { at: noise.length, isAsked: true });
      }),
    );
  });
});

describe('completion of a request', () => {
  const labels = (text: string): readonly string[] => {
    const at = text.indexOf('|');
    const whole = text.slice(0, at) + text.slice(at + 1);
    return completeRequest(words, whole, { at, isAsked: true })?.options.map(({ label }) => label) ?? [];
  };

  it('knows the parts of a request, and the fields of its action', () => {
    expect(labels('{ "action_key": "thing.do", | }')).toEqual(
      expect.arrayContaining(['payload', 'agent', 'at', 'meters']),
    );
    expect(labels('{ "action_key": "thing.do", | }')).not.toContain('action_key');
    expect(labels('{ "action_key": "thing.do", "payload": { "|')).toEqual([
      'kind',
      'name',
      'odd-name',
      'parts',
    ]);
    expect(labels('{ "action_key": "thing.do", "payload": { "parts": [{ | }] } }')).toEqual(['sku']);
    expect(labels('{ "payload": { | }, "action_key": "other.act" }')).toEqual(['target']);
    expect(labels('{ "agent": { "risk_tier": "low", "|')).not.toContain('risk_tier');
    expect(labels('{ "meters": { |')).toEqual(['done']);
  });

  it('knows the values of what has only few', () => {
    expect(labels('{ "action_key": "|')).toEqual(['other.act', 'thing.do', 'thing.undo']);
    expect(labels('{ "agent": { "risk_tier": |')).toEqual(['low', 'medium', 'high', 'critical']);
    expect(labels('{ "action_key": "thing.do", "payload": { "kind": |')).toEqual(['a', 'b']);
    expect(labels('{ "action_key": "thing.undo", "payload": { "is_final": |')).toEqual(['true', 'false']);
    expect(labels('{ "action_key": "thing.do" |')).toEqual([]);
  });
});

describe('the colours of the editor', () => {
  it('are those of a source that is read', () => {
    const kinds = Object.keys(policyTags);
    const highlighter = tagHighlighter(
      kinds.map((kind) => ({ tag: policyTags[kind as keyof typeof policyTags], class: kind })),
    );
    for (const file of globSync('policies/**/*.policy')) {
      const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
      const found = new Map<number, string>();
      highlightTree(policyLanguage.parser.parse(text), highlighter, (from, to, kind) => {
        for (let at = from; at < to; at += 1) found.set(at, kind);
      });
      let at = 0;
      for (const line of text.split('\n')) {
        for (const { kind, text: piece } of piecesOf(line)) {
          const expected =
            kind === 'other' ? undefined : kind === 'outcome' && kinds.includes(piece) ? piece : kind;
          expect(found.get(at), `${file}:${at} ${piece}`).toBe(expected);
          at += piece.length;
        }
        at += 1;
      }
    }
  });
});

describe('places', () => {
  it('are code points in lines', () => {
    const text = '# 😀 one\nsecond 😀 line\n';
    const range = rangeOf(text, { line: 2, column: 8, end_line: 2, end_column: 9 });
    expect(text.slice(range.from, range.to)).toBe('😀');
    const behind = rangeOf(text, { line: 9, column: 1, end_line: 9, end_column: 4 });
    expect(behind).toEqual({ from: text.length, to: text.length });
    expect(rangeOf(text, { line: 1, column: 99, end_line: 1, end_column: 99 }).from).toBe(8);
  });

  it('take edits of the text as it was', () => {
    const edits = [
      { line: 1, column: 1, end_line: 1, end_column: 4, text: 'two' },
      { line: 1, column: 8, end_line: 1, end_column: 8, text: '!' },
    ];
    expect(applyEdits('one, 😀\n', edits)).toBe('two, 😀!\n');
  });

  it('are the shortest change from one text to the other', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const change = changeBetween(before, after);
        const { from, to, insert } = change ?? { from: 0, to: 0, insert: '' };
        expect(before.slice(0, from) + insert + before.slice(to)).toBe(after);
      }),
    );
    expect(changeBetween('abcd', 'abXcd')).toEqual({ from: 2, to: 2, insert: 'X' });
  });
});
