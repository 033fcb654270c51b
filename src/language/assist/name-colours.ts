// Finds what each name in a file refers to, so that an editor can colour names; a grammar of words alone
// cannot tell.

import type { PolicyFile } from '../syntax/tree/tree.ts';
import { type NamedKind, occurrencesIn } from './names.ts';

export interface ColouredName {
  readonly start: number;
  readonly end: number;
  readonly kind: NamedKind;
  readonly isDeclared: boolean;
}

/** Returns names that do not overlap, each on one line, in the order of the text. */
export function colouredNames(
  files: readonly PolicyFile[],
  file: string,
  text: string,
): readonly ColouredName[] {
  const coloured: ColouredName[] = [];
  let last = 0;
  for (const { span, kind, isDeclared } of occurrencesIn(files, file)) {
    const { start, end } = span;
    if (start < last || text.slice(start, end).includes('\n')) continue;
    last = end;
    coloured.push({ start, end, kind, isDeclared });
  }
  return coloured;
}
