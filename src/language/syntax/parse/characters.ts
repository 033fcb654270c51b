// Finds characters that must not stand anywhere in a file, comments and texts included: control characters,
// and characters that change the direction in which the rest is shown. With those, a reviewer would see other
// code than what runs.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { SourceText } from '../../diagnostic/span.ts';
import { makeSpan, syntaxError } from './context.ts';

// Bidi_Control of the Unicode Character Database: marks, embeddings, overrides, isolates.
const bidiControls = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
// C0 without tab and line feed, delete, C1, and the two separators that some editors show as line breaks. A
// carriage return is allowed only before a line feed: alone it would end a comment where most tools show no
// line break.
const controls = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u2028\\u2029';
const refused = new RegExp(`[${bidiControls}${controls}]|\\r(?!\\n)`, 'g');
const bidiControl = new RegExp(`[${bidiControls}]`);

export function refusedCharacters(source: SourceText): readonly Diagnostic[] {
  return Array.from(source.text.matchAll(refused), ({ 0: character, index }) => {
    const span = makeSpan({ source }, index, index + 1);
    const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    if (!bidiControl.test(character)) {
      return syntaxError('control-character', span, `${code} is a control character`, 'delete it');
    }
    const message = `${code} changes the direction in which text is shown`;
    return syntaxError('bidi-control', span, message, 'delete it, or write it as an escape in a text');
  });
}
