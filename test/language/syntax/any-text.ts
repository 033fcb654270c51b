// Texts that barely resemble a policy file, barely are text, or are nearly a sound file.

import fc from 'fast-check';
import { contextualWords, reservedWords } from '../../../src/language/syntax/parse/tokens.ts';
import { caseFile, caseNames, soundFiles } from './files.ts';

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
  'policy p on a.b {',
  'action a.b {',
  'allow x when',
  'because "{',
  '\r',
  '\u202e',
  '§',
  '\ufeff',
];
const anyPiece = fc.constantFrom(...reservedWords, ...contextualWords, ...snippets);
export const anySoup = fc.array(anyPiece, { maxLength: 80 }).map((pieces) => pieces.join(' '));
export const anyBytes = fc.uint8Array({ maxLength: 400 }).map((bytes) => new TextDecoder().decode(bytes));

// Files of the corpus with a few pieces cut out or put in.
const texts = [...soundFiles(), ...caseNames().map(caseFile)].map(({ text }) => text);
export const anyMutant = fc
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
