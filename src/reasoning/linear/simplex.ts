// Decides whether bounds on numbers and on sums of numbers can hold together, by the general simplex method
// in exact fractions. A strict bound lies an infinitely small amount, a hair, beside its number. If the
// answer is no, it names the bounds that cannot hold together, each with its multiplier.

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

/** A number, and how many hairs the point lies beside it; a hair is an infinitely small amount. */
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
  /** By each variable that is a sum, the factors of its terms. No term is a sum itself. */
  readonly #rows = new Map<number, Map<number, Fraction>>();

  variable(start: Fraction): number {
    this.#values.push({ number: start, hairs: noFraction });
    this.#lows.push(null);
    this.#highs.push(null);
    return this.#values.length - 1;
  }

  /**
   * Adds a variable that is the sum of plain variables. Sums have to be added before any variable is bounded.
   */
  sum(terms: ReadonlyMap<number, Fraction>): number {
    const sum = this.variable(noFraction);
    this.#rows.set(sum, new Map(terms));
    this.#values[sum] = this.#sumOf(this.#rows.get(sum)!);
    return sum;
  }

  /** Adds a bound of a variable. Returns null, or the bounds that contradict it. */
  bound(variable: number, bound: SimplexBound<Reason>): readonly Farkas<Reason>[] | null {
    const hairs = bound.isStrict ? (bound.isUpper ? opposite(wholeFraction) : wholeFraction) : noFraction;
    const limit = { point: { number: bound.number, hairs }, reason: bound.reason };
    const [own, other] = bound.isUpper ? [this.#highs, this.#lows] : [this.#lows, this.#highs];
    const isBeyond = (a: Point, b: Point): boolean => (bound.isUpper ? isBelow(b, a) : isBelow(a, b));
    const currentLimit = own[variable];
    if (currentLimit && !isBeyond(currentLimit.point, limit.point)) return null;
    const across = other[variable];
    if (across && isBeyond(across.point, limit.point))
      return [across, limit].map(({ reason }) => ({ reason, multiplier: wholeFraction }));
    own[variable] = limit;
    if (!this.#rows.has(variable) && isBeyond(this.#values[variable]!, limit.point))
      this.#move(variable, limit.point);
    return null;
  }

  /**
   * Looks for values that satisfy all bounds. Returns null if there are such values, or else the bounds that
   * contradict each other.
   */
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

  /** Numbers for which all bounds hold; valid after `solve` has returned null. */
  numbers(): readonly Fraction[] {
    const hair = this.#hair();
    return this.#values.map(({ number, hairs }) => plus(number, multiplied(hairs, hair)));
  }

  /** A power of ten that is small enough to stand for a hair. */
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

  /** Gives a plain variable another value, and updates the sums. */
  #move(variable: number, point: Point): void {
    this.#values[variable] = point;
    for (const [sum, row] of this.#rows) if (row.has(variable)) this.#values[sum] = this.#sumOf(row);
  }

  /** Turns a sum into a plain variable at the point, and a plain variable into a sum. */
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
