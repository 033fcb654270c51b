// The programs of patterns, stepped together: the same answers as the definition, and no combination missed.

import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/language/value/random.ts';
import { compileRegex } from '../../src/language/value/regex.ts';
import { programOf } from '../../src/reasoning/cells/programs.ts';
import { textLemma } from '../../src/reasoning/cells/text-lemmas.ts';
import { textVectors } from '../../src/reasoning/cells/text-vectors.ts';
import { notLiteral } from '../../src/reasoning/solver/literal.ts';

const patterns = [
  'inv-[0-9]{3}',
  '(?i)kilo.*',
  '.*\\b[0-9]{2}\\b.*',
  '(?m)^a$',
  '[^a-c]+',
  '.*straße.*',
  '(?i)ÅΩ',
  '\\pL+',
  '(?s).*[A-Z]{2}[0-9]{2}.*',
  'a|ab|abc',
  '',
  '(?i)s.k',
  '.*',
  '(?m)^.*$',
  '(?s:a.)b?.',
  'a$\\n?',
  '[^\\n]*\\s',
];
const letters = [...'abckKsSiInv-019 \nKſåÅΩωßé.', '𝒜'];

function definition(pattern: string): (text: string) => boolean {
  return compileRegex(pattern) as (text: string) => boolean;
}

function stepped(pattern: string, text: string): boolean {
  const program = programOf(pattern)!;
  let [position, before] = [program.start, null as number | null];
  for (const letter of text) {
    position = program.step(position, before, letter.codePointAt(0)!);
    before = letter.codePointAt(0)!;
  }
  return program.accepts(position, before);
}

describe('programOf', () => {
  it.each(patterns)('steps `%s` as the definition matches it', (pattern) => {
    const random = createRandom(3);
    const samples = textVectors([pattern])!.flatMap(({ texts }) => texts);
    const drawn = Array.from({ length: 400 }, () =>
      Array.from({ length: random.below(6) }, () => random.pick(letters)).join(''),
    );
    for (const text of [...samples, ...drawn]) expect(stepped(pattern, text)).toBe(definition(pattern)(text));
  });

  it('is null for what is no pattern', () => {
    expect(programOf('(')).toBeNull();
  });
});

describe('textVectors', () => {
  it('has every combination that random texts show, with texts that show it', () => {
    const random = createRandom(5);
    for (let round = 0; round < 40; round += 1) {
      const chosen = random.some(patterns, 0.3);
      const vectors = textVectors(chosen);
      if (vectors === null) continue;
      const keys = new Set(vectors.map(({ answers }) => answers.join()));
      const answersOf = (text: string): string => chosen.map((one) => definition(one)(text)).join();
      for (const { answers, texts } of vectors)
        for (const text of texts) expect(answersOf(text)).toBe(answers.join());
      for (let drawn = 0; drawn < 200; drawn += 1) {
        const text = Array.from({ length: random.below(8) }, () => random.pick(letters)).join('');
        expect(keys).toContain(answersOf(text));
      }
    }
  });

  it('knows what no text can be', () => {
    const vectors = textVectors(['.*\\.txt', '[^/]*', '/etc.*'])!;
    expect(vectors.some(({ answers }) => answers[1] && answers[2])).toBe(false);
    expect(vectors.some(({ answers }) => answers[0] && answers[2])).toBe(true);
  });

  it('never gives a text that is to be avoided, however many are', () => {
    const pattern = '(?s)[ab].*';
    const avoid = new Map(Array.from({ length: 200 }, (_, at) => [`k-${at}`, at]));
    const textsOf = (): readonly string[] =>
      textVectors([pattern], avoid)!.flatMap(({ answers, texts }) => (answers[0] ? texts : []));
    const first = textsOf();
    for (const text of first) avoid.set(text, avoid.size);
    const others = textsOf();
    expect(first).not.toEqual([]);
    expect(others).not.toEqual([]);
    expect(others.filter((text) => avoid.has(text))).toEqual([]);
  });

  it('gives up on too many states instead of guessing', () => {
    expect(textVectors(Array.from({ length: 16 }, (_, at) => `.*w${at}x.*`))).toBeNull();
  });
});

/** The lemma that excludes exactly this combination of matching patterns. */
function lemmaOf(tests: readonly string[], isMatched: (pattern: string) => boolean) {
  const literals = tests.map((_, at) => 2 * at);
  const truths = tests.map(isMatched);
  return textLemma({ patterns: tests, literals }, (literal) => truths[literals.indexOf(literal)]!);
}

describe('textLemma', () => {
  it('forbids no answers that a text gives', () => {
    const random = createRandom(11);
    for (let round = 0; round < 300; round += 1) {
      const text = Array.from({ length: random.below(7) }, () => random.pick(letters)).join('');
      expect(lemmaOf(patterns, (pattern) => definition(pattern)(text))).toBeNull();
    }
  });

  it('forbids two tests that no text passes, and one that passes another', () => {
    const tests = ['a.*', 'b.*', 'ab.*', '.*c'];
    const [a, b, ab] = tests.map((_, at) => 2 * at);
    expect(lemmaOf(tests, (one) => one === 'a.*' || one === 'b.*')).toEqual([notLiteral(a!), notLiteral(b!)]);
    expect(lemmaOf(tests, (one) => one === 'ab.*')).toEqual([notLiteral(ab!), a]);
    expect(lemmaOf(tests, (one) => one !== 'b.*')).toBeNull();
  });

  it('forbids three tests of which no text passes all, and what follows from two', () => {
    const three = ['..', 'a.*', '.*bc'];
    expect(lemmaOf(three, () => true)).toEqual([1, 3, 5]);
    const follows = ['a.', '.*b', 'ab|c'];
    expect(lemmaOf(follows, (one) => one !== 'ab|c')).toEqual([1, 3, 4]);
  });
});
