// Whether bounds on numbers and on sums of them can hold together: the general simplex, in exact fractions. A strict bound
// lies a hair beside its number. "No" names the bounds that cannot hold together, each with how often it is added up.

import {
  type Fraction,
  isLess,
  multiplied,
  noFraction,
  opposite,
  over,
  plus,
  signOf,
  wholeFraction,
} from './fraction.ts';

/** A number, and how many hairs beside it. */
interface Point {
  readonly number: Fraction;
  readonly hairs: Fraction;
}

export interface SimplexBound<Reason> {
  readonly isUpper: boolean;
  readonly number: Fraction;
  readonly isStrict: boolean;
  readonly reason: Reason;
}

export interface Farkas<Reason> {
  readonly reason: Reason;
  readonly multiplier: Fraction;
}

interface Limit<Reason> {
  readonly point: Point;
  readonly reason: Reason;
}

export class Simplex<Reason> {
  readonly #values: Point[] = [];
  readonly #lows: (Limit<Reason> | null)[] = [];
  readonly #highs: (Limit<Reason> | null)[] = [];
  /** By the variable that is a sum: what it is the sum of, none of which is a sum itself. */
  readonly #rows = new Map<number, Map<number, Fraction>>();

  variable(start: Fraction): number {
    this.#values.push({ number: start, hairs: noFraction });
    this.#lows.push(null);
    this.#highs.push(null);
    return this.#values.length - 1;
  }

  /** A variable that is the sum of these, which are plain ones; before anything is bounded. */
  sum(terms: ReadonlyMap<number, Fraction>): number {
    const sum = this.variable(noFraction);
    this.#rows.set(sum, new Map(terms));
    this.#values[sum] = this.#sumOf(this.#rows.get(sum)!);
    return sum;
  }

  /** Null, or why it cannot be. */
  bound(variable: number, bound: SimplexBound<Reason>): readonly Farkas<Reason>[] | null {
    const hairs = bound.isStrict ? (bound.isUpper ? opposite(wholeFraction) : wholeFraction) : noFraction;
    const limit = { point: { number: bound.number, hairs }, reason: bound.reason };
    const [own, other] = bound.isUpper ? [this.#highs, this.#lows] : [this.#lows, this.#highs];
    const isBeyond = (a: Point, b: Point): boolean => (bound.isUpper ? isBelow(b, a) : isBelow(a, b));
    const known = own[variable];
    if (known && !isBeyond(known.point, limit.point)) return null;
    const across = other[variable];
    if (across && isBeyond(across.point, limit.point))
      return [across, limit].map(({ reason }) => ({ reason, multiplier: wholeFraction }));
    own[variable] = limit;
    if (!this.#rows.has(variable) && isBeyond(this.#values[variable]!, limit.point))
      this.#move(variable, limit.point);
    return null;
  }

  /** Null where all bounds can hold. */
  solve(): readonly Farkas<Reason>[] | null {
    for (;;) {
      const broken = this.#firstBroken();
      if (broken === null) return null;
      const { sum, limit, isTooLow } = broken;
      const row = this.#rows.get(sum)!;
      const free = [...row.keys()]
        .toSorted((a, b) => a - b)
        .find((one) => this.#canMove(one, signOf(row.get(one)!) > 0 === isTooLow));
      if (free === undefined) return this.#conflict(row, limit, isTooLow);
      this.#pivot(sum, free, limit.point);
    }
  }

  /** After "yes": numbers for which all bounds hold. */
  numbers(): readonly Fraction[] {
    const hair = this.#hair();
    return this.#values.map(({ number, hairs }) => plus(number, multiplied(hairs, hair)));
  }

  /** A power of ten small enough to be a hair. */
  #hair(): Fraction {
    let hair = wholeFraction;
    const fits = (below: Point, above: Point): boolean =>
      !isLess(
        plus(above.number, multiplied(above.hairs, hair)),
        plus(below.number, multiplied(below.hairs, hair)),
      );
    for (const [at, value] of this.#values.entries()) {
      const [low, high] = [this.#lows[at], this.#highs[at]];
      while ((low && !fits(low.point, value)) || (high && !fits(value, high.point)))
        hair = over(hair, { top: 10n, bottom: 1n });
    }
    return hair;
  }

  #firstBroken(): { sum: number; limit: Limit<Reason>; isTooLow: boolean } | null {
    for (const sum of [...this.#rows.keys()].toSorted((a, b) => a - b)) {
      const value = this.#values[sum]!;
      const [low, high] = [this.#lows[sum], this.#highs[sum]];
      if (low && isBelow(value, low.point)) return { sum, limit: low, isTooLow: true };
      if (high && isBelow(high.point, value)) return { sum, limit: high, isTooLow: false };
    }
    return null;
  }

  #canMove(variable: number, isUp: boolean): boolean {
    const limit = isUp ? this.#highs[variable] : this.#lows[variable];
    if (!limit) return true;
    const value = this.#values[variable]!;
    return isUp ? isBelow(value, limit.point) : isBelow(limit.point, value);
  }

  #conflict(
    row: ReadonlyMap<number, Fraction>,
    limit: Limit<Reason>,
    isTooLow: boolean,
  ): readonly Farkas<Reason>[] {
    const parts = [...row].map(([variable, factor]): Farkas<Reason> => {
      const isUpper = signOf(factor) > 0 === isTooLow;
      const { reason } = (isUpper ? this.#highs : this.#lows)[variable]!;
      return { reason, multiplier: signOf(factor) < 0 ? opposite(factor) : factor };
    });
    return [{ reason: limit.reason, multiplier: wholeFraction }, ...parts];
  }

  /** A plain variable takes another value, and the sums follow. */
  #move(variable: number, point: Point): void {
    this.#values[variable] = point;
    for (const [sum, row] of this.#rows) if (row.has(variable)) this.#values[sum] = this.#sumOf(row);
  }

  /** The sum becomes plain, at the point, and the plain variable a sum. */
  #pivot(sum: number, plain: number, point: Point): void {
    const row = this.#rows.get(sum)!;
    const factor = row.get(plain)!;
    this.#rows.delete(sum);
    const turned = new Map<number, Fraction>([[sum, over(wholeFraction, factor)]]);
    for (const [one, of] of row) if (one !== plain) turned.set(one, opposite(over(of, factor)));
    for (const other of this.#rows.values()) {
      const share = other.get(plain);
      if (share === undefined) continue;
      other.delete(plain);
      for (const [one, of] of turned) {
        const changed = plus(other.get(one) ?? noFraction, multiplied(share, of));
        if (signOf(changed) === 0) other.delete(one);
        else other.set(one, changed);
      }
    }
    this.#rows.set(plain, turned);
    this.#values[sum] = point;
    for (const [one, of] of this.#rows) this.#values[one] = this.#sumOf(of);
  }

  #sumOf(row: ReadonlyMap<number, Fraction>): Point {
    let [number, hairs] = [noFraction, noFraction];
    for (const [one, factor] of row) {
      const value = this.#values[one]!;
      number = plus(number, multiplied(factor, value.number));
      hairs = plus(hairs, multiplied(factor, value.hairs));
    }
    return { number, hairs };
  }
}

function isBelow(a: Point, b: Point): boolean {
  return isLess(a.number, b.number) || (!isLess(b.number, a.number) && isLess(a.hairs, b.hairs));
}
