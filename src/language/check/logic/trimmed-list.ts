// Copies lists to their exact size. An array that grew item by item has spare room, at first for sixteen
// items. In the short lists that are kept for each of many rules, the spare room would be most of the memory.

/** Returns a copy of the list without spare room. */
export function trimmedList<T>(list: readonly T[]): readonly T[] {
  return list.slice();
}
