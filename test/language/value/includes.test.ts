import { describe, expect, it } from 'vitest';
import { type CodeUnits, includes, includesLong } from '../../../src/language/value/includes.ts';
import { createRandom } from '../../../src/language/value/random.ts';

/** A text that counts the reads of its code units. */
function counted(text: string): CodeUnits & { reads: number } {
  const units = {
    reads: 0,
    length: text.length,
    charCodeAt: (at: number) => {
      units.reads += 1;
      return text.charCodeAt(at);
    },
  };
  return units;
}

describe('includes', () => {
  it('says what the runtime says', () => {
    const random = createRandom(1);
    let found = 0;
    for (let i = 0; i < 20_000; i += 1) {
      const draw = (most: number) =>
        Array.from({ length: random.below(most) }, () => random.pick(['a', 'b', '\ud83d', '\ude00'])).join(
          '',
        );
      const text = draw(200);
      const part = random.chance(0.3) ? text.slice(random.below(50), 90) : draw(i % 2 === 0 ? 8 : 60);
      const expected = text.includes(part);
      expect([text, part, includes(text, part)]).toEqual([text, part, expected]);
      if (part !== '') expect([text, part, includesLong(text, part)]).toEqual([text, part, expected]);
      if (expected) found += 1;
    }
    expect(found).toBeGreaterThan(1_000);
  });

  it.each([
    ['a part whose first letter alone differs', 'a', (length: number) => `b${'a'.repeat(length)}`],
    ['a part whose last letter alone differs', 'a', (length: number) => `${'a'.repeat(length)}b`],
    [
      'a part that differs in its middle',
      'a',
      (length: number) => `${'a'.repeat(length / 2)}b${'a'.repeat(length / 2)}`,
    ],
    ['a part of pairs', 'ab', (length: number) => `${'ab'.repeat(length / 2)}c`],
  ])('reads each code unit a few times at most: %s', (_, repeated, partOf) => {
    for (const length of [100, 1_000, 10_000]) {
      const text = counted(repeated.repeat(length));
      const part = counted(partOf(length));
      expect(includesLong(text, part)).toBe(false);
      expect(text.reads).toBe(text.length);
      expect(part.reads).toBeLessThanOrEqual(4 * (text.length + part.length));
    }
  });
});
