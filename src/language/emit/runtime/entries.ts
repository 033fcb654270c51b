// Makes a request's entries in meters, for generated code. Keys and distinct values become texts, amounts
// become exact decimals. INVARIANT: an unknown value is null and never zero; undefined and null arguments are
// unknown as well.

import type { Contribution, MeterDefinition, MeterUse } from '../../model/metering.ts';
import type { Decimal } from '../../value/decimal.ts';
import { distinctText, distinctTexts } from '../../value/distinct-text.ts';
import type { Ip } from '../../value/ip.ts';
import {
  exact,
  isAmount,
  type Kleene,
  type NumericValue,
  type OptionalValue,
  type RuntimeAmount,
  type RuntimeQuantity,
} from './quantity.ts';

/** The part of a meter's entry that is the same for every request of an action. */
export interface MeterHead {
  readonly definition: MeterDefinition;
  readonly names: readonly string[];
}

/** Makes one entry. `counts` is whether the meter's condition holds for the request. */
export function meterUse(
  { definition, names }: MeterHead,
  key: string | null,
  counts: Kleene,
  value: Contribution['value'],
): MeterUse {
  return { definition, names, key, contribution: counts === 0 ? null : { isCertain: counts === 2, value } };
}

/** Returns the key under which a meter keeps its total; null when one of the key's values is unknown. */
export function meterKey(values: readonly unknown[]): string | null {
  return distinctTexts(values.map(valueText));
}

/** Returns the amount to add; null when it is unknown or not in the meter's currency. */
export function addedAmount(value: OptionalValue<RuntimeQuantity>, currency: string | null): Decimal | null {
  if (value == null || (typeof value === 'object' && 'low' in value)) return null;
  if (!isAmount(value)) return exact(value);
  const isOfMeter = currency === null || value.currency === null || value.currency === currency;
  return isOfMeter ? exact(value.amount) : null;
}

/**
 * Returns the text by which a value is distinguished from others; null when the value is unknown or of a kind
 * that is never distinguished.
 */
export function valueText(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return distinctText(value);
    case 'number':
      return distinctText(exact(value));
    case 'object':
      return value === null || Array.isArray(value)
        ? null
        : objectText(value as Decimal | RuntimeAmount | Ip);
    default:
      return null;
  }
}

function objectText(value: Decimal | RuntimeAmount | Ip): string | null {
  if (!('amount' in value)) return 'family' in value || 'coefficient' in value ? distinctText(value) : null;
  const amount: NumericValue = value.amount;
  return distinctText({ amount: exact(amount), currency: value.currency });
}
