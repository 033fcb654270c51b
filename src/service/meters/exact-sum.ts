// A running sum that never rounds: amounts are added and taken away again in any order, and what is left is exactly what
// was not taken away. It is as long as it needs to be; only the reading is held to the digits of a Decimal.

import { bounded, type Decimal } from '../../language/value/decimal.ts';

/** A class because it is changed by each entry that comes or goes, without making a new value. */
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

  /** Null beyond 34 significant digits. */
  decimal(): Decimal | null {
    return bounded(this.#coefficient, this.#exponent);
  }

  /** What is to be added to the coefficient, which is itself scaled for it. */
  #scaled({ coefficient, exponent }: Decimal): bigint {
    if (coefficient === 0n) return 0n;
    this.#lowerTo(exponent);
    // Amounts of one currency mostly have the same digits.
    return exponent === this.#exponent ? coefficient : coefficient * 10n ** BigInt(exponent - this.#exponent);
  }

  #lowerTo(exponent: number): void {
    if (this.#coefficient === 0n) this.#exponent = exponent;
    if (exponent >= this.#exponent) return;
    this.#coefficient *= 10n ** BigInt(this.#exponent - exponent);
    this.#exponent = exponent;
  }
}
