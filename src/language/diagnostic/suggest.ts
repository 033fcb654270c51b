// Suggests the candidate nearest to a misspelt name, as help and as a fix. Suggests nothing when no candidate
// is near.

import type { Fix } from './diagnostic.ts';
import type { Span } from './span.ts';

export interface Suggestion {
  readonly help?: string;
  readonly fix?: Fix;
}

/**
 * Returns "did you mean `x`" with the edit that writes the candidate, or nothing. `write` turns the candidate
 * into source text.
 */
export function didYouMean(
  name: Name,
  candidates: Iterable<string>,
  write: (candidate: string) => string = (candidate) => candidate,
): Suggestion {
  const nearest = nearestOf(name.text, candidates);
  if (nearest === null) return {};
  return {
    help: `did you mean \`${nearest}\``,
    fix: { title: `write \`${nearest}\``, edits: [{ span: name.span, text: write(nearest) }] },
  };
}

interface Name {
  readonly text: string;
  readonly span: Span;
}

/**
 * Returns the candidate with the fewest edits, at most a third of the name's length; of equally near ones the
 * first in the alphabet. Null when no candidate is near, or when the nearest is the name itself.
 */
export function nearestOf(name: string, candidates: Iterable<string>): string | null {
  const editsMax = Math.max(1, Math.floor(name.length / 3));
  let nearest: string | null = null;
  let fewest = editsMax + 1;
  for (const candidate of [...candidates].sort()) {
    if (Math.abs(candidate.length - name.length) > editsMax) continue;
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) {
      nearest = candidate;
      fewest = edits;
    }
  }
  return nearest === name ? null : nearest;
}

/**
 * Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn one text into
 * the other.
 */
function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + substitution);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) edits = Math.min(edits, beforeLast[j - 2]! + 1);
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
