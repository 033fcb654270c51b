// The values of expressions. Unknown is a value of its own: it stands for "some value of the right type".

import type { Decimal } from '../value/decimal.ts';
import type { Ip } from '../value/ip.ts';
import type { JsonObject } from './json.ts';

/** A value that is not known. Never `undefined`, which stands for absent. */
export const unknown = Symbol('unknown');
export type UnknownValue = typeof unknown;

export type Value =
  | null
  | boolean
  | string
  | Decimal
  | Money
  | Interval
  | Ip
  | readonly Value[]
  /** An element of a list of records, read through a quantifier's variable. */
  | JsonObject;

export interface Money {
  readonly amount: Decimal;
  /** ISO 4217 code; null only for the sum of nothing, which can be compared with every currency. */
  readonly currency: string | null;
}

/** A meter's reading while requests are pending: every value between the two ends is possible. */
export interface Interval {
  readonly low: Decimal | Money;
  readonly high: Decimal | Money;
}
