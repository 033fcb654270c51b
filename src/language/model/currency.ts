// Finds the currency of an amount: in a field beside the amount, or in a record around it in the payload.

import type { JsonObject } from './json.ts';
import { valueAt } from './request.ts';
import type { MoneyType, Shape, Type } from './type.ts';

/** A field by its steps, from the payload or from a variable. */
export interface FieldReference<Step = string> {
  readonly root: string;
  readonly steps: readonly Step[];
}

/**
 * Returns the place of the currency of an amount; null for an amount that carries its own currency, and for
 * any other type.
 */
export function currencyLocation<Step>(
  type: Type,
  { root, steps }: FieldReference<Step>,
): FieldReference<Step | string> | null {
  if (type.kind !== 'money' || type.currencyField === null) return null;
  return type.currencyRecord === undefined
    ? { root, steps: [...steps.slice(0, -1), type.currencyField] }
    : { root: 'payload', steps: [...type.currencyRecord, type.currencyField] };
}

/** Returns the currency, as it was sent, of an amount in the record `own`; undefined when it is missing. */
export function currencyOfJson(
  type: MoneyType,
  json: JsonObject | null,
  payload: JsonObject | null,
): unknown {
  const { currencyField, currencyRecord } = type;
  if (currencyField === null) return undefined;
  return currencyRecord === undefined
    ? valueAt(json, [currencyField])
    : valueAt(payload, [...currencyRecord, currencyField]);
}

/** Whether amounts of both types have their currency at the same place. */
export function haveSameCurrency(a: MoneyType, b: MoneyType): boolean {
  return a.currencyField === b.currencyField && a.currencyRecord?.join('.') === b.currencyRecord?.join('.');
}

/**
 * Returns the fields of a payload, such as `order.currency`, that name the currency of amounts in records
 * below them.
 */
export function currenciesOfRecordsBelow(shape: Shape): ReadonlySet<string> {
  let cached = knownBelow.get(shape);
  if (cached === undefined) {
    cached = new Set(
      amountsIn(shape).flatMap(({ currencyRecord, currencyField }) =>
        currencyRecord === undefined ? [] : [[...currencyRecord, currencyField].join('.')],
      ),
    );
    knownBelow.set(shape, cached);
  }
  return cached;
}

const knownBelow = new WeakMap<Shape, ReadonlySet<string>>();

function amountsIn({ fields }: Shape): readonly MoneyType[] {
  return fields.flatMap(({ type }) => amountsOf(type));
}

function amountsOf(type: Type): readonly MoneyType[] {
  if (type.kind === 'money') return [type];
  if (type.kind === 'list') return amountsOf(type.element.type);
  return type.kind === 'record' ? amountsIn(type.shape) : [];
}

/** What an author does about a comparison with one currency of an amount that can have others. */
export function currencyHelp(path: string, currency: string): string {
  return `test the currency first: \`${path} == "${currency}" and ...\`, or compare with a table by currency, \`limits[${path}]\``;
}
