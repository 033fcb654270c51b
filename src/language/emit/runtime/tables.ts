// Reads of declared tables by generated code. INVARIANT: where there is no row, or no such cell, nothing is known.

import { plainNumber } from '../../program/plain.ts';
import type { Decimal } from '../../value/decimal.ts';
import { formatDecimal, fromNumber } from '../../value/decimal.ts';
import type { TableCell } from '../../value/table/cells.ts';
import { findCell, hasRow, type TableRows } from '../../value/table/rows.ts';
import type { Kleene, Maybe, Numeric, RuntimeQuantity } from './quantity.ts';

type Key = Maybe<string | Numeric | RuntimeQuantity>;

/** The cell as generated code compares it; undefined where it is unknown. */
export function readColumn(rows: TableRows, key: Key, place: number): unknown {
  const text = keyText(key);
  return text === undefined ? undefined : ready(findCell(rows, text, place) ?? undefined);
}

export function isRowThere(rows: TableRows, key: Key): Kleene {
  const text = keyText(key);
  return text === undefined ? 1 : hasRow(rows, text) ? 2 : 0;
}

/** Rows are found by text, whole numbers by their digits; undefined where the key is not one value. */
function keyText(key: Key): string | undefined {
  if (typeof key === 'string') return key;
  if (typeof key === 'number')
    return Number.isSafeInteger(key) ? String(key) : formatDecimal(fromNumber(key));
  return key != null && 'coefficient' in key ? formatDecimal(key) : undefined;
}

/** Numbers plain where they are. */
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
