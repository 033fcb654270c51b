// Turns a cell of a table's file into a value of the column's type, read as the gate reads a payload: in
// canonical form, within the type's range. In CSV the elements of a list are separated by `;`.

import type { Json } from '../../model/json.ts';
import type { Range, Type } from '../../model/type.ts';
import { type Decimal, fromNumber, isInRange, isInteger, parseDecimal } from '../../value/decimal.ts';
import type { TableCell } from '../../value/table/cells.ts';
import { length } from '../../value/text.ts';
import { parseDate, parseDatetime, parseTimestamp } from '../../value/time.ts';
import { readerOf } from '../logic/literals.ts';
import type { TableFormat } from '../messages/table-files.ts';

/** Reads a cell; returns null when the cell holds no value of the column's type. */
export type CellReader = (source: Json) => TableCell | null;

/** Returns a reader for cells of a column's type. For money the reader returns only the amount. */
export function cellReader(type: Type, format: TableFormat): CellReader {
  switch (type.kind) {
    case 'boolean':
      return format === 'csv' ? (source) => booleans[source as string] ?? null : booleanOf;
    case 'text':
      return textReader(type);
    case 'ip':
      return ofText((text) => readerOf(type)(text) as TableCell | null);
    case 'number':
    case 'integer':
    case 'money':
      return numberReader(type.kind === 'integer', type.range, format);
    case 'date':
      return timeReader(parseDate, type.range);
    case 'timestamp':
      return timeReader(parseTimestamp, type.range);
    case 'datetime':
      return timeReader(parseDatetime, type.range);
    case 'list':
      return listReader(type, format);
    // No column has these types.
    case 'duration':
    case 'record':
    case 'any':
      return () => null;
  }
}

const booleans: Readonly<Record<string, boolean>> = { true: true, false: false };

function booleanOf(source: Json): boolean | null {
  return typeof source === 'boolean' ? source : null;
}

function ofText(read: (text: string) => TableCell | null): CellReader {
  return (source) => (typeof source === 'string' ? read(source) : null);
}

function textReader(type: Extract<Type, { kind: 'text' }>): CellReader {
  const read = readerOf(type);
  const hasLength = type.length.low !== null || type.length.high !== null;
  return ofText((text) => {
    const value = read(text) as string | null;
    if (value === null || !hasLength) return value;
    return isInRange(type.length, fromNumber(length(value))) ? value : null;
  });
}

function numberReader(isWhole: boolean, range: Range, format: TableFormat): CellReader {
  return (source) => {
    const value = format === 'csv' ? parseDecimal(String(source)) : decimalOf(source);
    if (value === null || (isWhole && !isInteger(value))) return null;
    return isInRange(range, value) ? value : null;
  };
}

function decimalOf(source: Json): Decimal | null {
  return typeof source === 'number' ? fromNumber(source) : null;
}

function timeReader(parse: (text: string) => Decimal | null, range: Range): CellReader {
  return ofText((text) => {
    const value = parse(text);
    return value !== null && isInRange(range, value) ? value : null;
  });
}

function listReader(
  { element, length: range }: Extract<Type, { kind: 'list' }>,
  format: TableFormat,
): CellReader {
  const read = cellReader(element.type, format);
  return (source) => {
    const parts: readonly Json[] | null = Array.isArray(source)
      ? source
      : format === 'csv'
        ? (source as string).split(';')
        : null;
    if (parts === null || !isInRange(range, fromNumber(parts.length))) return null;
    const cells = parts.map((part) =>
      read(typeof part === 'string' && format === 'csv' ? part.trim() : part),
    );
    return cells.includes(null) ? null : (cells as TableCell[]);
  };
}
