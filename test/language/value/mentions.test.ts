/** Words mentioned in a text, compared with a search of every place. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mentions } from '../../../src/language/value/mentions.ts';
import { fold } from '../../../src/language/value/text.ts';

test.each([
  ['My PASSWORD is long', ['password'], true],
  ['password!', ['password'], true],
  ['first\nSSN, then more', ['ssn'], true],
  ['my passwords', ['password'], false],
  ['assn', ['ssn'], false],
  ['my_password', ['password'], false],
  ['password2', ['password'], false],
  ['', ['password'], false],
  ['the wire   transfer is due', ['wire transfer'], true],
  ['the wire, transfer', ['wire transfer'], false],
  ['wire transfers', ['wire transfer'], false],
  ['pass\u200bword', ['password'], true],
  ['ＰＡＳＳＷＯＲＤ', ['password'], true],
  ['STRASSE', ['strasse'], true],
  ['I write C++, mostly', ['c++'], true],
  ['c++x', ['c++'], false],
  ['c+++', ['c++'], true],
  ['use .net', ['.net'], true],
  ['asp.net', ['.net'], false],
  ['the café', ['café'], true],
  ['a b c', ['a b d', 'b c'], true],
  ['anything', ['', ' '], false],
])('%j mentions any of %j: %s', (text, words, expected) => {
  expect(mentions(text, words)).toBe(expected);
  expect(mentions(text, new Set(words))).toBe(expected);
});

test('agrees with looking at every place', () => {
  const unit = fc.constantFrom('a', 'b', 'ä', '_', ' ', '+', '.');
  const texts = fc.string({ unit, maxLength: 16 });
  const entries = fc.array(fc.string({ unit, minLength: 1, maxLength: 4 }).map(fold), { maxLength: 4 });
  fc.assert(
    fc.property(texts, entries, (text, words) => {
      expect(mentions(text, words)).toBe(words.some((word) => standsIn(fold(text), word)));
    }),
    { numRuns: 500 },
  );
});

function standsIn(text: string, word: string): boolean {
  const isWordCharacter = (character = ''): boolean => /[\p{L}\p{N}_]/u.test(character);
  for (let at = text.indexOf(word); word !== '' && at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + word.length])) return true;
  }
  return false;
}

test('thousands of entries do not slow the search', () => {
  const words = new Set(Array.from({ length: 50_000 }, (_, at) => `word${at} of many`));
  expect(mentions('warm up', words)).toBe(false);
  const text = 'word1 of none '.repeat(20_000);
  const started = performance.now();
  expect(mentions(text, words)).toBe(false);
  expect(mentions(`${text} word49999 of many`, words)).toBe(true);
  expect(performance.now() - started).toBeLessThan(2_000);
});
