// Values as texts that are equal exactly where the values are: for telling values apart, and for keeping one meter for
// each of them.

import { type Decimal, formatDecimal } from './decimal.ts';
import { formatIp, type Ip } from './ip.ts';

/** Amounts of two currencies are two values. */
export interface DistinctMoney {
  readonly amount: Decimal;
  readonly currency: string | null;
}

export type DistinctValue = string | boolean | Decimal | DistinctMoney | Ip;

/** The text of one value. Texts have a mark before them, so that none looks like another value. */
export function distinctText(value: DistinctValue): string {
  if (typeof value === 'string') return `"${value}`;
  if (typeof value === 'boolean') return String(value);
  if ('family' in value) return `ip ${formatIp(value)}`;
  if ('amount' in value) return `${formatDecimal(value.amount)} ${value.currency ?? ''}`;
  return formatDecimal(value);
}

/** The text of several values together; null where one of them is. */
export function distinctTexts(texts: readonly (string | null)[]): string | null {
  if (texts.length === 1) return texts[0]!;
  let all = '';
  for (const text of texts) {
    if (text === null) return null;
    all += `${text.length}:${text}`;
  }
  return all;
}
