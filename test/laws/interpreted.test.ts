// function = definition = interpreter: random sets and requests are decided, traced and entered in meters
// alike, whether generated code is a function of the platform or is read and interpreted. WRIT_INTERPRETED
// sets the number of pairs.

import { describe, expect, it } from 'vitest';
import { createFunctionCache } from '../../src/language/emit/cache.ts';
import { interpret } from '../../src/language/emit/interpret/interpret.ts';
import { link } from '../../src/language/emit/link.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { tries } from '../support/tries.ts';
import { compileSet, ruleIdsOf } from './differential.ts';
import { randomSet } from './policies.ts';
import { randomFacts } from './requests.ts';

const pairs = Number(process.env.WRIT_INTERPRETED ?? tries(300));
const requestsPerSet = 40;

/** Compares texts first, because most pairs have equal texts and comparing values is slow. */
function same(interpreted: unknown, other: unknown, place: string): void {
  if (written(interpreted) !== written(other)) expect(interpreted, place).toEqual(other);
}

function written(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part));
}

describe('function = definition = interpreter', () => {
  it('agrees on random policies and requests', { timeout: 60_000 + pairs * 20 }, () => {
    const caches = [createFunctionCache(interpret), createFunctionCache(interpret)] as const;
    const outcomes = new Set<string>();
    let traced = 0;
    for (let seed = 1; seed <= pairs / requestsPerSet; seed += 1) {
      const random = createRandom(seed);
      const generated = randomSet(random);
      const { set, program, engine } = compileSet(generated);
      const interpreters = [link(program!, caches[0]), link(program!, caches[1], 'indexed')];
      const ruleIds = ruleIdsOf(set!);
      for (let at = 0; at < requestsPerSet; at += 1) {
        const facts = randomFacts(random, generated, ruleIds);
        const interpreter = interpreters[at % 2]!;
        const decision = interpreter.decide(facts);
        const place = `seed ${seed}, request ${at}`;
        same(decision, engine!.decide(facts), place);
        same(decision, authorize(set!, facts), place);
        same(interpreter.entries(facts), engine!.entries(facts), place);
        outcomes.add(decision.outcome);
        if (at % 5 !== 0) continue;
        same(interpreter.trace(facts), engine!.trace(facts), place);
        traced += 1;
      }
    }
    expect(outcomes.size).toBe(4);
    expect(traced).toBeGreaterThan(pairs / 6);
  });
});

describe('the interpreter', () => {
  const ran = (text: string, ...values: readonly unknown[]): unknown =>
    interpret({ text, bindings: { keys: [], values, bind: () => expect.fail() } });

  it.each([
    ['return globalThis;', /names nothing by `globalThis`/],
    ['return (o) => o.constructor("return 1")();', /calls no method/],
    ['function rule0(f) { return g; }\nreturn rule0;', /names nothing by `g`/],
    ['while (true) {}', /begins with functions/],
    ['return `text`;', /unexpected character/],
    ['"use strict";', /returns what it makes/],
    ['let a; a += 1; return a;', /begins with functions/],
    ['return 1 == 1;', /compares with/],
    ['const e = 1;', /begins with functions/],
    ['return a?.["b"]["c"];', /unexpected generated code/],
    ['return (o) => { return (p) => o; };', /are siblings/],
  ])('refuses what the generators do not write: %s', (text, message) => {
    expect(() => ran(text)).toThrow(SyntaxError);
    expect(() => ran(text)).toThrow(message);
  });

  it('reads texts as JSON has them, and calls what is bound', () => {
    const made = ran('return (o) => c0(o["<\\/script>\\u2028"], -1);', (a: number, b: number) => a + b);
    expect((made as (o: object) => unknown)({ '</script>\u2028': 4 })).toBe(3);
  });

  it('gives each call values of its own', () => {
    const text =
      'function a(f, s, k, b) { const t = b; if (b > 0) { k[0](f, s, k, b - 1); } return t; }\nreturn a;';
    const code = ran(text) as (...args: readonly unknown[]) => unknown;
    expect(code(null, null, [code], 3)).toBe(3);
  });
});
