// A payload into its amounts of money as people write them (`4,200.00 USD`), for the fields that its action
// declares as money.

import { currencyOfJson } from '../../language/model/currency.ts';
import type { Json, JsonObject } from '../../language/model/json.ts';
import { moneyTextOrNull } from '../../language/model/title.ts';
import type { Shape, Type } from '../../language/model/type.ts';

export interface AmountView {
  /** The place in the payload: JSON Pointer (RFC 6901). */
  readonly pointer: string;
  /** The number as sent. */
  readonly value: number;
  readonly text: string;
}

export const amountsMax = 200;

/** Returns the first amounts of the payload, at most `amountsMax`; leaves out secret fields. */
export function amountsIn(payload: JsonObject, shape: Shape): readonly AmountView[] {
  const amounts: AmountView[] = [];
  const ofRecord = (record: JsonObject, { fields }: Shape, pointer: string): void => {
    for (const { name, type, isSecret } of fields) {
      if (isSecret || !Object.hasOwn(record, name)) continue;
      of(record[name]!, type, { pointer: `${pointer}/${escaped(name)}`, record });
    }
  };
  const of = (
    value: Json,
    type: Type,
    { pointer: place, record }: { pointer: string; record: JsonObject },
  ): void => {
    if (amounts.length === amountsMax || value === null) return;
    if (type.kind === 'money' && type.currencyField !== null && typeof value === 'number') {
      const text = moneyTextOrNull(value, (currencyOfJson(type, record, payload) ?? null) as Json);
      if (text !== null) amounts.push({ pointer: place, value, text });
    } else if (type.kind === 'record' && typeof value === 'object' && !Array.isArray(value)) {
      ofRecord(value as JsonObject, type.shape, place);
    } else if (type.kind === 'list' && Array.isArray(value)) {
      for (const [at, element] of value.entries())
        of(element, type.element.type, { pointer: `${place}/${at}`, record });
    }
  };
  ofRecord(payload, shape, '');
  return amounts;
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
