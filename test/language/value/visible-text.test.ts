// Names are accepted only if they look the way they are written.

import { describe, expect, it } from 'vitest';
import { nameProblem, textProblem } from '../../../src/language/value/visible-text.ts';

const invisible = 'must not contain control or invisible characters';

describe('a name', () => {
  it.each([
    'Ann',
    'Zoë Müller-Ò',
    'Иван',
    '李 雷',
    'محمد',
    'Cleo 👩\u200D💻',
    '❤\uFE0F',
    'می\u200Cخواهم',
    'क्\u200Dष',
  ])('%j is taken', (name) => {
    expect(nameProblem(name, 100)).toBeNull();
  });

  it.each([
    'a\u202Eb',
    'a\u2066b',
    'a\u200Fb',
    'a\u200Bb',
    'a\u200Cb',
    'a\u200Db',
    'a\u0301\u200Db',
    'a\uFEFFb',
    'a\u00ADb',
    'a\u034Fb',
    'a\u3164b',
    'a\u115Fb',
    'a\uFE0Fb',
    'a\u180Eb',
    'a\u{E0041}b',
    'a\u{E0100}b',
    'a\u0000b',
    'a\nb',
    'a\tb',
    'a\u007Fb',
    'a\u0085b',
    'a\u2028b',
    'a\uD800b',
    'a\uE000b',
    'a\uFFFEb',
  ])('%j is not', (name) => {
    expect(nameProblem(name, 100)).toBe(invisible);
  });

  it.each([
    ['', 'must not be empty'],
    [' ', 'must not be empty'],
    [' a', 'must not begin or end with white space'],
    ['a\u00A0', 'must not begin or end with white space'],
    ['aaaa', 'must have at most 3 characters'],
  ])('%j is not, and it is said why', (name, problem) => {
    expect(nameProblem(name, 3)).toBe(problem);
  });
});

describe('a text of several lines', () => {
  it('has lines, and no other controls', () => {
    expect(textProblem('one\ntwo 👩\u200D💻 \u202E', 100)).toBeNull();
    for (const text of ['a\tb', 'a\rb', 'a\u0000b']) {
      expect(textProblem(text, 100)).toBe('must not hold control characters');
    }
    expect(textProblem(' \n', 100)).toBe('must not be empty');
    expect(textProblem('abcd', 3)).toBe('must have at most 3 characters');
    expect(textProblem('😀😀😀', 3)).toBeNull();
  });
});
