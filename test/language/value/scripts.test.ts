// The scripts of texts: word by word for the checker's warnings, and of the whole text for conditions.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMixedScript, isSingleScript, scriptsOf } from '../../../src/language/value/scripts.ts';

test.each([
  ['paypal', false],
  ['pаypal', true],
  ['Москва', false],
  ['Moscow Москва', false],
  ['ΑBC', true],
  ['Ωmega', true],
  ['Tシャツ', false],
  ['東京タワー', false],
  ['한국어漢字', false],
  ['ж東', true],
  ['naïve_1', false],
  ['user_имя', true],
  ['µm', false],
])('%s has words of several scripts: %s', (text, expected) => {
  expect(isMixedScript(text)).toBe(expected);
});

test.each([
  ['', true],
  ['Acme Ltd, No. 7 (Köln) 1 234,00 €', true],
  ['Москва 2026', true],
  ['St\u0430ples', false],
  ['Moscow Москва', false],
  ['東京タワーの', true],
  ['ㄅ東', true],
  ['한국어漢字', true],
  ['한국어カ', false],
  ['Tシャツ', false],
  ['e\u0301té', true],
  ['α\u0301β', true],
  ['١٢٣ مال', true],
  ['🙂 ok', true],
  ['a\u{378}', false],
])('%s is of one script: %s', (text, expected) => {
  expect(isSingleScript(text)).toBe(expected);
});

test('a text of one script has a script that each of its letters goes with', () => {
  const characters = fc.constantFrom(
    'a',
    'é',
    'а',
    'я',
    'α',
    'ひ',
    'カ',
    '東',
    '한',
    'ㄅ',
    '1',
    ' ',
    '\u0301',
    '\u0660',
    'ー',
  );
  const groups = [
    ['Han', 'Bopomofo'],
    ['Han', 'Hiragana', 'Katakana'],
    ['Han', 'Hangul'],
  ];
  fc.assert(
    fc.property(fc.array(characters, { maxLength: 5 }), (parts) => {
      const sets = parts.map(scriptsOf).filter((set) => set.length > 0);
      const wanted = [...new Set(sets.flat())].map((name) => [name]).concat(groups);
      const isOne =
        sets.length === 0 ||
        wanted.some((group) => sets.every((set) => set.some((name) => group.includes(name))));
      expect(isSingleScript(parts.join(''))).toBe(isOne);
    }),
  );
});

test('a long text of many scripts is judged in linear time', () => {
  const text = `${'а'.repeat(200_000)}a`;
  expect(isSingleScript(text)).toBe(false);
  expect(isMixedScript(text)).toBe(true);
});

test('a character is named with its scripts', () => {
  expect(scriptsOf('а')).toEqual(['Cyrillic']);
  expect(scriptsOf('ー')).toEqual(['Hiragana', 'Katakana']);
  expect(scriptsOf('7')).toEqual([]);
});
