import { describe, expect, it } from 'vitest';
import { createTextSets } from '../../src/emit/membership.ts';
import { createRandom } from '../../src/prove/random.ts';

describe('sets of texts that share their numbers', () => {
  it('hold what plain sets hold', () => {
    const random = createRandom(1);
    const texts = Array.from({ length: 60 }, (_, at) => `text ${at}`);
    const textSets = createTextSets();
    const drawn = Array.from({ length: 200 }, () => random.some(texts, random.pick([0.02, 0.3, 0.9])));
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
    expect(createTextSets().of(['a', 'b', 'c'])).not.toBe(one);
  });
});
