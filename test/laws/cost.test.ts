// The cost of a decision grows at most in proportion to the payload, except for parts that are bounded. The
// tests count how often elements are read, and compare where the function and the definition call a value
// unknown.

import { describe, expect, it } from 'vitest';
import { worstCases } from '../../bench/worst-cases.ts';
import type { JsonObject } from '../../src/language/model/json.ts';
import { elementRoundsMax, textRoundsMax } from '../../src/language/model/limits.ts';
import { compileText, engineOf, factsOf } from '../language/emit/engine.ts';
import { differenceOn } from './differential.ts';

function policyOf(fields: string, condition: string): string {
  return `action a.b { ${fields} }\npolicy p on a.b { allow ok when ${condition} }`;
}

/** The truth of the condition by the function: true, false or unknown. The definition must agree. */
function truthOf(fields: string, condition: string, payload: JsonObject): string {
  const compiled = compileText(policyOf(fields, condition));
  expect(differenceOn(compiled, factsOf(payload))).toBeNull();
  return compiled.engine!.trace(factsOf(payload))[0]!.truth;
}

/** Records with one number each; each read of a number is counted. */
function countedRecords(count: number, n: number) {
  const counter = { reads: 0 };
  const record = {
    get n() {
      counter.reads += 1;
      return n;
    },
  };
  return { counter, records: Array.from({ length: count }, () => record) };
}

function readsOf(condition: string, count: number): number {
  const engine = engineOf(policyOf('xs: [{ n: number }]', condition));
  const { counter, records } = countedRecords(count, 1);
  engine.decideChecked(factsOf({ xs: records }));
  return counter.reads;
}

const timeout = 60_000;

describe('what a decision costs', { timeout }, () => {
  it.each(worstCases.map((one) => [one.name, one] as const))(
    'is spent by the function as the definition says: %s',
    (_, { policy, payloadOf }) => {
      for (const size of [0, 1, 40, 120]) {
        expect(differenceOn(compileText(policy), factsOf(payloadOf(size)))).toBeNull();
      }
    },
  );

  it.each([
    'some x in payload.xs (x.n > 1)',
    'every x in payload.xs (x.n == 1)',
    '(count x in payload.xs (x.n > 1)) > 0',
    '(sum x in payload.xs (x.n)) < 0',
  ])('reads each element of one quantifier once: %s', (condition) => {
    for (const count of [1, 100, 10_000]) expect(readsOf(condition, count)).toBe(count);
  });

  it.each([
    'some x in payload.xs (some y in payload.xs (x.n > y.n))',
    'every x in payload.xs (no y in payload.xs (x.n > y.n))',
    'some x in payload.xs ((count y in payload.xs (x.n > y.n)) > 0)',
    'every x in payload.xs ((sum y in payload.xs (x.n - y.n)) == 0)',
  ])('reads elements of nested quantifiers no more often than is allowed: %s', (condition) => {
    expect(readsOf(condition, 100)).toBe(2 * 100 ** 2);
    const side = Math.floor(Math.sqrt(elementRoundsMax));
    expect(readsOf(condition, side)).toBe(2 * side ** 2);
    for (const count of [side + 1, 10 * side]) expect(readsOf(condition, count)).toBe(0);
  });
});

describe('inside quantifiers', { timeout }, () => {
  const rounds = 4;
  const xs = Array.from({ length: rounds }, () => 'a');
  const listOf = (length: number) => Array.from({ length }, () => 'b');

  it('a list that takes too many rounds is unknown', () => {
    const longest = elementRoundsMax / rounds;
    const isIn = (length: number) =>
      truthOf('xs: [string], ys: [string]', 'some x in payload.xs (x in payload.ys)', {
        xs,
        ys: listOf(length),
      });
    expect([isIn(longest), isIn(longest + 1)]).toEqual(['false', 'unknown']);
    const some = (length: number) =>
      truthOf('xs: [string], ys: [string]', 'some x in payload.xs (some y in payload.ys (x == y))', {
        xs,
        ys: listOf(length),
      });
    expect(some(longest + 1)).toBe('unknown');
  });

  it.each([
    'payload.text contains x',
    'payload.text starts with x',
    'payload.text like "*c"',
    'fold(payload.text) == x',
    'lower(payload.text) == x',
    'length(payload.text) == 1',
    '(payload.note else "c") == x',
    'whole contains x',
    'payload.text mentions any of ["c"]',
    'payload.text in names',
    'payload.text == x',
  ])('a text that takes too many rounds is unknown: %s', (condition) => {
    const compile = `let whole = payload.text\nlist names ignoring case = ["c"]\n`;
    const fields = 'xs: [string], text: string, note?: string';
    const truth = (length: number): string => {
      const compiled = compileText(`${compile}${policyOf(fields, `some x in payload.xs (${condition})`)}`);
      const facts = factsOf({ xs: ['b', 'b', 'b', 'b'], text: 'a'.repeat(length), note: 'a'.repeat(length) });
      expect(differenceOn(compiled, facts)).toBeNull();
      return compiled.engine!.trace(facts)[0]!.truth;
    };
    const longest = textRoundsMax / rounds;
    expect([truth(longest), truth(longest + 1)]).toEqual(['false', 'unknown']);
  });

  it('what stands outside of them, and what the policy has written, is bounded by nothing', () => {
    const text = 'a'.repeat(textRoundsMax + 1);
    expect(truthOf('text: string', 'payload.text contains "b"', { text })).toBe('false');
    const wide = truthOf(
      'xs: [string], text: string',
      'payload.text contains "a" and some x in payload.xs (x == "a")',
      {
        xs,
        text,
      },
    );
    expect(wide).toBe('true');
    const written = 20;
    const many = Array.from({ length: elementRoundsMax / written + 1 }, () => 'b');
    const names = Array.from({ length: written }, (_, at) => `"name ${at}"`).join(', ');
    expect(truthOf('xs: [string]', `some x in payload.xs (x in [${names}])`, { xs: many })).toBe('false');
  });

  it('rounds are counted anew in what is named, and after each quantifier', () => {
    const compiled = compileText(`
      action a.b { xs: [string], ys: [string], text: string }
      let has_a = some y in payload.ys (payload.text contains y)
      policy p on a.b {
        allow ok when some x in payload.xs (x == "a" and has_a)
        allow two when (some x in payload.xs (x == "b")) or (some y in payload.ys (payload.text contains y))
      }`);
    const facts = factsOf({
      xs: Array.from({ length: 100 }, () => 'a'),
      ys: ['a', 'b'],
      text: 'a'.repeat(textRoundsMax / 4),
    });
    expect(differenceOn(compiled, facts)).toBeNull();
    expect(compiled.engine!.trace(facts).map(({ truth }) => truth)).toEqual(['true', 'true']);
  });
});
