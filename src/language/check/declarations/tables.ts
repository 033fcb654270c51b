// Turns table declarations into tables: rows written in place, read from a file or pushed later, each cell a
// value of its column's type. Rows are packed while they are read, so a million rows take no more memory than
// their bytes.

import type { Json } from '../../model/json.ts';
import type { Column, Table } from '../../model/policy.ts';
import { anyText, type Field, type Shape, type Slot, type Type } from '../../model/type.ts';
import type { FieldNode, TableDeclaration, TableSource } from '../../syntax/tree/tree.ts';
import { isCurrency, isInUnits } from '../../value/currency.ts';
import { type Decimal, formatDecimal } from '../../value/decimal.ts';
import type { TableCell } from '../../value/table/cells.ts';
import { RowsBuilder, type TableRows } from '../../value/table/rows.ts';
import { resolveShape, resolveType } from '../expressions/types.ts';
import type { Environment } from '../incremental/environment.ts';
import { memoized } from '../incremental/memoized.ts';
import { moneyType, readLiteralAs } from '../logic/literals.ts';
import { sameOrNew } from '../logic/same.ts';
import { fieldDeclaredTwice } from '../messages/errors.ts';
import {
  cellUnfit,
  columnTypeUnfit,
  keyMissing,
  keyTwice,
  keyTwiceInFile,
  keyTypeUnfit,
  pointTwice,
  tableFileMalformed,
  tableFileUnnamed,
} from '../messages/table-errors.ts';
import {
  type FileFault,
  type FileRow,
  formatOf,
  readRows,
  type TableFormat,
} from '../messages/table-files.ts';
import { type CellReader, cellReader } from './cell-readers.ts';
import { textOfNamedFile } from './file-entries.ts';
import { inferredEntryType } from './lists.ts';
import { placeCurrencies } from './place-currencies.ts';

type TableFile = Extract<TableSource, { kind: 'table-file' }>;
type PushedRows = Extract<TableSource, { kind: 'pushed' }>;
type WrittenRows = Extract<TableSource, { kind: 'rows' }>;

/** Fills `env.tables`. A table in error is left out. */
export function resolveTables(env: Environment): void {
  for (const declaration of env.declarations.ofKind('table')) {
    const name = declaration.name.text;
    const table = memoized(env, declaration, () => {
      const read = readTable(declaration, env);
      if (read === null) env.leaveOut(declaration.span);
      return read === null ? null : likeBefore(read, env.checkState.before.tables.get(name));
    });
    if (table !== null) env.tables.set(name, table);
  }
}

/**
 * Returns the previous table when it holds the same. Otherwise equal types keep their identity, because
 * conditions rest on them.
 */
function likeBefore(table: Table, before: Table | undefined): Table {
  const { key, columns } = table;
  const unchanged = {
    ...table,
    key: sameOrNew(before?.key, key),
    columns: sameOrNew(before?.columns, columns),
  };
  return sameOrNew(before, unchanged);
}

function readTable({ name, source }: TableDeclaration, env: Environment): Table | null {
  switch (source.kind) {
    case 'rows':
      return written(name.text, source, env);
    case 'table-file':
      return fromFile(name.text, source, env);
    case 'pushed':
      return pushed(name.text, source, env);
  }
}

function written(name: string, { rows }: WrittenRows, env: Environment): Table | null {
  const type = inferredEntryType(rows.map(({ value }) => value));
  const builder = new RowsBuilder();
  const places = new Map<string, (typeof rows)[number]['key']>();
  for (const { key, value } of rows) {
    const earlier = places.get(key.text);
    if (earlier !== undefined) env.report(keyTwice(key, earlier));
    const cell = readLiteralAs(value, type, env);
    if (cell === null || earlier !== undefined) continue;
    places.set(key.text, key);
    builder.add(key.text, [cell as TableCell]);
  }
  const made = builder.count < rows.length ? null : builder.finish();
  if (made === null || 'twice' in made) return null;
  const column: Column = { name: '', type: type.kind === 'money' ? moneyType : type };
  return { name, key: anyText, columns: [column], rows: made, pushed: null };
}

interface TableShape {
  readonly key: { readonly name: string; readonly type: Type };
  readonly shape: Shape;
}

function fromFile(name: string, source: TableFile, env: Environment): Table | null {
  const declared = declaredColumns(source, env);
  const format = formatOf(source.path.value);
  if (format === null) env.report(tableFileUnnamed(source.path));
  const text = textOfNamedFile(source.path, env);
  if (declared === null || format === null || text === null) return null;
  const rows = packRows(source, { declared, format, text }, env);
  if (rows === null) return null;
  return { name, key: declared.key.type, columns: columnsOf(declared), rows, pushed: null };
}

/** Returns a table without rows: the points in `by` push the rows while the service runs. */
function pushed(name: string, source: PushedRows, env: Environment): Table | null {
  for (const [at, point] of source.by.entries()) {
    const earlier = source.by.slice(0, at).find(({ value }) => value === point.value);
    if (earlier !== undefined) env.report(pointTwice(point, earlier));
  }
  const declared = declaredColumns(source, env);
  if (declared === null) return null;
  const by = source.by.map(({ value }) => value).sort();
  const { key, shape } = declared;
  return {
    name,
    key: key.type,
    columns: columnsOf(declared),
    rows: null,
    pushed: { shape, keyName: key.name, by },
  };
}

function columnsOf({ shape }: TableShape): readonly Column[] {
  return shape.fields.map((field) => ({ name: field.name, type: readType(field.type) }));
}

/** Returns the type that a read of the column has: an amount carries its own currency. */
function readType(type: Type): Type {
  return type.kind === 'money' ? moneyType : type;
}

/**
 * Returns the key and the columns that the table declares; null when the type of the key or of a column is in
 * error.
 */
function declaredColumns({ key, columns }: TableFile | PushedRows, env: Environment): TableShape | null {
  const keySlot = resolveType(key.type, env);
  const shape = placeCurrencies(resolveShape(columns, env), { body: columns, of: 'row' }, env);
  let isSound = keySlot !== null;
  if (keySlot !== null && (key.isOptional || !isKey(keySlot))) {
    env.report(keyTypeUnfit(key.type.span, keySlot));
    isSound = false;
  }
  for (const node of columns.fields) {
    const field = shape.fields.find((one) => one.name === node.name.text);
    if (node.name.text === key.name.text) env.report(fieldDeclaredTwice(node.name, key.name));
    isSound &&= node.name.text !== key.name.text && field !== undefined && isColumn(field, node, env);
  }
  return isSound && keySlot !== null ? { key: { name: key.name.text, type: keySlot.type }, shape } : null;
}

function isKey({ type, isNullable, isSecret, isSigned }: Slot): boolean {
  return (type.kind === 'text' || type.kind === 'integer') && !isNullable && !isSecret && !isSigned;
}

function isColumn(field: Field, node: FieldNode, env: Environment): boolean {
  const isPlain = ({ isNullable, isSecret, isSigned, type }: Slot): boolean =>
    !isNullable && !isSecret && !isSigned && !['record', 'any', 'duration'].includes(type.kind);
  const { type } = field;
  const isFit =
    isPlain(field) && (type.kind !== 'list' || (isPlain(type.element) && type.element.type.kind !== 'list'));
  if (!isFit) env.report(columnTypeUnfit(node.type.span, field));
  return isFit;
}

interface ToPack {
  readonly declared: TableShape;
  readonly format: TableFormat;
  readonly text: string;
}

/** The most faults of one file that are reported; more are of no use at once. */
const faultsMax = 10;

function packRows(source: TableFile, { declared, format, text }: ToPack, env: Environment): TableRows | null {
  const reading = createReading(source, declared, format);
  const builder = new RowsBuilder();
  const lines: number[] = [];
  let faults = 0;
  for (const row of readRows(format, text)) {
    const problem =
      'fault' in row ? tableFileMalformed(source.path, row.line, row.fault) : reading(row, builder);
    if (problem === null) lines.push(row.line);
    else {
      env.report(problem);
      faults += 1;
    }
    if (faults === faultsMax) return null;
  }
  if (faults > 0) return null;
  const made = builder.finish();
  if (!('twice' in made)) return made;
  const [first, second] = made.twice;
  env.report(keyTwiceInFile(source.path, [lines[first]!, lines[second]!], builder.keyAt(first)));
  return null;
}

type Fault = ReturnType<typeof cellUnfit>;

/** Returns a function that adds a row to the builder, or returns what is wrong with the row. */
function createReading(
  { path }: TableFile,
  { key, shape }: TableShape,
  format: TableFormat,
): (row: FileRow, into: RowsBuilder) => Fault | null {
  const readKey = cellReader(key.type, format);
  const fields = shape.fields.map((field) => ({ field, read: cellReader(field.type, format), format }));
  const columnsFault = createColumnsCheck({ key, shape }, format);
  return (row, into) => {
    const { line, cells } = row;
    const cellAt = (column: string) => ({ line, column, source: cells[column] });
    const fault = columnsFault(row);
    if (fault !== null) return tableFileMalformed(path, fault.line, fault.fault);
    const keyOfRow = keyText(cells[key.name], readKey);
    if (keyOfRow === null) {
      const isEmpty = cells[key.name] === undefined;
      return isEmpty ? keyMissing(path, cellAt(key.name)) : cellUnfit(path, cellAt(key.name), key.type);
    }
    const rowCells: (TableCell | undefined)[] = [];
    for (const one of fields) {
      const cell = cellIn(cells, one.field, one);
      if (cell === null) return cellUnfit(path, cellAt(one.field.name), one.field.type);
      rowCells.push(cell);
    }
    into.add(keyOfRow, rowCells);
    return null;
  };
}

/**
 * Returns a check of a row's columns. CSV names its columns in the first line, so a fault of theirs is
 * reported once; JSON Lines names the columns in every line.
 */
function createColumnsCheck(
  { key, shape }: TableShape,
  format: TableFormat,
): (row: FileRow) => FileFault | null {
  const columnNames = new Set([key.name, ...shape.fields.map(({ name }) => name)]);
  const stray = (cells: FileRow['cells']): string | undefined =>
    shape.isOpen ? undefined : Object.keys(cells).find((column) => !columnNames.has(column));
  if (format === 'jsonl') {
    return ({ line, cells }) => {
      const column = stray(cells);
      return column === undefined ? null : { line, fault: undeclared(column) };
    };
  }
  let isFirst = true;
  return ({ cells }) => {
    if (!isFirst) return null;
    isFirst = false;
    const missing = [...columnNames].find((column) => !(column in cells));
    if (missing !== undefined) return { line: 1, fault: `names no column \`${missing}\`` };
    const column = stray(cells);
    return column === undefined ? null : { line: 1, fault: undeclared(column) };
  };
}

function undeclared(column: string): string {
  return `has a column \`${column}\` that is not declared`;
}

function keyText(source: Json | undefined, read: CellReader): string | null {
  const value = source === undefined ? null : read(source);
  if (value === null || typeof value === 'string') return value;
  return formatDecimal(value as Decimal);
}

/**
 * Returns the cell's value; undefined when an optional cell is empty, null when a required cell is empty or
 * the value is not of the column's type.
 */
function cellIn(
  cells: FileRow['cells'],
  field: Field,
  { read, format }: { readonly read: CellReader; readonly format: TableFormat },
): TableCell | undefined | null {
  const source = cells[field.name];
  if (source === undefined || (source === null && field.isOptional)) return emptyCell(field, format);
  const value = read(source);
  if (field.type.kind !== 'money' || value === null) return value;
  const currency = cells[field.type.currencyField ?? ''];
  if (typeof currency !== 'string' || !isCurrency(currency)) return null;
  const amount = value as Decimal;
  return isInUnits(amount, currency) ? { amount, currency } : null;
}

/**
 * Returns the value of an empty cell; null when a cell of the column may not be empty. In CSV an empty cell
 * is also the only way to write a list without elements.
 */
function emptyCell({ isOptional, type }: Field, format: TableFormat): TableCell | undefined | null {
  if (isOptional) return undefined;
  return type.kind === 'list' && format === 'csv' && (type.length.low?.coefficient ?? 0n) === 0n ? [] : null;
}
