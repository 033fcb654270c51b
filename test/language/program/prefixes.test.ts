import { describe, expect, it } from 'vitest';
import { createPrefixes, findPrefixes } from '../../../src/language/program/index/prefixes.ts';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';

const letters = ['a', 'a', 'a', 'b', '\u00e9', '\ud83d\ude00', '\uffff', ' '];

function randomText(random: RandomSource, most: number): string {
  return Array.from({ length: random.below(most + 1) }, () => random.pick(letters)).join('');
}

describe('beginnings', () => {
  it('are found where a text has them, each once', () => {
    let hits = 0;
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = createRandom(seed);
      const filed = Array.from({ length: 1 + random.below(60) }, (_, rule) => ({
        rule,
        text: `${random.pick(['', 'a'.repeat(random.below(20))])}${randomText(random, 4)}`,
      }));
      const prefixes = createPrefixes(filed);
      const found = new Int32Array(filed.length);
      for (let i = 0; i < 60; i += 1) {
        const begun = random.chance(0.7) ? random.pick(filed).text : 'a'.repeat(random.below(25));
        const text = `${begun}${randomText(random, 3)}`;
        const count = findPrefixes(prefixes, text, found, 0);
        const expected = filed.filter((one) => text.startsWith(one.text)).map(({ rule }) => rule);
        expect([...found.subarray(0, count)].toSorted((a, b) => a - b)).toEqual(expected);
        hits += count;
      }
    }
    expect(hits).toBeGreaterThan(20_000);
  });
});
