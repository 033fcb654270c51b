// A field that is declared as another kind of value: each changed decision is reported with an example, and
// no example uses an impossible value.

import { describe, expect, it } from 'vitest';
import type { PolicySet } from '../../src/language/model/policy.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { checkSources } from '../../src/pipeline.ts';
import { diffPolicies } from '../../src/reasoning/diff/diff.ts';

function setOf(field: string, condition: string) {
  const text = `action a.b { ${field}, memo?: string } policy p on a.b { allow small when ${condition} }`;
  const { set, diagnostics } = checkSources({
    files: [{ path: 'a.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
  });
  if (set === null)
    throw new Error(JSON.stringify(diagnostics.filter(({ severity }) => severity === 'error')));
  return set;
}

interface Change {
  readonly fields: readonly [before: string, after: string];
  readonly conditions: readonly [before: string, after: string];
  /** Findings of changed decisions; a question mark stands before those without an example. */
  readonly findings: readonly string[];
}

const alike = (condition: string): Change['conditions'] => [condition, condition];

const changes: readonly Change[] = [
  {
    fields: ['x: number', 'x: integer'],
    conditions: alike('payload.x > 10'),
    findings: ['ALLOW DENY: payload.x is not integer and payload.x > 10'],
  },
  {
    fields: ['x: integer 0..100', 'x: number 0..100'],
    conditions: alike('payload.x > 10'),
    findings: ['DENY ALLOW: payload.x was not admitted as integer 0..100 and payload.x > 10'],
  },
  {
    fields: ['x: string', 'x: number'],
    conditions: ['payload.x == "5"', 'payload.x == 5'],
    findings: ['DENY ALLOW: payload.x is number', 'ALLOW DENY: payload.x is string'],
  },
  {
    fields: ['x?: string', 'x?: number'],
    conditions: ['payload has x and payload.x == "5"', 'payload has x and payload.x == 5'],
    findings: ['DENY ALLOW: payload.x was not admitted as string', 'ALLOW DENY: payload.x is not number'],
  },
  {
    fields: ['x: string', 'x: boolean'],
    conditions: ['payload.x == "yes"', 'payload.x'],
    findings: ['DENY ALLOW: payload.x is boolean', 'ALLOW DENY: payload.x is string'],
  },
  {
    fields: ['x: string', 'x: [string]'],
    conditions: ['payload.x == "a"', '"a" in payload.x'],
    findings: ['DENY ALLOW: payload.x is [string]', 'ALLOW DENY: payload.x is string'],
  },
  {
    fields: ['x: string', 'x: { y: string }'],
    conditions: ['payload.x == "a"', 'payload.x.y == "a"'],
    findings: ['DENY ALLOW: payload.x is { y: string }', 'ALLOW DENY: payload.x is string'],
  },
  {
    fields: ['x: integer 0..9', 'x: "0" | "1"'],
    conditions: ['payload.x == 1', 'payload.x == "1"'],
    findings: ['DENY ALLOW: payload.x is "0" | "1"', 'ALLOW DENY: payload.x is integer 0..9'],
  },
  {
    fields: ['x: { a: number, b: string }', 'x: { a: integer, b: string }'],
    conditions: alike('payload.x.a > 3 and payload.x.b == "q"'),
    findings: ['ALLOW DENY: payload.x.a is not integer and payload.x.a > 3'],
  },
  { fields: ['x: string', 'x: "a" | "b"'], conditions: alike('payload.x == "a"'), findings: [] },
  { fields: ['x: "a" | "b"', 'x: string'], conditions: alike('payload.x == "a"'), findings: [] },
  { fields: ['x: string', 'x: secret string'], conditions: alike('payload has memo'), findings: [] },
  {
    fields: ['x: string', 'x: any'],
    conditions: alike('payload has memo'),
    findings: ['DENY ALLOW: payload.x was not admitted as string'],
  },
  {
    fields: ['x: [string] 1..1', 'x: [string] 0..3'],
    conditions: alike('every t in payload.x (t == "a")'),
    findings: ['DENY ALLOW: payload.x was not admitted as [string] 1..1'],
  },
];

/** A text that a rule names in its canonical form may have other spellings, which free text tells apart. */
const spellings = [
  ['email', 'payload.x == "ann@example.com"', 'ann@EXAMPLE.COM', []],
  ['email', 'payload.x in ["ann@example.com", "bob@example.com"]', 'ann@EXAMPLE.COM', []],
  ['email', 'payload.x ends with "@example.com"', 'any@EXAMPLE.COM', ['@example.com']],
  ['host', 'payload.x == "example.com"', 'EXAMPLE.COM', []],
  ['host', 'payload.x ends with ".example.com"', 'ANY.EXAMPLE.COM', ['.example.com']],
  ['url', 'payload.x == "https://example.com/"', 'HTTPS://EXAMPLE.COM/', []],
  ['path', 'payload.x == "/srv/data"', '/srv/./data', []],
] as const;

describe.each(spellings)('free text that becomes %s, %s', (kind, condition, spelled, refused) => {
  const [text, canonical] = [setOf('x: string', condition), setOf(`x: ${kind}`, condition)];
  const examplesOf = (before: typeof text, after: typeof text, from: string) => {
    const { findings, limits } = diffPolicies(before, after);
    expect(limits).toEqual([]);
    expect(findings.filter(({ example }) => example === null)).toEqual([]);
    return findings.flatMap((one) =>
      one.tier < 6 && one.from === from ? [one.example!.facts.after.payload.x] : [],
    );
  };

  it('lets pass what is spelled otherwise, refuses what is none, and nothing else', () => {
    expect(examplesOf(text, canonical, 'DENY')).toEqual([spelled]);
    expect(examplesOf(text, canonical, 'ALLOW')).toEqual(refused);
  });

  it('and back', () => {
    expect(examplesOf(canonical, text, 'ALLOW')).toEqual([spelled]);
    expect(examplesOf(canonical, text, 'DENY')).toEqual(refused);
  });
});

/** For each kind, texts that conditions compare with, and texts that may be of the kind. */
const texts: Readonly<Record<string, readonly string[]>> = {
  email: ['ann@example.com', 'ann@EXAMPLE.com', 'Ann@example.com', '@example.com', 'x@a.example.com', 'none'],
  host: [
    'example.com',
    'EXAMPLE.com',
    'example.com.',
    'a.example.com',
    '.example.com',
    'A.EXAMPLE.COM',
    '../x',
  ],
  url: [
    'https://example.com/',
    'HTTPS://example.com',
    'https://example.com/a/../',
    'http://example.com/',
    'x',
  ],
  path: ['/srv/data', '/srv//data', '/srv/./data/', '/srv', '../srv', '/etc/../srv/data', '/srv/\\'],
};
const forms = [
  (text: string) => `payload.x == "${text}"`,
  (text: string) => `payload.x != "${text}"`,
  (text: string) => `payload.x in ["${text}", "other"]`,
  (text: string) => `"${text}" == payload.x`,
  (text: string) => `"${text.toLowerCase()}" == lower(payload.x)`,
  (text: string) => `payload.x ends with "${text.replace(/^[^.@/]*/, '')}"`,
  (text: string) => `payload.x like "*${text.slice(2)}"`,
];

/** The set with this condition; null when the condition cannot be written for the kind. */
function setOrNull(field: string, condition: string) {
  try {
    return setOf(field, condition);
  } catch {
    return null;
  }
}

/** The first text is canonical, the second is not; more texts only take longer. */
const namedMax = 2;

it.each(Object.keys(texts))('law: a text that is decided otherwise once it is %s is of a finding', (kind) => {
  const own = texts[kind]!;
  let otherwise = 0;
  for (const text of own.slice(0, namedMax)) {
    const conditions = forms.map((form) => form(text));
    const olds = conditions.map((condition) => setOrNull('x: string', condition));
    const news = conditions.map((condition) => setOrNull(`x: ${kind}`, condition));
    for (const before of olds.filter((set) => set !== null))
      for (const after of news.filter((set) => set !== null)) otherwise += checkTexts(before, after, own);
  }
  expect(otherwise).toBeGreaterThan(100);
});

/**
 * The number of texts that are decided differently; each of them belongs to exactly one finding that states
 * the change.
 */
function checkTexts(before: PolicySet, after: PolicySet, all: readonly string[]): number {
  const { findings, limits } = diffPolicies(before, after);
  expect(limits).toEqual([]);
  let otherwise = 0;
  for (const x of all) {
    const facts = { action: 'a.b', payload: { x }, agent: {}, request: {}, meters: {}, nowMs: 0 };
    const sided = { ...facts, satisfied: { escalate: [], reauth: [] } };
    const [old, now] = [authorize(before, sided).outcome, authorize(after, sided).outcome];
    if (old === now) continue;
    otherwise += 1;
    const met = findings.filter((one) => one.isMetBy({ before: sided, after: sided }));
    const said = new Set(met.map(({ from, to }) => `${from} ${to}`));
    const conditions = [before, after].map((set) => set.policies[0]?.rules[0]?.conditionText);
    expect([...conditions, x, ...said]).toEqual([...conditions, x, `${old} ${now}`]);
  }
  return otherwise;
}

describe('a field of another kind', () => {
  it.each(changes)('$fields.0 -> $fields.1', ({ fields, conditions, findings }) => {
    const [before, after] = [setOf(fields[0], conditions[0]), setOf(fields[1], conditions[1])];
    const diff = diffPolicies(before, after);
    const lines = diff.findings
      .filter(({ tier }) => tier < 6)
      .map(
        ({ from, to, when, example }) =>
          `${example === null ? '? ' : ''}${from} ${to}: ${when.join(' and ')}`,
      );
    expect(lines).toEqual(findings);
    expect(diff.limits).toEqual([]);
    for (const { example, from, to } of diff.findings) {
      if (example === null) continue;
      expect(authorize(before, example.facts.before).outcome).toBe(from);
      expect(authorize(after, example.facts.after).outcome).toBe(to);
    }
  });

  it.each([
    ['x: number, cur: string', 'x: money(cur), cur: string', 'payload.x > 10', 'payload.x > 10 USD'],
    [
      'x: ["a" | "b"]',
      'x: [string]',
      'some t in payload.x (t != "a" and t != "b")',
      'some t in payload.x (t != "a" and t != "b")',
    ],
    ['x: [number]', 'x: [string]', 'every n in payload.x (n > 3)', 'every n in payload.x (n == "a")'],
    [
      'x: [{ a: number, b: string }]',
      'x: [{ a: string, b: string }]',
      'some n in payload.x (n.a > 3 and n.b == "q")',
      'some n in payload.x (n.a == "z" and n.b == "q")',
    ],
    ['x: string', 'x: email', 'payload.x == "ann@a.example"', 'payload.x == "ann@a.example"'],
    ['x: date', 'x: timestamp', 'payload.x > 2026-01-01', 'payload.x > 2026-01-01T00:00:00Z'],
  ])('%s -> %s is compared, whatever stays undecided', (old, now, condition, conditionNow) => {
    for (const [before, after] of [
      [setOf(old, condition), setOf(now, conditionNow)],
      [setOf(now, conditionNow), setOf(old, condition)],
    ] as const) {
      const { findings } = diffPolicies(before, after);
      expect(findings.some(({ tier }) => tier < 6)).toBe(true);
      for (const { example, from, to } of findings) {
        if (example === null) continue;
        expect(authorize(before, example.facts.before).outcome).toBe(from);
        expect(authorize(after, example.facts.after).outcome).toBe(to);
      }
    }
  });
});
