// A list that grew item by item has room for more, at first for sixteen: of what is kept of each of many rules, that is most.

/** The list with room for what it holds. */
export function trimmedList<T>(list: readonly T[]): readonly T[] {
  return list.slice();
}
