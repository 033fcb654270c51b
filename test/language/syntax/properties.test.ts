// For any text `parse` answers quickly, with a tree whose places lie in the text.

import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasErrors } from '../../../src/language/diagnostic/diagnostic.ts';
import { parse } from '../../../src/language/syntax/parse.ts';
import { printFile } from '../../../src/language/syntax/print/print.ts';
import { tries } from '../../support/tries.ts';
import { anyBytes, anyMutant, anySoup } from './any-text.ts';
import { nodesOf, withoutPlaces } from './nodes.ts';

/** Long enough for a busy machine. */
const timeout = 60_000;

describe.each([
  ['token soup', anySoup, tries(500)],
  ['random bytes', anyBytes, tries(200)],
  ['mutated files', anyMutant, tries(250)],
])('%s', { timeout }, (_, anyInput, numRuns) => {
  test('is read without a throw, every span in the text, every name where it says', () => {
    fc.assert(
      fc.property(anyInput, (text) => {
        const { file, diagnostics } = parse({ path: 'x.policy', text });
        const edits = diagnostics.flatMap(({ fix }) => fix?.edits ?? []);
        for (const { span } of [...nodesOf(file), ...nodesOf(diagnostics), ...edits]) {
          const isInside =
            span.file === 'x.policy' && 0 <= span.start && span.start <= span.end && span.end <= text.length;
          expect(isInside, JSON.stringify(span)).toBe(true);
        }
        for (const node of nodesOf(file)) {
          const { start, end } = node.span;
          const slice = text.slice(start, end);
          const isWord = (node.kind === 'name' || node.kind === 'pattern') && node.isQuoted === false;
          // At the place of a diagnostic the tree may hold a guessed name.
          const isReported = diagnostics.some(({ span }) => span.start <= end && start <= span.end);
          if (isWord && !isReported && /^[\w.*]*$/.test(slice)) expect(node.text).toBe(slice);
        }
      }),
      { numRuns },
    );
  });

  test('is printed to the same tree where it is sound', () => {
    fc.assert(
      fc.property(anyInput, (text) => {
        const { file, diagnostics } = parse({ path: 'x', text });
        if (hasErrors(diagnostics)) return;
        const printed = printFile(file);
        const again = parse({ path: 'x', text: printed });
        expect(hasErrors(again.diagnostics), printed).toBe(false);
        expect(withoutPlaces(again.file)).toEqual(withoutPlaces(file));
        expect(printFile(again.file)).toBe(printed);
      }),
      { numRuns },
    );
  });
});

test('each known mistake may end after any of its words', { timeout }, () => {
  const mistakes = globSync('test/language/diagnostic/mistakes/*.txt')
    .flatMap((file) => readFileSync(file, 'utf8').split(/^=== .*$/m))
    .map((text) => text.split(/^---$/m)[0]!.trim());
  expect(mistakes.length).toBeGreaterThan(400);
  for (const mistake of mistakes) {
    // Every other end stands in a policy.
    for (const [at, { index }] of [...mistake.matchAll(/\b|$/g)].entries()) {
      const begin = at % 2 === 0 ? '' : 'policy p on a.b {\n';
      expect(() => parse({ path: 'x', text: begin + mistake.slice(0, index) }), mistake).not.toThrow();
    }
  }
});

test('errors in quantity cost no more than their number', { timeout }, () => {
  const line = 'deny a when ) x or ( because [ policy p on { allow } 1h30m';
  const { diagnostics } = parse({ path: 'x', text: `${line}\n`.repeat(4_000) });
  expect(diagnostics.at(-1)?.code).toBe('too-many-problems');
});
