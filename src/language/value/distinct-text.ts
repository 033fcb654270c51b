// Turns values into texts that are equal exactly when the values are equal. The texts tell values apart, and
// name the meter that is kept for each value.

import { type Decimal, formatDecimal } from './decimal.ts';
import { formatIp, type Ip } from './ip.ts';

/** An amount with its currency. Amounts of different currencies are different values. */
export interface DistinctMoney {
  readonly amount: Decimal;
  readonly currency: string | null;
}

export type DistinctValue = string | boolean | Decimal | DistinctMoney | Ip;

/**
 * Returns the text of one value. Strings and IP addresses have a mark in front, so no text looks like that of
 * another kind of value.
 */
export function distinctText(value: DistinctValue): string {
  if (typeof value === 'string') return `"${value}`;
  if (typeof value === 'boolean') return String(value);
  if ('family' in value) return `ip ${formatIp(value)}`;
  if ('amount' in value) return `${formatDecimal(value.amount)} ${value.currency ?? ''}`;
  return formatDecimal(value);
}

/** Joins the texts of several values into one distinct text; null when one of the texts is null. */
export function distinctTexts(texts: readonly (string | null)[]): string | null {
  if (texts.length === 1) return texts[0]!;
  let all = '';
  for (const text of texts) {
    if (text === null) return null;
    all += `${text.length}:${text}`;
  }
  return all;
}
