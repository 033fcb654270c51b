// Finds the lines removed from a text and the lines added. INVARIANT: the kept and new lines, in order, are
// the new text; the kept and gone lines are the old text.

import { diffArrays } from 'diff';

export interface LineChange {
  readonly kind: 'kept' | 'gone' | 'new';
  /** The lines, each with its line break if it has one. */
  readonly lines: readonly string[];
}

/**
 * The most changed lines that are found one by one. With more, the changed part is one replacement, because
 * nobody reads so many line by line.
 */
export const lineChangesMax = 1_000;

/** Returns the fewest changes, in the order of the texts; none for two empty texts. */
export function lineChanges(before: string, after: string): readonly LineChange[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const changes = diffArrays(old, fresh, { maxEditLength: lineChangesMax });
  if (changes === undefined) return replacedChange(old, fresh);
  return changes.map(({ added, removed, value }) => ({
    kind: added ? 'new' : removed ? 'gone' : 'kept',
    lines: value,
  }));
}

/**
 * Returns the lines of a text with their breaks, so that a last line without a break differs from the same
 * line with one.
 */
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
