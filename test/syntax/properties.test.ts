// Whatever the text, `parse` answers, soon, with a tree whose places lie in the text.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contextualWords, reservedWords } from '../../grammar/tokens.ts';
import { hasErrors } from '../../src/diagnostic/diagnostic.ts';
import { parse } from '../../src/syntax/parse.ts';
import { printFile } from '../../src/syntax/print.ts';
import { caseFile, caseNames, soundFiles } from './files.ts';
import { nodesOf, withoutPlaces } from './nodes.ts';

const snippets = [
  ...[
    '"a"',
    '"{x}"',
    "'b'",
    '"open',
    '"\\n\\q"',
    '"{{ {risk} {"',
    '1',
    '0.5',
    '10_000',
    '5USD',
    '100 USD',
    '10 m',
    '1h30m',
  ],
  ...[
    '15m',
    '2026-12-25',
    '2026-12-25T09:00',
    '09:00',
    'a',
    'payload.x',
    'a.b',
    '*',
    'mon',
    '# c\n',
    '\n',
    '\n\n',
    'permit',
  ],
  ...[
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    ',',
    '.',
    '..',
    '...',
    ':',
    '?:',
    '=',
    '==',
    '!=',
    '<',
    '<=',
    '+',
    '-',
    '/',
    '|',
    '&&',
    '!',
  ],
  ...['policy p on a.b {', 'action a.b {', 'allow x when', 'because "{', '\r', '\u202e', '§', '\ufeff'],
];
const anyPiece = fc.constantFrom(...reservedWords, ...contextualWords, ...snippets);
const anySoup = fc.array(anyPiece, { maxLength: 80 }).map((pieces) => pieces.join(' '));
const anyBytes = fc.uint8Array({ maxLength: 400 }).map((bytes) => new TextDecoder().decode(bytes));

const texts = [...soundFiles(), ...caseNames().map(caseFile)].map(({ text }) => text);
const anyMutant = fc
  .record({
    text: fc.constantFrom(...texts),
    edits: fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.nat(12),
        piece: fc.option(anyPiece),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ text, edits }) =>
    edits.reduce((changed, { at, length, piece }) => {
      const start = Math.floor(at * changed.length);
      return changed.slice(0, start) + (piece ?? '') + changed.slice(start + length);
    }, text),
  );

describe.each([
  ['token soup', anySoup, 1500],
  ['random bytes', anyBytes, 500],
  ['mutated files', anyMutant, 700],
])('%s', (_, anyInput, numRuns) => {
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
          const slice = text.slice(node.span.start, node.span.end);
          const isWord = (node.kind === 'name' || node.kind === 'pattern') && node.isQuoted === false;
          if (isWord && /^[\w.*]*$/.test(slice)) expect(node.text).toBe(slice);
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

test('errors in quantity cost no more than their number', () => {
  const line = 'deny a when ) x or ( because [ policy p on { allow } 1h30m';
  const start = performance.now();
  parse({ path: 'x', text: `${line}\n`.repeat(4_000) });
  expect(performance.now() - start).toBeLessThan(8_000);
});
