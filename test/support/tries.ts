// How many random cases a law tries. `npm test` tries as many as find a plain mistake within a second or so of each
// law; `npm run laws` tries twenty times as many.

const factor = Number(process.env.WRIT_TRIES ?? 1);

/** Multiplies a number of cases, and the least number of findings that is expected of them, by `WRIT_TRIES`. */
export function tries(count: number): number {
  return Math.ceil(count * factor);
}

/**
 * Returns a third of the items, drawn anew in each run and in their order, but at least one; all of them under
 * `npm run laws`.
 */
export function third<Item>(items: readonly Item[]): readonly Item[] {
  if (factor >= 3) return items;
  const drawn = new Set<Item>();
  while (drawn.size < Math.ceil(items.length / 3))
    drawn.add(items[Math.floor(Math.random() * items.length)]!);
  return items.filter((item) => drawn.has(item));
}
