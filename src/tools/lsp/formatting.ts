// The canonical text of a file, as edits that leave alone what is as it should be.

import type { TextEdit } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { parse } from '../../language/syntax/parse.ts';
import { printFile } from '../../language/syntax/print/print.ts';

/** None where the text has a mistake: nothing is lost by formatting. */
export function formatted(document: TextDocument): readonly TextEdit[] {
  const before = document.getText();
  const { file, diagnostics } = parse({ path: 'a.policy', text: before });
  if (hasErrors(diagnostics)) return [];
  const after = printFile(file);
  if (after === before) return [];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let [end, newEnd] = [before.length, after.length];
  while (end > start && newEnd > start && before[end - 1] === after[newEnd - 1]) {
    end -= 1;
    newEnd -= 1;
  }
  const range = { start: document.positionAt(start), end: document.positionAt(end) };
  return [{ range, newText: after.slice(start, newEnd) }];
}
