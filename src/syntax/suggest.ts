// A word that means nothing here → the one that was probably meant.

/** The candidate that a misspelt word is nearest to; null where none is near. Of equals the first. */
export function nearestWord(text: string, candidates: readonly string[]): string | null {
  const editsMax = text.length <= 3 ? 1 : 2;
  let nearest: string | null = null;
  let fewest = editsMax + 1;
  for (const candidate of candidates) {
    const edits = editDistance(text.toLowerCase(), candidate, editsMax);
    if (edits < fewest) {
      nearest = candidate;
      fewest = edits;
    }
  }
  return nearest;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one word to another. */
function editDistance(from: string, to: string, most: number): number {
  if (Math.abs(from.length - to.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const replaced = last[column - 1]! + (isSame ? 0 : 1);
      const isSwap = row > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = isSwap ? beforeLast[column - 2]! + 1 : replaced;
      current.push(Math.min(replaced, swapped, last[column]! + 1, current[column - 1]! + 1));
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}
