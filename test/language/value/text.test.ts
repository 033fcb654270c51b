/** Folding compared with Unicode's rules as the runtime implements them, and the other tests of texts. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cut,
  escapeControls,
  fold,
  hasBidiControls,
  isScalarText,
  length,
  lower,
  readCaseFolding,
  trim,
  unicodeVersion,
} from '../../../src/language/value/text.ts';

const caseFolding = readCaseFolding();

const anyText = fc.string({ unit: 'binary' });

/** Texts in which case, marks, ignorable characters and white space often meet. */
const trickyText = fc.string({
  unit: fc.constantFrom(
    ...'aAßẞİıΣςsſKÅéE\u0301\u0316\u0345\u0327ﬁＡ㌔Ⅷ가가\u1160\u200b\u00ad\ufe0f\u034f \t\u3000\u00a0\u2028¨',
  ),
});

function everyCharacter(): string[] {
  const characters: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    if (code < 0xd800 || code > 0xdfff) characters.push(String.fromCodePoint(code));
  }
  return characters;
}

describe('fold', () => {
  test.each([
    ['Hello  World', 'hello world'],
    ['  \t\n\u3000a\u00a0\u0085b\u2028', 'a b'],
    ['', ''],
    [' \n ', ''],
    ['Straße', 'strasse'],
    ['STRAẞE', 'strasse'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφοσ'],
    ['Σίσυφος', 'σίσυφοσ'],
    ['Ａｃｍｅ', 'acme'],
    ['ﬁnance', 'finance'],
    ['\u212b', 'å'],
    ['A\u030a', 'å'],
    ['pass\u200bwo\u00adrd\ufeff', 'password'],
    ['\u2066pay\u2069', 'pay'],
    ['ᾳ', 'αι'],
    ['İ', 'i\u0307'],
    ['ı', 'ı'],
    ['Ꮳꮳ', 'ᏣᏣ'],
    ['𝐏𝐚𝐲', 'pay'],
    ['①', '1'],
  ])('%j is %j', (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test('twice is once', () => {
    for (const texts of [anyText, trickyText]) {
      fc.assert(
        fc.property(texts, (text) => {
          expect(fold(fold(text))).toBe(fold(text));
        }),
      );
    }
  });

  test('forms of one text that differ in case, composition or what cannot be seen fold alike', () => {
    fc.assert(
      fc.property(trickyText, (text) => {
        expect(fold(text.normalize('NFD'))).toBe(fold(text.normalize('NFC')));
        expect(fold(`\u200b${text}\u2060 `)).toBe(fold(text));
        // Upper-casing turns two characters into others: the dotless i, and the iota below, which marks move
        // around.
        const plain = text.replaceAll(/ı|\u0345/g, '');
        expect(fold(plain.toUpperCase())).toBe(fold(plain));
      }),
    );
  });

  test('ASCII takes a short way to the same end', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(fold(text)).toBe(fold(`${text} \u200b`));
      }),
    );
  });

  test('long runs of marks are cut and cost no more than others', () => {
    const marks = `a${'\u0301'.repeat(100_000)}${'\u0316'.repeat(100_000)}`;
    const started = performance.now();
    const folded = fold(marks);
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(length(folded)).toBeLessThan(40);
    expect(fold(folded)).toBe(folded);
  });
});

test('the table of folding is what upper and lower case of the runtime imply', () => {
  expect(process.versions.unicode, 'this test needs a runtime of the pinned version').toBe(unicodeVersion);
  const wrong = everyCharacter().filter((character) => {
    if (character.normalize('NFKD') !== character) return false;
    return (caseFolding.get(character) ?? character) !== impliedFolding(character);
  });
  expect(wrong).toEqual([]);
});

/**
 * The folding by the runtime: upper case, then lower case. Cherokee goes to upper case, and the dotless i
 * stays.
 */
function impliedFolding(character: string): string {
  if (character === 'ı') return character;
  if (/\p{Script=Cherokee}/u.test(character)) return character.toUpperCase();
  const once = character.toUpperCase().toLowerCase();
  return once.toUpperCase().toLowerCase();
}

test.each([
  ['', 0],
  ['abc', 3],
  ['😀é', 2],
  ['e\u0301', 2],
  ['\ud83d', 1],
])('%j has %i code points', (text, count) => {
  expect(length(text)).toBe(count);
});

test('length and cut agree with the iteration of texts', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 12 }), (text, max) => {
      expect(length(text)).toBe([...text].length);
      expect(cut(text, max)).toBe([...text].slice(0, max).join(''));
    }),
  );
});

test('lower and trim', () => {
  expect(lower('ÄPFEL İ')).toBe('äpfel i\u0307');
  expect(trim('\t a b\u3000\n')).toBe('a b');
});

test.each([
  ['plain text, 日本', 'plain text, 日本'],
  ['a\nb\r\tc', 'a\\nb\\r\\tc'],
  ['\u001b[31m\u0000\u007f\u0085', '\\u001b[31m\\u0000\\u007f\\u0085'],
  ['a\u202eb\u2066c\u2028', 'a\\u202eb\\u2066c\\u2028'],
  ['\ud800 😀', '\\ud800 😀'],
])('%j is shown as %j', (text, shown) => {
  expect(escapeControls(text)).toBe(shown);
});

test('lone surrogates are no text', () => {
  expect([isScalarText('😀'), isScalarText('\ud83d'), isScalarText('\ude00a')]).toEqual([true, false, false]);
});

test('bidirectional controls are found', () => {
  expect([hasBidiControls('a\u202eb'), hasBidiControls('\u061c'), hasBidiControls('עברית')]).toEqual([
    true,
    true,
    false,
  ]);
});

test('runs of marks are cut wherever they stand', () => {
  const marks = fc
    .array(fc.constantFrom('\u0315', '\u0300', '\u{1e000}', '\u0344'), { minLength: 25, maxLength: 70 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ maxLength: 40 }), marks), { maxLength: 6 }), (parts) => {
      const text = `\u00e9${parts.join('b')}`;
      const slowly = text
        .replace(/\p{Default_Ignorable_Code_Point}+/gu, '')
        .replace(/(\p{M}{60})\p{M}+/gu, '$1')
        .normalize('NFKD')
        .replace(/(\p{M}{30})\p{M}+/gu, '$1');
      const folded = [...slowly].map((character) => caseFolding.get(character) ?? character).join('');
      const collapsed = folded
        .normalize('NFC')
        .replace(/\p{White_Space}+/gu, ' ')
        .replace(/^ | $/g, '');
      expect(fold(text)).toBe(collapsed);
    }),
    { numRuns: 500 },
  );
});
