// What each name of a file is, which a grammar of words alone cannot say: what an editor colours names by.

import type { PolicyFile } from '../syntax/tree/tree.ts';
import { type NamedKind, occurrencesIn } from './names.ts';

export interface ColouredName {
  readonly start: number;
  readonly end: number;
  readonly kind: NamedKind;
  readonly isDeclared: boolean;
}

/** Apart from one another, each on one line, in the order of the text. */
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
