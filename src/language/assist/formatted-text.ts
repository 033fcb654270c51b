// A text as `writ fmt` writes it.

import { hasErrors } from '../diagnostic/diagnostic.ts';
import { parse } from '../syntax/parse.ts';
import { printFile } from '../syntax/print/print.ts';

/** Null where the text has a mistake: nothing is lost by formatting. */
export function formattedText(text: string): string | null {
  const { file, diagnostics } = parse({ path: 'a.policy', text });
  return hasErrors(diagnostics) ? null : printFile(file);
}
