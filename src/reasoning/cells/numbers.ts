// Cuts numbers into cells at constants. Each constant is a cell, and so is each gap between neighbours; a
// number that reads well stands for a gap. There is no gap between whole numbers that follow each other.

import type { Value } from '../../language/model/value.ts';
import {
  add,
  compare,
  type Decimal,
  divide,
  floor,
  fromNumber,
  isInteger,
  subtract,
  toNumber,
} from '../../language/value/decimal.ts';
import type { Faults } from './faults.ts';
import { coarsestBetween } from './units.ts';

export interface Line {
  readonly isWhole: boolean;
  /** Whether the numbers are amounts, of which a cell shows the coarsest. */
  readonly isMoney: boolean;
  readonly fits: (value: Value) => boolean;
  /** The number that stands for the gap in which it lies. */
  readonly usual: Decimal | null;
  readonly faults: Faults;
}

/** The values of the cells, in order, without those that the declared shape excludes. */
export function numberCells(
  marks: readonly Decimal[],
  { isWhole, isMoney, fits, usual, faults }: Line,
): readonly Decimal[] {
  const sorted = sortedMarks(faults.has('numbers-lack-a-constant') ? marks.slice(1) : marks);
  const plainGap = isWhole ? wholeGap : isMoney ? moneyGap : gap;
  const gapBetween: typeof plainGap = (low, high) => {
    const isUsual =
      usual !== null &&
      (low === null || compare(low, usual) < 0) &&
      (high === null || compare(usual, high) < 0);
    return isUsual ? usual : plainGap(low, high);
  };
  const cells = sorted.flatMap((mark, at) => [gapBetween(sorted[at - 1] ?? null, mark), mark]);
  const last = faults.has('numbers-lack-the-last-gap') ? null : gapBetween(sorted.at(-1) ?? null, null);
  return [...cells, last].filter(
    (value) => value !== null && (!isWhole || isInteger(value)) && fits(value),
  ) as readonly Decimal[];
}

function sortedMarks(marks: readonly Decimal[]): readonly Decimal[] {
  const sorted = marks.toSorted(compare);
  return sorted.filter((mark, at) => at === 0 || compare(mark, sorted[at - 1]!) !== 0);
}

const one = fromNumber(1);
const two = fromNumber(2);
const steps = [one, ...[-2, -4, -7].map((exponent): Decimal => ({ coefficient: 1n, exponent }))];

function gap(low: Decimal | null, high: Decimal | null): Decimal | null {
  if (low === null)
    return high === null ? one : (subtract(high, readableStep(high)) ?? subtract(floor(high), one));
  if (high === null) return add(low, readableStep(low)) ?? add(floor(low), two);
  for (const step of steps) {
    const near = add(low, step);
    if (near !== null && compare(near, high) < 0) return near;
  }
  return between(low, high);
}

/** A number that reads well if it is whole; else one with as few decimal places as possible. */
function moneyGap(low: Decimal | null, high: Decimal | null): Decimal | null {
  const near = gap(low, high);
  return near === null || isInteger(near) ? near : (coarsestBetween(low, high) ?? near);
}

/** A number between two others; null if a payload can hold none that lies between. */
function between(low: Decimal, high: Decimal): Decimal | null {
  const sum = add(low, high);
  const exact = sum === null ? null : divide(sum, two);
  const middle = exact ?? fromNumber((toNumber(low) + toNumber(high)) / 2);
  return compare(low, middle) < 0 && compare(middle, high) < 0 ? middle : null;
}

function wholeGap(low: Decimal | null, high: Decimal | null): Decimal | null {
  if (low === null)
    return high === null ? one : subtract(isInteger(high) ? high : add(floor(high), one)!, one);
  const next = add(floor(low), one);
  if (high === null || next === null) return next;
  return compare(next, high) < 0 ? next : null;
}

/** A step that reads well beside the number, such as 100 beside 1,000. */
function readableStep(value: Decimal): Decimal {
  const size = Math.abs(toNumber(value));
  return fromNumber(size >= 100 ? 10 ** (Math.floor(Math.log10(size)) - 1) : 1);
}
