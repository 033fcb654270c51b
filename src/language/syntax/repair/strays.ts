// Characters that begin no token → diagnostics, with what was probably meant.

import { makeSpan, type Reader, syntaxError } from '../parse/context.ts';

export function reportStrays(
  strays: readonly { readonly start: number; readonly end: number }[],
  reader: Reader,
): void {
  for (const { start, end } of strays) {
    const text = reader.source.text.slice(start, end);
    const shown = text.length > 20 ? `${text.slice(0, 20)}…` : text;
    const message = `\`${shown}\` has no meaning here`;
    const help = strayHelp[text.charAt(0)];
    reader.report(syntaxError('unexpected-character', makeSpan(reader, start, end), message, help));
  }
}

const strayHelp: Readonly<Record<string, string>> = {
  ';': 'declarations and rules need nothing between them',
  '“': 'texts stand between straight quotes: `"`',
  '”': 'texts stand between straight quotes: `"`',
  '‘': "raw texts stand between straight quotes: `'`",
  '’': "raw texts stand between straight quotes: `'`",
  '?': 'an optional field is written `name?: type`',
  '&': 'write `and`',
  '`': 'texts stand between straight quotes: `"`',
};
