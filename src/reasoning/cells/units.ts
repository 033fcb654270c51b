// Amounts of money in whole units of their currency: which numbers of a range are whole units, and payloads
// with plain numbers in place of money.

import { currencyOfJson } from '../../language/model/currency.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import type { MoneyType, Shape, Type } from '../../language/model/type.ts';
import { isAmountOf, unitDigits } from '../../language/value/currency.ts';
import {
  add,
  compare,
  type Decimal,
  floor,
  fromNumber,
  isInRange,
  multiply,
  subtract,
  toNumber,
} from '../../language/value/decimal.ts';

/** How many decimal places currencies have, from the coarsest on. */
const digitsOfCurrencies = [0, 2, 3, 4] as const;

/**
 * Returns a number between two others, or beyond one of them, that has as few decimal places as a number there
 * can have; null if each number there has more than any currency.
 */
export function coarsestBetween(low: Decimal | null, high: Decimal | null): Decimal | null {
  for (const digits of digitsOfCurrencies) {
    const unit: Decimal = { coefficient: 1n, exponent: -digits };
    const near = low === null ? belowOf(high ?? fromNumber(0), unit) : aboveOf(low, unit);
    if (near !== null && (high === null || compare(near, high) < 0)) return near;
  }
  return null;
}

/** The next multiple of the unit above a number. */
function aboveOf(value: Decimal, unit: Decimal): Decimal | null {
  const whole = roundedDown(value, unit);
  return whole && add(whole, unit);
}

/** The next multiple of the unit below a number. */
function belowOf(value: Decimal, unit: Decimal): Decimal | null {
  const whole = roundedDown(value, unit);
  return whole && (compare(whole, value) < 0 ? whole : subtract(whole, unit));
}

function roundedDown(value: Decimal, unit: Decimal): Decimal | null {
  const per: Decimal = { coefficient: 1n, exponent: -unit.exponent };
  const count = multiply(value, per);
  return count && multiply(floor(count), unit);
}

/** Returns the payload with each amount that is finer than its currency rounded to a unit that the type admits. */
export function inUnits(shape: Shape, payload: JsonObject): JsonObject {
  return holdsMoney({ kind: 'record', shape }) ? recordInUnits(shape, payload, payload) : payload;
}

function holdsMoney(type: Type): boolean {
  if (type.kind === 'record') return type.shape.fields.some((field) => holdsMoney(field.type));
  return type.kind === 'list' ? holdsMoney(type.element.type) : type.kind === 'money';
}

function recordInUnits(shape: Shape, record: JsonObject, payload: JsonObject): JsonObject {
  const entries = Object.entries(record).map(([name, json]) => {
    const field = shape.fields.find((one) => one.name === name);
    return [name, field === undefined ? json : valueInUnits(field.type, json, { record, payload })] as const;
  });
  return Object.fromEntries(entries);
}

interface UnitContext {
  readonly record: JsonObject;
  readonly payload: JsonObject;
}

function valueInUnits(type: Type, json: Json, { record, payload }: UnitContext): Json {
  if (type.kind === 'record' && isJsonObject(json)) return recordInUnits(type.shape, json, payload);
  if (type.kind === 'list' && Array.isArray(json))
    return json.map((element: Json) => valueInUnits(type.element.type, element, { record, payload }));
  if (type.kind !== 'money' || typeof json !== 'number') return json;
  const currency = currencyOfJson(type, record, payload);
  return typeof currency !== 'string' || isAmountOf(json, currency) ? json : rounded(type, json, currency);
}

function rounded({ range }: MoneyType, amount: number, currency: string): number {
  const digits = unitDigits(currency);
  if (!Number.isFinite(digits)) return amount;
  const unit: Decimal = { coefficient: 1n, exponent: -digits };
  const exact = fromNumber(amount);
  const near = [roundedDown(exact, unit), aboveOf(exact, unit)].find(
    (one) => one !== null && isInRange(range, one),
  );
  return near == null ? amount : toNumber(near);
}
