// A running sum that never rounds: amounts are added and taken away in any order, and what is left is exactly
// what was not taken away. The sum has as many digits as it needs; only its reading is limited to the digits
// of a Decimal.

import { bounded, type Decimal } from '../../language/value/decimal.ts';

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
