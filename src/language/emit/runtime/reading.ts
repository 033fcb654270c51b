// Reads what requests carry into the values that generated code compares. INVARIANT: no name that an agent or
// a policy chooses ever reaches a prototype; absent stays undefined and null stays null.

import { chainOf, type Facts, type RequestFacts } from '../../model/request.ts';
import type { Decimal } from '../../value/decimal.ts';
import * as decimal from '../../value/decimal.ts';
import { type Ip, parseIp } from '../../value/ip.ts';
import { parseDate, parseDatetime, parseTimestamp } from '../../value/time.ts';
import {
  between,
  type NumericValue,
  type OptionalValue,
  plain,
  type RuntimeAmount,
  type RuntimeQuantity,
} from './quantity.ts';

/** Returns a record's own field; undefined when there is no record or no such field. */
export function own(record: unknown, name: string): unknown {
  const isThere = typeof record === 'object' && record !== null && Object.hasOwn(record, name);
  return isThere ? (record as Readonly<Record<string, unknown>>)[name] : undefined;
}

export function readDate(text: OptionalValue<string>): OptionalValue<NumericValue> {
  return readPoint(text, parseDate);
}

export function readTimestamp(text: OptionalValue<string>): OptionalValue<NumericValue> {
  return readPoint(text, parseTimestamp);
}

export function readDatetime(text: OptionalValue<string>): OptionalValue<NumericValue> {
  return readPoint(text, parseDatetime);
}

export function readIp(text: OptionalValue<string>): OptionalValue<Ip> {
  return text == null ? text : (parseIp(text) ?? undefined);
}

/** Returns the names of the delegations by which a request comes. */
export function readChain(request: RequestFacts): readonly string[] {
  return chainOf(request);
}

/** Returns the name of the last delegation; unknown when there is none. */
export function readDelegate(request: RequestFacts): string | undefined {
  return chainOf(request).at(-1);
}

/** Returns an amount with its currency, which is given separately; unknown when there is no currency. */
export function readMoney(
  amount: OptionalValue<number>,
  currency: OptionalValue<string>,
): OptionalValue<RuntimeAmount> {
  if (amount == null) return amount;
  return currency == null ? undefined : { amount, currency };
}

/** Returns the elements of a list as values; `read` converts one element. */
export function readAll<T>(
  list: OptionalValue<readonly T[]>,
  read: (element: T) => unknown,
): OptionalValue<unknown[]> {
  return list?.map((element) => read(element));
}

/** Returns the current time in seconds since the epoch. */
export function readNow(nowMs: number): NumericValue {
  // Up to 15 digits, the shortest text of the quotient is the exact value.
  return Math.abs(nowMs) < 1e15 ? nowMs / 1000 : decimal.multiply(decimal.fromNumber(nowMs), milli)!;
}

const milli: Decimal = { coefficient: 1n, exponent: -3 };

/** Returns a meter's reading: a single value when both ends are equal; unknown when there is no reading. */
export function readMeter(
  meters: Facts['meters'],
  name: string,
  currency: string | null,
): RuntimeQuantity | undefined {
  const reading = Object.hasOwn(meters, name) ? meters[name] : undefined;
  if (reading === undefined) return undefined;
  const [low, high] = [plain(reading.low), plain(reading.high)];
  if (currency === null) return between(low, high);
  return between({ amount: low, currency }, { amount: high, currency });
}

/** Returns the reading of a meter that is kept for each currency, in the currency of the request. */
export function readMeterIn(
  meters: Facts['meters'],
  name: string,
  currency: OptionalValue<string>,
): RuntimeQuantity | undefined {
  return currency == null ? undefined : readMeter(meters, name, currency);
}

function readPoint(
  text: OptionalValue<string>,
  parse: (text: string) => Decimal | null,
): OptionalValue<NumericValue> {
  if (text == null) return text;
  const point = parse(text);
  return point === null ? undefined : plain(point);
}
