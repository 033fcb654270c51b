// The format of test files: how facts are merged, and the place and text of every mistake.

import { describe, expect, it } from 'vitest';
import { position } from '../../src/language/diagnostic/render.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';
import { defaultNowMs } from '../../src/testing/situation.ts';
import type { TestFile } from '../../src/testing/test-file.ts';

function read(text: string): TestFile {
  return readTestFile({ path: 'policies/a.test.yaml', text });
}

/** The cases of a file that must be well-formed. */
function casesOf(text: string): TestFile['cases'] {
  const file = read(text);
  expect(file.diagnostics).toEqual([]);
  return file.cases;
}

/** Each mistake as `line:column message (help)`. */
function mistakesOf(text: string): readonly string[] {
  return read(text).diagnostics.map(({ span, message, help }) => {
    const { line, column } = position(text, span.start);
    return `${line}:${column} ${message}${help === undefined ? '' : ` (${help})`}`;
  });
}

/** A test file with one test that contains this line. */
function one(line: string): string {
  return `tests:\n  - name: t\n    action: a.b\n    ${line}\n    expect: ALLOW\n`;
}

describe('readTestFile', () => {
  it('merges defaults, test and case key by key', () => {
    const cases = casesOf(`
defaults:
  agent: { id: a-1, name: buyer, tags: [x] }
  meters: { spent: 0, runs: 1 }
  now: 2026-03-02T10:00:00.5-05:00
tests:
  - name: t
    action: a.b
    agent: { name: other }
    payload: { amount: 1, place: { city: Ulm, country: DE } }
    expect: DENY
    cases:
      - {}
      - { agent: { tags: [] }, payload: { place: { city: Rome } }, meters: { runs: 2 }, expect: ALLOW }
`);
    expect(cases.map(({ name, expectation }) => [name, expectation.decision])).toEqual([
      ['t #1', 'DENY'],
      ['t #2', 'ALLOW'],
    ]);
    expect(cases[0]!.situation).toMatchObject({
      action: 'a.b',
      agent: { id: 'a-1', name: 'other', tags: ['x'] },
      payload: { amount: 1, place: { city: 'Ulm', country: 'DE' } },
      nowMs: Date.UTC(2026, 2, 2, 15, 0, 0, 500),
    });
    expect(cases[1]!.situation).toMatchObject({
      agent: { id: 'a-1', name: 'other', tags: [] },
      payload: { amount: 1, place: { city: 'Rome' } },
    });
    expect(cases[1]!.situation.meters.map(({ meter }) => meter)).toEqual(['spent', 'runs']);
  });

  it('sets by dotted path: into records, lists, quoted names and what is not there yet', () => {
    const [changed] = casesOf(
      one(`payload: { lines: [{ price: 1 }], note: x }
    set:
      payload.lines.0.price: 2
      payload.lines.1: { price: 3 }
      payload.place.city: Ulm
      payload."x.id": 7
      agent.tags: [a]
      now: "2026-01-02T00:00:00Z"
      session: s-2
      satisfied.escalate: [p/r]`),
    );
    expect(changed!.situation).toMatchObject({
      payload: { lines: [{ price: 2 }, { price: 3 }], note: 'x', place: { city: 'Ulm' }, 'x.id': 7 },
      agent: { tags: ['a'] },
      request: { session: 's-2' },
      nowMs: Date.UTC(2026, 0, 2),
    });
    expect(changed!.situation.satisfied).toMatchObject([{ kind: 'escalate', rule: 'p/r' }]);
  });

  it('takes away what `unset` and `unknown` name', () => {
    const text = (changes: string): string =>
      one(`agent: { name: x, risk_tier: low }
    request: { ip: 10.0.0.1, signed: true, user: { id: ann, groups: [a, b] } }
    meters: { spent: 1, runs: 2 }
    payload: { a: 1, list: [1, 2] }
    ${changes}`);
    const situation = (changes: string) => casesOf(text(changes))[0]!.situation;
    expect(situation('unset: [payload.a, payload.list.0]').payload).toEqual({ list: [2] });
    expect(situation('unknown: [agent.risk_tier, request.ip, meters.spent]')).toMatchObject({
      agent: { name: 'x' },
      request: { signed: true, user: { id: 'ann', groups: ['a', 'b'] } },
      meters: [{ meter: 'runs' }],
    });
    expect(situation('unknown: [request.user.groups]').request.user).toEqual({ id: 'ann' });
    expect(situation('set: { request.user.roles: [lead] }').request.user?.roles).toEqual(['lead']);
    expect(situation('unknown: [request.user]').request).toEqual({ ip: '10.0.0.1', signed: true });
    expect(situation('unknown: [agent, meters, agent.tags]')).toMatchObject({ agent: {}, meters: [] });
  });

  it('names a case by what it changes, or as it is called', () => {
    const cases = casesOf(`
tests:
  - name: boundaries
    action: a.b
    payload: { amount: 1, vendor: x }
    expect: ALLOW
    cases:
      - { set: { payload.amount: 1000.01, payload.lines: [{ a: 1 }] }, unset: [payload.vendor], unknown: [agent] }
      - { name: just over, set: { payload.amount: 2 } }
`);
    expect(cases.map(({ name }) => name)).toEqual([
      'boundaries #1 (set payload.amount=1000.01, payload.lines=[{"a":1}], unset payload.vendor, unknown agent)',
      'boundaries #2 (just over)',
    ]);
  });

  it('reads YAML 1.2: dates and `no` are text, keys are any text, anchors may be used', () => {
    const [found] = casesOf(
      one('payload: { due: 2026-03-02, country: no, "__proto__": 1, a: &x [0.10, -0, 1e3], b: *x, c: null }'),
    );
    const { payload } = found!.situation;
    expect(Object.entries(payload)).toEqual([
      ['due', '2026-03-02'],
      ['country', 'no'],
      ['__proto__', 1],
      ['a', [0.1, 0, 1000]],
      ['b', [0.1, 0, 1000]],
      ['c', null],
    ]);
  });

  it('reads meters as numbers, intervals and money', () => {
    const [found] = casesOf(one('meters: { a: 1.5, b: [0, 10], c: 100 USD, d: [1 USD, 2 USD] }'));
    const shown = found!.situation.meters.map(({ meter, low, high }) => [
      meter,
      low.amount.coefficient,
      low.currency,
      high.amount.coefficient,
    ]);
    expect(shown).toEqual([
      ['a', 15n, null, 15n],
      ['b', 0n, null, 1n],
      ['c', 1n, 'USD', 1n],
      ['d', 1n, 'USD', 2n],
    ]);
  });

  it('has an empty payload and a fixed time where none is said, and unknown facts', () => {
    const [found] = casesOf('tests: [{ name: t, action: a.b, expect: ALLOW }]');
    expect(found!.situation).toEqual({
      action: 'a.b',
      payload: {},
      agent: {},
      request: {},
      nowMs: defaultNowMs,
      meters: [],
      satisfied: [],
      standing: [],
      tables: [],
    });
  });

  it('takes policies from its own folder unless it names others', () => {
    const test = 'tests: [{ name: t, action: a.b, expect: ALLOW }]';
    expect(read(test).policies).toEqual(['policies']);
    expect(read(`policies: a.policy\n${test}`).policies).toEqual(['policies/a.policy']);
    expect(read(`policies: [../x, a.policy]\n${test}`).policies).toEqual(['x', 'policies/a.policy']);
  });
});

describe('mistakes in a test file', () => {
  it.each([
    ['an unknown key', one('payloads: {}'), '4:5 a test has no key `payloads` (did you mean `payload`)'],
    [
      'an unknown fact',
      one('agent: { tier: low }'),
      '4:14 `agent` has no key `tier` (use `id`, `name`, `risk_tier`, `control_owner` or `tags`)',
    ],
    [
      'a wrong tier',
      one('agent: { risk_tier: hihg }'),
      '4:25 `agent.risk_tier` must be `low`, `medium`, `high` or `critical` (did you mean `high`)',
    ],
    [
      'text that is a number',
      one('agent: { name: 7 }'),
      '4:20 `agent.name` must be text (write it in quotes)',
    ],
    ['a null fact', one('agent: { name: null }'), '4:20 `agent.name` must be text'],
    [
      'too many digits',
      one('payload: { a: 0.12345678901234567890 }'),
      '4:19 a double would change the number: send fewer digits, or send it as text',
    ],
    [
      'a number that JSON does not know',
      one('payload: { a: 0x10 }'),
      '4:19 `0x10` is not a JSON number (put it in quotes if it is text)',
    ],
    [
      'infinity',
      one('payload: { a: .inf }'),
      '4:19 `.inf` is not a JSON number (put it in quotes if it is text)',
    ],
    ['a key that is no text', one('payload: { 1: a }'), '4:16 a key must be text (write it in quotes)'],
    [
      'a time without offset',
      one('now: "2026-03-02T10:00:00"'),
      '4:10 `now` must be a time with an offset (such as `2026-03-02T10:00:00-05:00`, no finer than milliseconds)',
    ],
    ['an invalid address', one('request: { ip: 10.0.0 }'), '4:20 `request.ip` must be an IP address'],
    [
      'a session that is no text',
      one('session: 7'),
      '4:14 `request.session` must be text (write it in quotes)',
    ],
    [
      'a reading the wrong way round',
      one('meters: { a: [2, 1] }'),
      '4:18 `meters.a` must be a reading (such as `10`, `[10, 25]` with the smaller first, or `100 USD`)',
    ],
    [
      'a reading in two currencies',
      one('meters: { a: [1 USD, 2 EUR] }'),
      '4:18 `meters.a` must be a reading (such as `10`, `[10, 25]` with the smaller first, or `100 USD`)',
    ],
    [
      'a reading finer than the unit of its currency',
      one('meters: { a: 0.5 JPY }'),
      '4:18 `meters.a` must be a reading (such as `10`, `[10, 25]` with the smaller first, or `100 USD`)',
    ],
    [
      'a path that leads nowhere',
      one('set: { paylod.a: 1 }'),
      '4:12 there is no fact `paylod` (did you mean `payload`)',
    ],
    [
      'a path through a text',
      `${one('payload: { a: x }')}    set: { payload.a.b: 1 }\n`,
      '6:12 `payload` cannot be changed at `b` (there is no such place)',
    ],
    [
      'an index far behind the end',
      `${one('payload: { a: [1] }')}    set: { payload.a.2: 1 }\n`,
      '6:12 `payload` cannot be changed at `2` (there is no such place)',
    ],
    ['to take away what is not there', one('unset: [payload.a]'), '4:13 there is no `payload.a` to remove'],
    ['to take away the payload', one('unset: [payload]'), '4:13 `payload` is part of every request'],
    [
      'an unknown payload',
      one('unknown: [payload.a]'),
      '4:15 `payload` is never unknown (a `signed` field is unknown when `request.signed` is false)',
    ],
    [
      'an unknown time',
      one('unknown: [now]'),
      '4:15 `now` is never unknown (only attributes of `agent` and `request`, and meters, can be unknown)',
    ],
    [
      'an unknown attribute that is none',
      one('unknown: [agent.tag]'),
      '4:15 `agent` has no `tag` (did you mean `tags`)',
    ],
    [
      'no expectation',
      'tests: [{ name: t, action: a.b }]',
      '1:9 there is no expectation (add `expect:` with a decision)',
    ],
    ['no action', 'tests: [{ name: t, expect: ALLOW }]', '1:9 a test needs an `action`'],
    ['no name', 'tests: [{ action: a.b, expect: ALLOW }]', '1:9 a test needs a `name`'],
    ['no tests', 'defaults: {}', '1:1 a test file needs a list of `tests`'],
    ['no cases', 'tests: [{ name: t, action: a.b, cases: [] }]', '1:40 `cases` must be a non-empty list'],
    [
      'a wrong decision',
      'tests: [{ name: t, action: a.b, expect: ALOW }]',
      '1:41 a decision must be `ALLOW`, `ESCALATE`, `REAUTH_REQUIRED` or `DENY` (did you mean `ALLOW`)',
    ],
    [
      'an unknown expectation',
      'tests: [{ name: t, action: a.b, expect: { desicion: DENY } }]',
      '1:43 `expect` has no key `desicion` (did you mean `decision`)',
    ],
    [
      'an expectation of nothing',
      'tests: [{ name: t, action: a.b, expect: {} }]',
      '1:41 `expect` has nothing to compare',
    ],
    [
      'a risk beyond 100',
      'tests: [{ name: t, action: a.b, expect: { risk: 101 } }]',
      '1:49 `risk` must be a whole number from 0 to 100',
    ],
    [
      'a broken pattern',
      'tests: [{ name: t, action: a.b, expect: { reason: "/(/" } }]',
      '1:51 `/(/` is not a regular expression',
    ],
    ['the same key twice', 'defaults: {}\ndefaults: {}\ntests: []', '2:1 map keys must be unique'],
    ['two documents', 'tests: []\n---\ntests: []', '2:1 a file must have one document'],
    ['an empty file', '', '1:1 the file is empty'],
    ['a list', '[]', '1:1 a test file must be a mapping'],
  ])('%s', (_name, text, mistake) => {
    expect(mistakesOf(text)).toEqual([mistake]);
  });

  it('are found all at once, each once', () => {
    const text = `
defaults: { agent: { name: 1 } }
tests:
  - { name: a, action: a.b, expect: YES }
  - { name: b, action: a.b, expect: ALLOW, oops: 1 }
`;
    expect(mistakesOf(text).map((mistake) => mistake.split(' ')[0])).toEqual(['2:28', '4:37', '5:44']);
  });

  it('include too deep nesting and aliases that multiply', () => {
    const deep = `${'['.repeat(70)}${']'.repeat(70)}`;
    expect(mistakesOf(one(`payload: { a: ${deep} }`))[0]).toContain('too deeply nested');
    const lines = Array.from(
      { length: 8 },
      (_, n) => `    k${n}: &k${n} [${`*k${n - 1},`.repeat(n === 0 ? 0 : 10)}1]`,
    );
    expect(mistakesOf(`defaults:\n  payload:\n${lines.join('\n')}\ntests: []`)[0]).toContain(
      'too much repetition',
    );
  });
});
