// A row of a pushed table with its key, as one record that the gate reads as it reads a payload.

import { formatDecimal, fromNumber } from '../value/decimal.ts';
import type { PayloadIssue } from './decision.ts';
import { payloadFaults } from './describe.ts';
import type { Json, JsonObject } from './json.ts';
import type { PolicySet, Table } from './policy.ts';
import type { Facts, PushedRows } from './request.ts';
import type { Field, Shape } from './type.ts';

/** A table whose rows are pushed. */
export type Pushed = Table & { readonly pushed: NonNullable<Table['pushed']> };

export function isPushed(table: Table | undefined): table is Pushed {
  return table?.pushed != null;
}

/** The rows of pushed tables as facts, and no others; nothing where the set has no such table. */
export function rowsKnown({ tables }: PolicySet, given: PushedRows['given']): Pick<Facts, 'rows'> {
  return [...tables.values()].some(isPushed) ? { rows: { given, areAll: true } } : {};
}

export interface KeyedRow {
  readonly shape: Shape;
  readonly record: JsonObject;
}

/** `key` as text, such as a path has it. */
export function keyedRow({ key: type, pushed }: Pushed, key: string, row: JsonObject): KeyedRow {
  const { shape, keyName } = pushed;
  const keyField: Field = {
    name: keyName,
    type,
    isOptional: false,
    isNullable: false,
    isSecret: false,
    isSigned: false,
  };
  const sent = type.kind === 'integer' ? wholeNumber(key) : key;
  return {
    shape: { ...shape, fields: [keyField, ...shape.fields] },
    record: { ...row, [keyName]: sent },
  };
}

/** What of a row stands in it though it is no cell: its key, which is said apart. */
export function strayKey({ pushed }: Pushed, row: JsonObject): readonly PayloadIssue[] {
  if (!Object.hasOwn(row, pushed.keyName)) return [];
  return [{ pointer: `/${pushed.keyName}`, message: payloadFaults.undeclared }];
}

/** The text by which rules find a row that is of its shape, in canonical form. */
export function pushedKey({ pushed }: Pushed, record: JsonObject): string {
  const key = record[pushed.keyName];
  return typeof key === 'number' ? formatDecimal(fromNumber(key)) : String(key);
}

/** The text itself where it is no whole number as it is written in JSON. */
function wholeNumber(text: string): Json {
  const value = Number(text);
  return Number.isSafeInteger(value) && String(value) === text ? value : text;
}
