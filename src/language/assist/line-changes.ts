// What was taken away from a text and what was added, by lines. INVARIANT: what is kept and new, in order, is the new text;
// what is kept and gone is the old one.

import { diffArrays } from 'diff';

export interface LineChange {
  readonly kind: 'kept' | 'gone' | 'new';
  /** Each with its line break, where it has one. */
  readonly lines: readonly string[];
}

/** Beyond so many lines that differ the rest is told as one replacement: nobody reads that line by line. */
export const lineChangesMax = 1_000;

/** The fewest changes, in the order of the texts; none for two empty texts. */
export function lineChanges(before: string, after: string): readonly LineChange[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const found = diffArrays(old, fresh, { maxEditLength: lineChangesMax });
  if (found === undefined) return replacedChange(old, fresh);
  return found.map(({ added, removed, value }) => ({
    kind: added ? 'new' : removed ? 'gone' : 'kept',
    lines: value,
  }));
}

/** The lines of a text with their breaks, so that a last line without one differs from the same line with one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function replacedChange(old: readonly string[], fresh: readonly string[]): readonly LineChange[] {
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const changes: readonly LineChange[] = [
    { kind: 'kept', lines: old.slice(0, head) },
    { kind: 'gone', lines: old.slice(head, old.length - tail) },
    { kind: 'new', lines: fresh.slice(head, fresh.length - tail) },
    { kind: 'kept', lines: old.slice(old.length - tail) },
  ];
  return changes.filter(({ lines }) => lines.length > 0);
}
