// A running sum that never rounds: amounts are added and taken away again in any order, and what is left is exactly what
// was not taken away. It is as long as it needs to be; only the reading is held to the digits of a Decimal.

import { bounded, type Decimal } from '../../language/value/decimal.ts';

/** A class because it is changed by each entry that comes or goes, without making a new value. */
export class ExactSum {
  #coefficient = 0n;
  #exponent = 0;

  add({ coefficient, exponent }: Decimal): void {
    if (coefficient === 0n) return;
    this.#lowerTo(exponent);
    // Amounts of one currency mostly have the same digits.
    this.#coefficient +=
      exponent === this.#exponent ? coefficient : coefficient * 10n ** BigInt(exponent - this.#exponent);
    if (this.#coefficient === 0n) this.#exponent = 0;
  }

  subtract({ coefficient, exponent }: Decimal): void {
    this.add({ coefficient: -coefficient, exponent });
  }

  addAll(other: ExactSum): void {
    this.add({ coefficient: other.#coefficient, exponent: other.#exponent });
  }

  /** Null beyond 34 significant digits. */
  decimal(): Decimal | null {
    return bounded(this.#coefficient, this.#exponent);
  }

  #lowerTo(exponent: number): void {
    if (this.#coefficient === 0n) this.#exponent = exponent;
    if (exponent >= this.#exponent) return;
    this.#coefficient *= 10n ** BigInt(this.#exponent - exponent);
    this.#exponent = exponent;
  }
}
