// The quick reading of a file against the grammar's: the same tree to the last place and the same warnings where it
// answers, no error of the grammar wherever it does, and an answer for every file of the corpus.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { literal, tokenize } from '../../grammar/tokens.ts';
import { hasErrors } from '../../src/diagnostic/diagnostic.ts';
import { createRandom } from '../../src/prove/random.ts';
import { parse, parseByGrammar } from '../../src/syntax/parse.ts';
import { printExpression } from '../../src/syntax/print.ts';
import { readSound } from '../../src/syntax/swift-file.ts';
import { escapedText, kindOf, SwiftScanner, surprise } from '../../src/syntax/swift-scan.ts';
import { randomSet } from '../laws/policies.ts';
import { anyExpression } from './any-expression.ts';
import { anyBytes, anyMutant, anySoup } from './any-text.ts';
import { caseFile, caseNames, soundFiles } from './files.ts';

/** Holds the two readings equal; answers whether the quick one read the text. */
function compare(text: string): boolean {
  const source = { path: 'x.policy', text };
  if (readSound(source) === null) return false;
  // As text, so that the order of keys is compared too: it is what hidden classes are made of.
  const [quick, slow] = [parse(source), parseByGrammar(source)];
  expect(JSON.stringify(quick.diagnostics), text).toBe(JSON.stringify(slow.diagnostics));
  expect(hasErrors(slow.diagnostics), text).toBe(false);
  expect(JSON.stringify(quick.file), text).toBe(JSON.stringify(slow.file));
  return true;
}

test.each(soundFiles())('$path is read quickly', ({ text }) => {
  expect(compare(text)).toBe(true);
});

test.each(caseNames())('the golden case %s', (name) => {
  const source = caseFile(name);
  expect(compare(source.text)).toBe(!hasErrors(parseByGrammar(source).diagnostics));
});

/** Room for a busy machine. */
const timeout = 60_000;

test('random policy sets are read quickly', { timeout }, () => {
  const random = createRandom(1);
  for (let count = 0; count < 60; count++) {
    for (const { text } of randomSet(random).files) expect(compare(text), text).toBe(true);
  }
});

test('random expressions, where none is a bare value beside `and` or `or`', { timeout }, () => {
  let read = 0;
  fc.assert(
    fc.property(anyExpression, (expression) => {
      if (compare(`let x = ${printExpression(expression)}`)) read++;
    }),
    { numRuns: 1_000 },
  );
  expect(read).toBeGreaterThan(500);
});

describe.each([
  ['token soup', anySoup, 1_000],
  ['random bytes', anyBytes, 300],
  ['mutated files', anyMutant, 1_500],
])('%s', { timeout }, (_, anyInput, numRuns) => {
  test('is read alike, or by the grammar alone', () => {
    fc.assert(
      fc.property(anyInput, (text) => void compare(text)),
      { numRuns },
    );
  });

  test('falls into the same tokens', () => {
    fc.assert(fc.property(anyInput, compareTokens), { numRuns });
  });
});

function compareTokens(text: string): void {
  const scanner = new SwiftScanner(text);
  try {
    scanner.scan(0, text.length);
  } catch (thrown) {
    if (thrown === surprise) return;
    throw thrown;
  }
  const { tokens, comments, strays } = tokenize(text);
  const scanned = Array.from({ length: scanner.count - 1 }, (_, index) => [
    scanner.kinds[index] === escapedText ? kindOf(literal.quoted) : scanner.kinds[index],
    scanner.starts[index],
    scanner.ends[index]! - 1,
  ]);
  expect(scanned).toEqual(
    tokens.map(({ tokenTypeIdx, startOffset, endOffset }) => [tokenTypeIdx, startOffset, endOffset]),
  );
  expect(scanner.comments).toEqual(
    comments.flatMap(({ startOffset, image }) => [startOffset, startOffset + image.length]),
  );
  expect(strays).toEqual([]);
}
