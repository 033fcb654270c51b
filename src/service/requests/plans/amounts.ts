// The amounts of money of the steps of a plan, and their sums. INVARIANT: a sum is exact, and amounts of different
// currencies are never added.

import type { JsonObject } from '../../../language/model/json.ts';
import { moneyTextOrNull } from '../../../language/model/title.ts';
import type { Shape } from '../../../language/model/type.ts';
import { add, type Decimal, fromNumber, toNumber, zero } from '../../../language/value/decimal.ts';
import { amountsIn } from '../amounts.ts';

export interface PlannedAmount {
  readonly currency: string;
  /** The number as sent. */
  readonly value: number;
}

/** Returns the amounts of a payload; none when the action is not declared. */
export function plannedAmounts(payload: JsonObject, shape: Shape | null): readonly PlannedAmount[] {
  if (shape === null) return [];
  // The text ends with the currency.
  return amountsIn(payload, shape).map(({ value, text }) => ({ currency: text.slice(-3), value }));
}

/** Returns the sum of each currency as people write it, in the order of the currencies. */
export function sumsOf(amounts: readonly PlannedAmount[]): readonly string[] {
  const sums = new Map<string, Decimal | null>();
  for (const { currency, value } of amounts) {
    const before = sums.get(currency) === undefined ? zero : sums.get(currency)!;
    // A sum of more digits than a decimal has is left out.
    sums.set(currency, before && add(before, fromNumber(value)));
  }
  return [...sums]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([currency, sum]) => (sum && moneyTextOrNull(toNumber(sum), currency)) ?? []);
}
