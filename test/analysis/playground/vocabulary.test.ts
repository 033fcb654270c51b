// The words that completion offers belong to the language and the set, and the outline of a file names its
// lines.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { outlineOf } from '../../../src/analysis/outline.ts';
import { vocabularyOf } from '../../../src/analysis/vocabulary.ts';
import { createWorkspace } from '../../../src/analysis/workspace.ts';
import { attributes } from '../../../src/language/model/attributes.ts';
import { textsOf } from './texts.ts';

const text = `# Things that are done.
group things
type short_name = string 1..10
action thing.do in things { name: short_name, "odd-name"?: integer, parts: [{ sku: secret string }], at: { place: ip } }
approvers ops "Operations"
list known = ["a"]
hours day = mon-fri 09:00-17:00 in "UTC"
let is_known = payload.name in known
meter done = count() of thing.do per agent over 1h
# What may be done.
policy doing on things {
  allow known when is_known and done < 3 and now in day

  escalate rest to ops
    unless is_known
}
guarantee firm on things { never allow when payload.name == "b" }
table most = { a: 1 }
table staff pushed by "hr" key id: string { "the manager"?: email, teams: [string] }
let doer = staff[agent.id]
let at = payload.at
let boss = staff[agent.id]."the manager"
let close(n: number) = n > 3
`;

function vocabulary() {
  const workspace = createWorkspace();
  workspace.take(textsOf({ 'a.policy': text }));
  const { policies, trees, diagnostics } = workspace.compileWith([]);
  if (policies === null) throw new Error(JSON.stringify(diagnostics));
  return vocabularyOf(policies.set, trees);
}

it('holds every name that the set declares', () => {
  expect(vocabulary().names).toEqual({
    lists: ['known'],
    tables: ['most', 'staff'],
    meters: ['done'],
    lets: ['at', 'boss', 'close', 'doer', 'is_known'],
    hours: ['day'],
    groups: ['things'],
    approvers: ['ops', 'owner'],
    policies: ['doing'],
    types: ['short_name'],
    guarantees: ['firm'],
  });
});

it('holds every field of every action, at any depth, as a policy reads it', () => {
  expect(vocabulary().actions).toEqual([
    {
      key: 'thing.do',
      groups: ['things'],
      fields: [
        { path: 'payload.at', type: '{ place: ip }' },
        { path: 'payload.at.place', type: 'ip' },
        { path: 'payload.name', type: 'string 1..10' },
        { path: 'payload."odd-name"', type: 'integer (may be absent)' },
        { path: 'payload.parts', type: '[{ sku: secret string }]' },
        { path: 'payload.parts[].sku', type: 'secret string' },
      ],
    },
  ]);
});

it('holds the columns of tables, and the lets that name a row or a record', () => {
  expect(vocabulary().tables).toEqual([
    {
      name: 'staff',
      columns: [
        { path: 'teams', type: '[string]' },
        { path: '"the manager"', type: 'email (may be absent)' },
      ],
    },
  ]);
  expect(vocabulary().places).toEqual([
    { kind: 'row', name: 'doer', of: 'staff' },
    { kind: 'record', name: 'at', of: 'payload.at' },
  ]);
});

it('holds the words of the language', () => {
  const { keywords, functions } = vocabulary();
  expect(keywords).toEqual(expect.arrayContaining(['allow', 'when', 'unless', 'because', 'some', 'policy']));
  expect(functions).toContainEqual({
    name: 'lower',
    signature: 'lower(string): string',
    doc: 'lower case, without locale',
  });
});

it('names the attributes that the language reference does', () => {
  const scope = /In scope: ([\s\S]*?), and declared names/.exec(
    readFileSync('docs/LANGUAGE.md', 'utf8'),
  )?.[1];
  const named = [...(scope ?? '').matchAll(/`(\w+)`(?:\s\(`([\w. ]+)`\))?/g)].flatMap(
    ([, root = '', names]) =>
      names === undefined ? [root] : names.split(' ').map((name) => `${root}.${name}`),
  );
  expect(named.filter((name) => name !== 'payload').toSorted()).toEqual(Object.keys(attributes).toSorted());
  const types = new Map(vocabulary().attributes.map(({ path, type }) => [path, type]));
  expect(types.get('agent.risk_tier')).toBe('"low" | "medium" | "high" | "critical"');
  expect([...types.keys()].toSorted()).toEqual(Object.keys(attributes).toSorted());
});

it('outlines policies and rules by line, of a file with mistakes, too', () => {
  const outline = [
    {
      name: 'doing',
      line: 11,
      doc: 'What may be done.',
      rules: [
        { id: 'doing/known', line: 12, end_line: 12 },
        { id: 'doing/rest', line: 14, end_line: 15 },
      ],
    },
  ];
  expect(outlineOf({ path: 'a.policy', text })).toEqual(outline);
  expect(outlineOf({ path: 'a.policy', text: `${text}\npolicy )\n` })).toMatchObject(outline);
});
