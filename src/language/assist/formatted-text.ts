// Formats a text in the way of `writ fmt`.

import { hasErrors } from '../diagnostic/diagnostic.ts';
import { parse } from '../syntax/parse.ts';
import { printFile } from '../syntax/print/print.ts';

/** Returns the formatted text; null when the text has an error, so that formatting never loses anything. */
export function formattedText(text: string): string | null {
  const { file, diagnostics } = parse({ path: 'a.policy', text });
  return hasErrors(diagnostics) ? null : printFile(file);
}
