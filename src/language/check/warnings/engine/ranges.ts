// Finds the ranges of numbers that contain a given range. Ranges are sorted by their low ends. Each stretch
// of the sorted array knows its furthest high end, so that stretches in which no range reaches far enough are
// skipped.

import { compare } from '../../../value/decimal.ts';
import type { End, Values } from '../../logic/value-sets.ts';

type Range = Extract<Values, { kind: 'range' }>;

interface Item<T> {
  readonly item: T;
  readonly range: Range;
}

export interface Ranges<T> {
  /**
   * Calls `visit` with each item whose range contains the given one, and perhaps with some whose range shares
   * an end. Stops when `visit` returns false, and then returns false.
   */
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
        // The middle of a stretch holds its furthest high end.
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

/**
 * Stores the furthest high end of the stretch at its middle, and returns that end; undefined for an empty
 * stretch.
 */
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

/** Orders low ends; an open low end (null) is below all others. */
function compareLow(a: End | null, b: End | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return compare(a.value, b.value);
}

/** Orders high ends; an open high end (null) is above all others. */
function compareHigh(a: End | null, b: End | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return compare(a.value, b.value);
}
