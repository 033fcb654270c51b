// The descriptions of the words of the language, for hovers.

import { expect, test } from 'vitest';
import { describeWord, wordDescriptions } from '../../src/language/assist/word-descriptions.ts';
import { contextualWords, reservedWords } from '../../src/language/syntax/parse/tokens.ts';

/** Words that only occur within descriptions of others, and types, whose names say what they are. */
const undescribed = [
  ...['true', 'false', 'null', 'then', 'key', 'today', 'secret', 'signed', 'money', 'result'],
  ...['string', 'number', 'year', 'years', 'this', 'week', 'month', 'months'],
];

test('every keyword has a description', () => {
  const described = new Set(Object.keys(wordDescriptions).flatMap((phrase) => phrase.split(' ')));
  const words = [...reservedWords, ...contextualWords];
  expect(words.filter((word) => !described.has(word) && !undescribed.includes(word))).toEqual([]);
  const known: ReadonlySet<string> = new Set(words);
  expect([...described].filter((word) => !known.has(word))).toEqual([]);
});

test('the example of each phrase uses it', () => {
  for (const [phrase, { example }] of Object.entries(wordDescriptions))
    expect(
      describeWord(example, example.search(new RegExp(`\\b${phrase}\\b`)) + 1)?.description[0]?.text,
    ).toBe(phrase);
});

test('the longest phrase at the place is described, and no name or field', () => {
  const line = 'allow after after approval by finance when payload.to starts with "when" # unless';
  const phraseAt = (part: string, ahead = 1) =>
    describeWord(line, line.indexOf(part) + ahead)?.description[0]?.text;
  expect(phraseAt('approval')).toBe('after approval by');
  expect(phraseAt('with')).toBe('starts with');
  expect(phraseAt('to starts')).toBeUndefined();
  expect(phraseAt('"when"', 2)).toBeUndefined();
  expect(phraseAt('unless')).toBeUndefined();
});
