// Reads quantities as Kubernetes writes them (resource quantities: `512Mi`, `100m`, `1.5G`), also with a `B` for bytes and
// one space before the unit (`10 MB`). A decimal unit is a power of 1,000, a binary one of 1,024.

import { type Decimal, multiply, parseDecimal } from './decimal.ts';

const form = /^(?<number>\d{1,34}(?:\.\d{1,34})?) ?(?<unit>[kKMGTPE]i?B?|B|m)?$/;

const decimalPowers: Readonly<Record<string, number>> = { k: 3, K: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binaryPowers: Readonly<Record<string, bigint>> = { K: 10n, M: 20n, G: 30n, T: 40n, P: 50n, E: 60n };

/** Returns the number that a text such as `1.5GiB` stands for; null when the text is no quantity. */
export function parseQuantity(text: string): Decimal | null {
  const { number, unit = '' } = form.exec(text)?.groups ?? {};
  const factor = number === undefined ? null : factorOf(unit.replace(/B$/, ''));
  const value = number === undefined ? null : parseDecimal(number);
  return factor === null || value === null ? null : multiply(value, factor);
}

function factorOf(unit: string): Decimal | null {
  if (unit === '') return { coefficient: 1n, exponent: 0 };
  if (unit === 'm') return { coefficient: 1n, exponent: -3 };
  const letter = unit.charAt(0);
  if (!unit.endsWith('i')) return { coefficient: 1n, exponent: decimalPowers[letter]! };
  const power = binaryPowers[letter];
  return power === undefined ? null : { coefficient: 1n << power, exponent: 0 };
}
