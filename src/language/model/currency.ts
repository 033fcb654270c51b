// Where the currency of an amount stands: in a field beside it, or in a record around it in the payload.

import type { JsonObject } from './json.ts';
import { valueAt } from './request.ts';
import type { MoneyType, Shape, Type } from './type.ts';

/** A field by the name that its steps start from: the payload, or a variable. */
export interface FieldPlace<Step = string> {
  readonly root: string;
  readonly steps: readonly Step[];
}

/** Where the currency of the amount at a place stands; null for an amount that carries its own, and for what is no amount. */
export function currencyPlace<Step>(
  type: Type,
  { root, steps }: FieldPlace<Step>,
): FieldPlace<Step | string> | null {
  if (type.kind !== 'money' || type.currencyField === null) return null;
  return type.currencyRecord === undefined
    ? { root, steps: [...steps.slice(0, -1), type.currencyField] }
    : { root: 'payload', steps: [...type.currencyRecord, type.currencyField] };
}

/** The currency of an amount that `own` holds, as it was sent; undefined where there is none. */
export function currencyOfJson(type: MoneyType, own: JsonObject | null, payload: JsonObject | null): unknown {
  const { currencyField, currencyRecord } = type;
  if (currencyField === null) return undefined;
  return currencyRecord === undefined
    ? valueAt(own, [currencyField])
    : valueAt(payload, [...currencyRecord, currencyField]);
}

/** Whether amounts of both types find their currency at the same place. */
export function haveSameCurrency(a: MoneyType, b: MoneyType): boolean {
  return a.currencyField === b.currencyField && a.currencyRecord?.join('.') === b.currencyRecord?.join('.');
}

/** The fields of a payload, as `order.currency`, that name the currency of amounts in records below theirs. */
export function currenciesOfRecordsBelow(shape: Shape): ReadonlySet<string> {
  let known = knownBelow.get(shape);
  if (known === undefined) {
    known = new Set(
      amountsIn(shape).flatMap(({ currencyRecord, currencyField }) =>
        currencyRecord === undefined ? [] : [[...currencyRecord, currencyField].join('.')],
      ),
    );
    knownBelow.set(shape, known);
  }
  return known;
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
