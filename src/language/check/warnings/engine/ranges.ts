// Ranges of numbers, and which of them contain another one. Sorted by their low ends; over each stretch stands its
// furthest high end, so that stretches in which none reaches far enough are passed over.

import { compare } from '../../../value/decimal.ts';
import type { End, Values } from '../../logic/value-sets.ts';

type Range = Extract<Values, { kind: 'range' }>;

interface Item<T> {
  readonly item: T;
  readonly range: Range;
}

export interface Ranges<T> {
  /** Calls `visit` with each that contains the range, and perhaps with some that share an end, until it says false. */
  readonly containing: (range: Range, visit: (item: T) => boolean) => boolean;
}

export function createRanges<T>(items: readonly Item<T>[]): Ranges<T> {
  const sorted = items.toSorted((a, b) => compareLow(a.range.low, b.range.low));
  const furthest: (End | null)[] = [];
  markFurthest(sorted, furthest, 0, sorted.length);
  return {
    containing: (range, visit) => {
      const search = (from: number, to: number): boolean => {
        if (from >= to) return true;
        const middle = (from + to) >> 1;
        // The stretch is known by its middle.
        if (compareHigh(furthest[middle]!, range.high) < 0) return true;
        if (!search(from, middle)) return false;
        const { item, range: here } = sorted[middle]!;
        if (compareLow(here.low, range.low) > 0) return true;
        if (compareHigh(here.high, range.high) >= 0 && !visit(item)) return false;
        return search(middle + 1, to);
      };
      return search(0, sorted.length);
    },
  };
}

/** The furthest high end of the stretch, written at its middle. */
function markFurthest<T>(
  sorted: readonly Item<T>[],
  furthest: (End | null)[],
  from: number,
  to: number,
): End | null | undefined {
  if (from >= to) return undefined;
  const middle = (from + to) >> 1;
  let most = sorted[middle]!.range.high;
  for (const part of [
    markFurthest(sorted, furthest, from, middle),
    markFurthest(sorted, furthest, middle + 1, to),
  ]) {
    if (part !== undefined && compareHigh(part, most) > 0) most = part;
  }
  furthest[middle] = most;
  return most;
}

/** An open low end is below all others. */
function compareLow(a: End | null, b: End | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return compare(a.value, b.value);
}

/** An open high end is above all others. */
function compareHigh(a: End | null, b: End | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return compare(a.value, b.value);
}
