import { describe, expect, it } from 'vitest';
import { createTextSets } from '../../../src/language/emit/runtime/membership.ts';
import { createRandom } from '../../../src/language/value/random.ts';

describe('sets of texts that share their numbers', () => {
  it('hold what plain sets hold', () => {
    const random = createRandom(1);
    const texts = Array.from({ length: 600 }, (_, at) => `text ${at}`);
    const textSets = createTextSets();
    // A small share of many texts is kept as numbers, a large share as bits.
    const drawn = Array.from({ length: 60 }, () => random.some(texts, random.pick([0, 0.005, 0.03, 0.9])));
    const pairs = drawn.map((own) => ({ own: new Set(own), set: textSets.of(own) }));
    for (const { own, set } of pairs) {
      for (const text of [...texts, '', 'other', 'text']) expect(set.has(text)).toBe(own.has(text));
    }
  });

  it('are one where they are equal, in whatever order and however often they are written', () => {
    const textSets = createTextSets();
    const one = textSets.of(['a', 'b', 'c']);
    expect(textSets.of(['c', 'a', 'b', 'a'])).toBe(one);
    expect(textSets.of(['a', 'b'])).not.toBe(one);
    const far = [...Array.from({ length: 500 }, (_, at) => `n${at}`), 'z'];
    textSets.of(far);
    expect(textSets.of(['z', 'a'])).toBe(textSets.of(['a', 'z']));
    expect(textSets.of(['z', 'a'])).not.toBe(textSets.of(['b', 'z']));
    expect(textSets.of([]).has('a')).toBe(false);
    expect(createTextSets().of(['a', 'b', 'c'])).not.toBe(one);
  });
});
