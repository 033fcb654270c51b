// Reads declared tables for generated code. INVARIANT: a cell is unknown when its row or the cell does not
// exist.

import type { Json, JsonObject } from '../../model/json.ts';
import type { PushedTable } from '../../model/pushed-row.ts';
import { type Facts, pushedRow } from '../../model/request.ts';
import type { Shape, Type } from '../../model/type.ts';
import { plainNumber } from '../../program/plain.ts';
import type { Decimal } from '../../value/decimal.ts';
import { formatDecimal, fromNumber } from '../../value/decimal.ts';
import { memo } from '../../value/memo.ts';
import type { TableCell } from '../../value/table/cells.ts';
import { findCell, hasRow, type TableRows } from '../../value/table/rows.ts';
import type { Kleene, NumericValue, OptionalValue, RuntimeQuantity } from './quantity.ts';
import { own, readDate, readDatetime, readIp, readMoney, readTimestamp } from './reading.ts';

type Key = OptionalValue<string | NumericValue | RuntimeQuantity>;

/** The rows of a table for generated code: rows of the policy set, or rows that come with a request. */
export type RowSource = TableRows | PushedSource;

/**
 * A table whose rows come with the facts of requests. A class, because it remembers the resolved form of a
 * row that many requests read.
 */
export class PushedSource {
  readonly name: string;
  readonly #shape: Shape;
  readonly #columns: readonly string[];
  readonly #resolve: (row: JsonObject) => JsonObject | 'unfit';
  readonly #resolved = new WeakMap<JsonObject, JsonObject | 'unfit'>();

  /** `resolve` returns a row in canonical form, or `unfit` when the row does not have the declared shape. */
  constructor({ name, columns, pushed }: PushedTable, resolve: (row: JsonObject) => JsonObject | 'unfit') {
    this.name = name;
    this.#shape = pushed.shape;
    this.#columns = columns.map((column) => column.name);
    this.#resolve = resolve;
  }

  /**
   * Returns a row in canonical form; null when there is no such row, undefined when the row is unknown or no
   * longer has the declared shape.
   */
  row(facts: Facts, key: string): JsonObject | null | undefined {
    const row = pushedRow(facts, this.name, key);
    if (row === undefined || row === null) return row;
    const resolved = memo(this.#resolved, row, this.#resolve);
    return resolved === 'unfit' ? undefined : resolved;
  }

  /** Whether the row and its cell exist; unknown when the row is unknown. */
  hasCell(facts: Facts, key: string, place: number): Kleene {
    const row = this.row(facts, key);
    if (row === undefined) return 1;
    const cell = row === null ? null : own(row, this.#columns[place]!);
    return cell === undefined || cell === null ? 0 : 2;
  }

  /** Returns a cell as generated code compares it; undefined when the cell is unknown. */
  cell(facts: Facts, key: string, place: number): unknown {
    const row = this.row(facts, key);
    const column = this.#columns[place]!;
    const json = own(row, column) as Json | undefined;
    if (json === undefined || json === null) return undefined;
    const { type } = this.#shape.fields.find(({ name }) => name === column)!;
    return type.kind === 'money'
      ? readMoney(json as number, own(row, type.currencyField ?? '') as OptionalValue<string>)
      : valueOfCell(type, json);
  }
}

/** Returns the value of a cell, for all types of columns except money. */
function valueOfCell(type: Type, json: Json): unknown {
  switch (type.kind) {
    case 'date':
      return readDate(json as string);
    case 'timestamp':
      return readTimestamp(json as string);
    case 'datetime':
      return readDatetime(json as string);
    case 'ip':
      return readIp(json as string);
    case 'list':
      return (json as readonly Json[]).map((element) => valueOfCell(type.element.type, element));
    default:
      return json;
  }
}

/** Returns a cell as generated code compares it; undefined when the cell is unknown. */
export function readColumn(source: RowSource, facts: Facts, key: Key, column: number): unknown {
  const text = keyText(key);
  if (text === undefined) return undefined;
  if (source instanceof PushedSource) return source.cell(facts, text, column);
  return ready(findCell(source, text, column) ?? undefined);
}

export function isRowThere(source: RowSource, facts: Facts, key: Key): Kleene {
  const text = keyText(key);
  if (text === undefined) return 1;
  if (!(source instanceof PushedSource)) return hasRow(source, text) ? 2 : 0;
  const row = source.row(facts, text);
  return row === undefined ? 1 : row === null ? 0 : 2;
}

/** Whether the row and its cell exist. */
export function hasCell(source: RowSource, facts: Facts, key: Key, column: number): Kleene {
  const text = keyText(key);
  if (text === undefined) return 1;
  if (!(source instanceof PushedSource)) return (findCell(source, text, column) ?? null) === null ? 0 : 2;
  return source.hasCell(facts, text, column);
}

/**
 * Returns the text under which a row is found; numbers are written as decimals. Undefined when the key is not
 * a single value.
 */
function keyText(key: Key): string | undefined {
  if (typeof key === 'string') return key;
  if (typeof key === 'number')
    return Number.isSafeInteger(key) ? String(key) : formatDecimal(fromNumber(key));
  return key != null && 'coefficient' in key ? formatDecimal(key) : undefined;
}

/** Returns a cell with plain JavaScript numbers where those are exact. */
function ready(cell: TableCell | undefined): unknown {
  if (typeof cell !== 'object') return cell;
  if (isList(cell)) return cell.map(ready);
  if ('amount' in cell) return { amount: plain(cell.amount), currency: cell.currency };
  return 'family' in cell ? cell : plain(cell);
}

function isList(cell: object): cell is readonly TableCell[] {
  return Array.isArray(cell);
}

function plain(value: Decimal): number | Decimal {
  return plainNumber(value) ?? value;
}
