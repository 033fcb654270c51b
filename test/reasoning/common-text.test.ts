// Whether two patterns have a text in common: the check of their ends agrees with their automata.

import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/language/value/random.ts';
import { mayHaveCommonText } from '../../src/reasoning/cells/common-text.ts';
import { textVectors } from '../../src/reasoning/cells/text-vectors.ts';

const pieces = [
  '',
  'a',
  'b',
  'ab',
  '/',
  '\\.',
  '\\*',
  '.*',
  '.*',
  '.*',
  '(?s:.*)',
  '\n',
  '.',
  '[ab]',
  'a*',
  '(?i)a',
];

function haveCommonText(first: string, second: string): boolean {
  return textVectors([first, second])!.some(({ answers }) => answers.every(Boolean));
}

describe('mayHaveCommonText', () => {
  it('is what the automata of both know', () => {
    const random = createRandom(7);
    const drawn = (): string => Array.from({ length: random.below(6) }, () => random.pick(pieces)).join('');
    const answers = Array.from({ length: 600 }, () => {
      const [first, second] = [drawn(), drawn()];
      const answer = mayHaveCommonText(first, second);
      expect({ first, second, answer }).toEqual({ first, second, answer: haveCommonText(first, second) });
      return answer;
    });
    expect(new Set(answers)).toEqual(new Set([true, false]));
  });

  it('is true where it is not known', () => {
    expect(mayHaveCommonText('(', 'a')).toBe(true);
  });
});
