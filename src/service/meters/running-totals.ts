// The entries of one window as running totals: entries that come in are added, entries that go out are taken
// away, and a reading costs the same however many entries there are. INVARIANT: totals depend on which
// entries are in, not on the order in which they came.

import type { Aggregate, Contribution } from '../../language/model/metering.ts';
import { bounded, type Decimal, fromNumber, zero } from '../../language/value/decimal.ts';

// A running sum that never rounds: amounts are added and taken away in any order, and what is left is exactly
// what was not taken away. The sum has as many digits as it needs; only its reading is limited to the digits
// of a Decimal.

/** A class because each entry that is added or taken away changes it, without a new value being made. */
export class ExactSum {
  #coefficient = 0n;
  #exponent = 0;

  add(amount: Decimal): void {
    const added = this.#scaled(amount);
    this.#coefficient += added;
    if (this.#coefficient === 0n) this.#exponent = 0;
  }

  subtract(amount: Decimal): void {
    const taken = this.#scaled(amount);
    this.#coefficient -= taken;
    if (this.#coefficient === 0n) this.#exponent = 0;
  }

  addAll(other: ExactSum): void {
    this.add({ coefficient: other.#coefficient, exponent: other.#exponent });
  }

  /** The sum; null beyond 34 significant digits. */
  decimal(): Decimal | null {
    return bounded(this.#coefficient, this.#exponent);
  }

  /** Returns what to add to the coefficient, and first scales the coefficient to match. */
  #scaled({ coefficient, exponent }: Decimal): bigint {
    if (coefficient === 0n) return 0n;
    this.#lowerTo(exponent);
    // Amounts of one currency mostly have the same number of decimal places.
    return exponent === this.#exponent ? coefficient : coefficient * 10n ** BigInt(exponent - this.#exponent);
  }

  #lowerTo(exponent: number): void {
    if (this.#coefficient === 0n) this.#exponent = exponent;
    if (exponent >= this.#exponent) return;
    this.#coefficient *= 10n ** BigInt(this.#exponent - exponent);
    this.#exponent = exponent;
  }
}

/**
 * The least and the most that a meter may stand at: each uncertain entry counts for its least, or for its
 * most.
 */
export interface Ends {
  readonly low: Decimal;
  readonly high: Decimal;
}

export interface RunningTotals {
  add(contribution: Contribution): void;
  /** Takes away a contribution that was added before. */
  remove(contribution: Contribution): void;
  /** Null when some value is unknown, or when the sum needs more digits than are exact. */
  ends(): Ends | null;
}

export function createRunningTotals(aggregate: Aggregate): RunningTotals {
  return aggregate === 'amounts' ? new AmountTotals() : new ValueTotals();
}

/** A class because it holds running totals. */
class AmountTotals implements RunningTotals {
  readonly #low = new ExactSum();
  readonly #high = new ExactSum();
  #unknown = 0;

  add(contribution: Contribution): void {
    this.#change(contribution, 1);
  }

  remove(contribution: Contribution): void {
    this.#change(contribution, -1);
  }

  ends(): Ends | null {
    if (this.#unknown > 0) return null;
    const low = this.#low.decimal();
    const high = this.#high.decimal();
    return low === null || high === null ? null : { low, high };
  }

  #change({ isCertain, value }: Contribution, by: 1 | -1): void {
    if (value === null || typeof value === 'string') {
      this.#unknown += by;
      return;
    }
    const isNegative = value.coefficient < 0n;
    if (isCertain || isNegative) put(this.#low, value, by);
    if (isCertain || !isNegative) put(this.#high, value, by);
  }
}

function put(sum: ExactSum, value: Decimal, by: 1 | -1): void {
  if (by === 1) sum.add(value);
  else sum.subtract(value);
}

/** A class because it holds how often each value occurs. */
class ValueTotals implements RunningTotals {
  /** For each value, how many entries certainly have it, and how many may have it. */
  readonly #counts = new Map<string, { certain: number; uncertain: number }>();
  #certainValues = 0;
  #unknown = 0;

  add(contribution: Contribution): void {
    this.#change(contribution, 1);
  }

  remove(contribution: Contribution): void {
    this.#change(contribution, -1);
  }

  ends(): Ends | null {
    if (this.#unknown > 0) return null;
    return { low: whole(this.#certainValues), high: whole(this.#counts.size) };
  }

  #change({ isCertain, value }: Contribution, by: 1 | -1): void {
    if (typeof value !== 'string') {
      this.#unknown += by;
      return;
    }
    const count = this.#counts.get(value) ?? { certain: 0, uncertain: 0 };
    const wasCertain = count.certain > 0;
    if (isCertain) count.certain += by;
    else count.uncertain += by;
    this.#certainValues += Number(count.certain > 0) - Number(wasCertain);
    if (count.certain + count.uncertain === 0) this.#counts.delete(value);
    else this.#counts.set(value, count);
  }
}

function whole(count: number): Decimal {
  return count === 0 ? zero : fromNumber(count);
}
