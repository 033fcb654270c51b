// Joins a row of a pushed table with its key into one record, which the gate reads like a payload.

import { formatDecimal, fromNumber } from '../value/decimal.ts';
import type { PayloadIssue } from './decision.ts';
import { payloadFaults } from './describe.ts';
import type { Json, JsonObject } from './json.ts';
import type { PolicySet, Table } from './policy.ts';
import type { Facts, PushedRows } from './request.ts';
import type { Field, Shape } from './type.ts';

/** A table whose rows are pushed. */
export type PushedTable = Table & { readonly pushed: NonNullable<Table['pushed']> };

export function isPushed(table: Table | undefined): table is PushedTable {
  return table?.pushed != null;
}

/**
 * Returns the given rows of pushed tables as facts, complete: all other rows are absent. Returns no facts
 * when the set has no pushed table.
 */
export function rowsKnown({ tables }: PolicySet, given: PushedRows['given']): Pick<Facts, 'rows'> {
  return [...tables.values()].some(isPushed) ? { rows: { given, areAll: true } } : {};
}

export interface KeyedRow {
  readonly shape: Shape;
  readonly record: JsonObject;
}

/** Returns the row with its key as one record. `key` is a text, as in a URL path. */
export function keyedRow({ key: type, pushed }: PushedTable, key: string, row: JsonObject): KeyedRow {
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

/** Returns an issue when the row itself has the key column: the key is given separately. */
export function strayKey({ pushed }: PushedTable, row: JsonObject): readonly PayloadIssue[] {
  if (!Object.hasOwn(row, pushed.keyName)) return [];
  return [{ pointer: `/${pushed.keyName}`, message: payloadFaults.undeclared }];
}

/**
 * Returns the text by which rules find the row. The record must have its declared shape, in canonical form.
 */
export function pushedKey({ pushed }: PushedTable, record: JsonObject): string {
  const key = record[pushed.keyName];
  return typeof key === 'number' ? formatDecimal(fromNumber(key)) : String(key);
}

/** Returns the whole number, or the text itself when it is no whole number in JSON's notation. */
function wholeNumber(text: string): Json {
  const value = Number(text);
  return Number.isSafeInteger(value) && String(value) === text ? value : text;
}
