// The mutants of a policy file, the text of each, and the mutants that no request can tell apart.

import { describe, expect, it } from 'vitest';
import type { Facts } from '../../src/language/model/request.ts';
import type { CompileResult } from '../../src/pipeline.ts';
import { meaningOf } from '../../src/testing/mutation/meaning.ts';
import { hunkOf, mutantDiff } from '../../src/testing/mutation/unified-diff.ts';
import { compiled, mutatedTexts } from './mutants.ts';

const head = `action a.b {
  n:     integer 0..5
  x:     number 0..10
  note?: string
  names: [string] 0..3
}

approvers finance "Finance"

`;

/**
 * The mutants of one rule on the action above: the name of each change, and the changed rule, in one line.
 */
function ruleMutants(rule: string): readonly string[] {
  const text = `${head}policy p on a.b {\n  ${rule}\n}\n`;
  return mutatedTexts(text).map(({ name, file }) => {
    const body = file.text.slice(file.text.indexOf('policy p on a.b {') + 'policy p on a.b {'.length);
    return `${name.replace('p/r: ', '')} | ${body
      .replace(/\}\s*$/, '')
      .trim()
      .replace(/\s+/g, ' ')}`;
  });
}

describe('mutants of a rule', () => {
  it('leave it out, change its effect and move its parameters', () => {
    expect(
      ruleMutants('escalate r to finance needs 2 within 4h\n    when payload.n > 1\n    risk +30'),
    ).toEqual([
      'dropped the rule | ',
      '`escalate` became `reauth` | reauth r within 4h when payload.n > 1 risk +30',
      '`2` became `1` | escalate r to finance needs 1 within 4h when payload.n > 1 risk +30',
      '`2` became `3` | escalate r to finance needs 3 within 4h when payload.n > 1 risk +30',
      '`4h` became `3h` | escalate r to finance needs 2 within 3h when payload.n > 1 risk +30',
      '`4h` became `5h` | escalate r to finance needs 2 within 5h when payload.n > 1 risk +30',
      'dropped `when payload.n > 1` | escalate r to finance needs 2 within 4h risk +30',
      'negated `payload.n > 1` | escalate r to finance needs 2 within 4h when not (payload.n > 1) risk +30',
      '`>` became `>=` | escalate r to finance needs 2 within 4h when payload.n >= 1 risk +30',
      '`1` became `0` | escalate r to finance needs 2 within 4h when payload.n > 0 risk +30',
      '`1` became `2` | escalate r to finance needs 2 within 4h when payload.n > 2 risk +30',
      '`+30` became `+29` | escalate r to finance needs 2 within 4h when payload.n > 1 risk +29',
      '`+30` became `+31` | escalate r to finance needs 2 within 4h when payload.n > 1 risk +31',
    ]);
  });

  it('weaken guards and grants that ask first', () => {
    expect(ruleMutants('deny r when payload has note').slice(0, 2)).toEqual([
      'dropped the rule | ',
      '`deny` became `escalate ... to owner` | escalate r to owner when payload has note',
    ]);
    expect(ruleMutants('shadow reauth r within 15m').slice(0, 2)).toEqual([
      'dropped the rule | ',
      '`reauth` became `escalate ... to owner` | shadow escalate r to owner within 15m',
    ]);
    expect(ruleMutants('allow r for 10m after approval by finance needs 2 within 4h').slice(0, 2)).toEqual([
      'dropped the rule | ',
      'allowed without asking first | allow r for 10m',
    ]);
    expect(ruleMutants('allow r after reauth')).toContain('allowed without asking first | allow r');
  });

  it('stay out of comments', () => {
    const policy =
      'policy p on a.b # here\n  when payload.n > 1 {\n  deny r # there\n    when payload.n > 2\n}\n';
    const texts = mutatedTexts(`${head}${policy}`).map(({ file }) => file.text.slice(head.length));
    expect(texts[0]).toBe('policy p on a.b # here\n {\n  deny r # there\n    when payload.n > 2\n}\n');
    expect(texts.filter((text) => text.includes('deny r # there\n}'))).toHaveLength(1);
  });

  it('leave out each part of a condition, wherever parentheses stand', () => {
    const parts = ruleMutants(
      'deny r when payload.n == 1 and (payload.n == 2 or payload.x < 3) and not (payload has note)',
    );
    expect(parts.filter((part) => part.startsWith('dropped')).slice(2)).toEqual([
      'dropped `not (payload has note)` | deny r when payload.n == 1 and (payload.n == 2 or payload.x < 3)',
      'dropped `payload.n == 1` | deny r when (payload.n == 2 or payload.x < 3) and not (payload has note)',
      'dropped `payload.n == 2 or payload.x < 3` | deny r when payload.n == 1 and not (payload has note)',
      'dropped `payload.n == 2` | deny r when payload.n == 1 and (payload.x < 3) and not (payload has note)',
      'dropped `payload.x < 3` | deny r when payload.n == 1 and (payload.n == 2) and not (payload has note)',
      'dropped `not` of `payload has note` | deny r when payload.n == 1 and (payload.n == 2 or payload.x < 3) and (payload has note)',
    ]);
  });

  it('turn operators and quantifiers round, and empty lists entry by entry', () => {
    const lines = ruleMutants(
      'deny r when payload.n in [1, 2, 3] unless some y in payload.names (y like "a*")',
    );
    const changes = lines.map((line) => line.split(' | ')[0]);
    expect(changes).toEqual([
      'dropped the rule',
      '`deny` became `escalate ... to owner`',
      'dropped `when payload.n in [1, 2, 3]`',
      'negated `payload.n in [1, 2, 3]`',
      '`in` became `not in`',
      'dropped `1`',
      'dropped `2`',
      'dropped `3`',
      'dropped `unless some y in payload.names (y like "a*")`',
      'negated `some y in payload.names (y like "a*")`',
      '`some` became `every`',
      'negated `y like "a*"`',
    ]);
    expect(lines[5]).toContain('in [2, 3]');
    expect(lines[7]).toContain('in [1, 2]');
  });
});

describe('mutants of a constant', () => {
  it.each([
    ['payload.x < 10_000', ['9_999', '10_001']],
    ['payload.x < 0.01', ['0', '0.02']],
    ['payload.x < -999_999', ['-1_000_000', '-999_998']],
    ['now < 2026-12-31T23:59Z', ['2026-12-31T23:58Z', '2027-01-01T00:00Z']],
    ['now < 2026-13-31T23:59Z', []],
    ['now < 2026-12-31T23:59:59+02:00', ['2026-12-31T23:59:58+02:00', '2027-01-01T00:00:00+02:00']],
    ['today in "UTC" < 2028-03-01', ['2028-02-29', '2028-03-02']],
    ['now - now < 1h', ['0h', '2h']],
    ['payload.x in 1..2.5', ['0', '2', '2.4', '2.6']],
  ])('%s', (condition, steps) => {
    const changes = ruleMutants(`deny r when ${condition}`).map((line) => line.split(' | ')[0]!);
    const moved = changes.flatMap((change) => /`-?\d\S*` became `(.*)`/.exec(change)?.[1] ?? []);
    expect(moved).toEqual(steps);
  });

  it('moves money by the smallest coin of its currency', () => {
    const text = `action a.b {\n  cost:     money(currency)\n  currency: string\n}\n
let limit = 100 USD
let yen   = 100 JPY
policy p on a.b {\n  deny r\n    when payload.cost > limit or payload.cost > yen\n}\n`;
    const names = mutatedTexts(text).map(({ name }) => name);
    expect(names.filter((name) => !name.startsWith('p/'))).toEqual([
      'limit: `100 USD` became `99.99 USD`',
      'limit: `100 USD` became `100.01 USD`',
      'yen: `100 JPY` became `99 JPY`',
      'yen: `100 JPY` became `101 JPY`',
    ]);
  });
});

describe('mutants of declarations', () => {
  it('leave out entries of lists, a few of long ones, and lines of list files', () => {
    const numbers = Array.from({ length: 101 }, (_, n) => n);
    const text = `list long = [${numbers.join(', ')}]
list short = [
  "a", # first
  "b",
]
list only = ["x"]
list both = short + only
list file from "names.txt"
`;
    const made = mutatedTexts(text, { 'names.txt': '# names\nann\n\nbob' });
    expect(made.map(({ name }) => name)).toEqual([
      'long: dropped `0`',
      'long: dropped `25`',
      'long: dropped `50`',
      'long: dropped `75`',
      'long: dropped `100`',
      'short: dropped `"a"`',
      'short: dropped `"b"`',
      'both: dropped `short`',
      'both: dropped `only`',
      'file: dropped `ann`',
      'file: dropped `bob`',
    ]);
    expect(made.slice(-2).map(({ file }) => file.text)).toEqual(['# names\n\nbob', '# names\nann\n\n']);
    expect(made[7]!.file.text).toContain('list both = only\n');
    expect(made[8]!.file.text).toContain('list both = short\n');
  });

  it('move the ends of hours and forget what is excepted', () => {
    const text = `list holidays = [2026-12-25]
hours office = mon-fri 09:00-24:00, 2026-05-01 in "UTC" except holidays
`;
    expect(mutatedTexts(text).map(({ name }) => name)).toEqual([
      'office: `09:00` became `08:59`',
      'office: `09:00` became `09:01`',
      'office: `24:00` became `23:59`',
      'office: `2026-05-01` became `2026-04-30`',
      'office: `2026-05-01` became `2026-05-02`',
      'office: `2026-05-01` became `2026-04-30`',
      'office: `2026-05-01` became `2026-05-02`',
      'office: dropped `mon-fri 09:00-24:00`',
      'office: dropped `2026-05-01`',
      'office: dropped `except holidays`',
    ]);
  });
});

describe('the meaning of a mutant', () => {
  const policy = `${head}let limit = 2
let small = payload.n <= limit

policy p on a.b when (payload.x >= 0) {
  allow low
    when small or not (payload.n > 4 and payload.x in 0..5.5)

  allow unrisky
    when risk < 50

  deny high
    when payload.n >= 5 or payload.x > 10
    unless payload.n < 4.5

  reauth risky
    when risk >= 30

  risk some_risk +20
    when 3 < payload.n

  shadow deny not_yet
    when payload.n == 2
    risk +15

  risk more_risk +15
    when payload.x != 0
}
`;
  const facts: readonly Facts[] = [0, 1, 2, 3, 4, 5].flatMap((n) =>
    [0, 0.1, 5, 5.4, 5.5, 5.6, 9.9, 10].map((x) => ({
      action: 'a.b',
      payload: { n, x, names: [] },
      agent: {},
      request: {},
      nowMs: 0,
      meters: {},
      satisfied: { escalate: [], reauth: [] },
    })),
  );
  /** All decisions, without the results of shadow rules. */
  const decisionsOf = (engine: NonNullable<CompileResult['engine']>): string =>
    JSON.stringify(facts.map((one) => ({ ...engine.decide(one), withShadow: null })));
  const original = compiled(policy);
  const made = mutatedTexts(policy).flatMap(({ name, file }) => {
    const { set, engine } = compiled(file.text);
    if (set === null || engine === null) return [];
    return [{ name, meaning: meaningOf(set), decisions: decisionsOf(engine) }];
  });

  it('is equal only where every request is decided alike', () => {
    const decisions = decisionsOf(original.engine!);
    const all = [{ name: 'original', meaning: meaningOf(original.set!), decisions }, ...made];
    for (const group of Map.groupBy(all, ({ meaning }) => meaning).values()) {
      const [first] = group;
      for (const one of group) expect([one.name, one.decisions]).toEqual([one.name, first!.decisions]);
    }
  });

  it('sees through whole numbers, declared ranges and the sums that risk can reach', () => {
    const equal = made.filter(({ meaning }) => meaning === meaningOf(original.set!)).map(({ name }) => name);
    expect(equal).toEqual([
      'p: dropped `when (payload.x >= 0)`',
      'p: `0` became `-1`',
      'p/low: `0` became `-1`',
      'p/unrisky: `<` became `<=`',
      'p/unrisky: `50` became `49`',
      'p/unrisky: `50` became `51`',
      'p/high: dropped `payload.x > 10`',
      'p/high: `10` became `11`',
      'p/high: `<` became `<=`',
      'p/high: `4.5` became `4.4`',
      'p/high: `4.5` became `4.6`',
      'p/risky: `>=` became `>`',
      'p/risky: `30` became `29`',
      'p/risky: `30` became `31`',
      'p/not_yet: dropped the rule',
      'p/not_yet: `deny` became `escalate ... to owner`',
      'p/not_yet: dropped `when payload.n == 2`',
      'p/not_yet: negated `payload.n == 2`',
      'p/not_yet: `==` became `!=`',
      'p/not_yet: `2` became `1`',
      'p/not_yet: `2` became `3`',
      'p/not_yet: `+15` became `+14`',
      'p/not_yet: `+15` became `+16`',
    ]);
  });
});

describe('a hunk', () => {
  it('holds what differs with two lines around it', () => {
    const before = 'a\nb\nc\nd\ne\nf\n';
    expect(mutantDiff('x.policy', hunkOf(before, 'a\nb\nc\nD\nD\ne\nf\n'))).toBe(
      '--- a/x.policy\n+++ b/x.policy\n@@ -2,5 +2,6 @@\n b\n c\n-d\n+D\n+D\n e\n f\n',
    );
    expect(mutantDiff('x', hunkOf(before, 'a\nb\nc\nd\ne\n'))).toBe(
      '--- a/x\n+++ b/x\n@@ -4,3 +4,2 @@\n d\n e\n-f\n',
    );
    expect(hunkOf('a\n', '')).toEqual({ head: '@@ -1,1 +0,0 @@', lines: ['-a'] });
    expect(hunkOf('a\nb', 'a\nc').lines).toEqual([
      ' a',
      '-b\n\\ No newline at end of file',
      '+c\n\\ No newline at end of file',
    ]);
  });
});
