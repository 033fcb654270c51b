// Looks up the cell of a table by a key that a request brings: one case for the keys of each different cell,
// and one for keys without a row, whose cell is unknown.

import { childrenOf, descendants, writtenList } from '../../language/model/children.ts';
import type { ColumnRead, Expression } from '../../language/model/expression.ts';
import type { PolicySet, Table } from '../../language/model/policy.ts';
import { isPushed } from '../../language/model/pushed-row.ts';
import { booleanType, listOf } from '../../language/model/type.ts';
import type { Value } from '../../language/model/value.ts';
import { memo } from '../../language/value/memo.ts';
import { findCell, rowKeys, type TableRows } from '../../language/value/table/rows.ts';
import { constantOf, keyValue } from '../cells/condition-meaning.ts';
import type { Pair } from '../solver/circuit.ts';
import { notLiteral } from '../solver/literal.ts';
import type { Elements, ProofContext } from './context.ts';
import { comparisonCall, literalNode, mapOperands } from './rewrite.ts';

const rowsMax = 20_000;
const cellsMax = 64;

/** Null when the condition looks nothing up, or in a table with too many different cells. */
export function lookupAtom(ctx: ProofContext, expression: Expression, elements: Elements): Pair | null {
  if (expression.kind === 'has-cell') return cellPresence(ctx, expression.cell, elements);
  const read = firstLookup(ctx.set, expression);
  const table = read === null ? undefined : ctx.set.tables.get(read.table);
  const groups = read === null || table === undefined ? null : keysByCell(table, read.column);
  if (read === null || table === undefined || groups === null) return null;
  const { circuit } = ctx;
  const withKey = (key: Value): Pair =>
    ctx.lower(
      withRead(expression, read, { ...read, key: literalNode(key, { ...read.key, type: table.key }) }),
      elements,
    );
  const rowGroups = ctx.faults.has('lookups-lack-a-row') ? groups.slice(1) : groups;
  const cases = rowGroups.map((keys) => ({
    isHere: ctx.lower(isOneOf(read.key, keys, table), elements).isTrue,
    pair: withKey(keys[0]!),
  }));
  const isNone = circuit.and(cases.map(({ isHere }) => notLiteral(isHere)));
  const all = [...cases, { isHere: isNone, pair: withKey(keyWithoutRow(table)) }];
  const where = (of: keyof Pair) =>
    circuit.or(all.map(({ isHere, pair }) => circuit.and([isHere, pair[of]])));
  // One row alone has the key, but keys that are only guessed may seem to be those of two rows.
  const isTrue = where('isTrue');
  return { isTrue, isFalse: circuit.and([where('isFalse'), notLiteral(isTrue)]) };
}

/**
 * `table[key] has column` is `key in [...]`, the keys of the rows with the cell. Null when there are none, and for a key
 * that may be an interval, which finds no row and yet differs from keys outside of it.
 */
function cellPresence(ctx: ProofContext, cell: ColumnRead, elements: Elements): Pair | null {
  if (descendants(cell.key).some(({ kind }) => kind === 'meter' || kind === 'risk')) return null;
  const table = ctx.set.tables.get(cell.table);
  const keys = table === undefined ? null : (keysByCell(table, cell.column)?.flat() ?? null);
  if (table === undefined || keys === null || keys.length === 0) return null;
  return ctx.lower(isOneOf(cell.key, keys, table), elements);
}

/** How many cases the look-ups of the condition make together. */
export function lookupCases(set: PolicySet, expression: Expression): number {
  const read = firstLookup(set, expression);
  const table = read === null ? undefined : set.tables.get(read.table);
  const groups = read === null || table === undefined ? null : keysByCell(table, read.column);
  if (read === null || groups === null) return 1;
  const key = literalNode(groups[0]?.[0] ?? '', read.key);
  return (groups.length + 1) * lookupCases(set, withRead(expression, read, { ...read, key }));
}

/** The first look-up by a key that is no constant; the body of a quantifier is about single elements. */
function firstLookup(set: PolicySet, expression: Expression): (ColumnRead & Expression) | null {
  if (expression.kind === 'has-cell') return null;
  const parts = expression.kind === 'quantify' ? expression.sources : childrenOf(expression);
  for (const part of parts) {
    const lookup = firstLookup(set, part);
    if (lookup !== null) return lookup;
  }
  if (expression.kind !== 'column' || isPushed(set.tables.get(expression.table))) return null;
  return constantOf(expression.key, set) === null ? expression : null;
}

/**
 * The expression with another read of a cell. A test whether the cell is there keeps its key, even where it shares the
 * node of the read, as `table[key].column else x` does: of a key that is unknown, the cell is as unknown as that of a
 * key without a row, but the test is unknown, and not false.
 */
function withRead(expression: Expression, read: Expression, by: Expression): Expression {
  if (expression === read) return by;
  if (expression.kind === 'has-cell') return expression;
  return mapOperands(expression, (operand) => withRead(operand, read, by));
}

/** Whether the key is one of these; unknown if it is unknown. */
function isOneOf(key: Expression, keys: readonly Value[], table: Table): Expression {
  const written = keys.map((one) => literalNode(one, { ...key, type: table.key }));
  if (written.length === 1) return comparisonCall('==', key, written[0]!);
  const elements = writtenList(written, { type: listOf(table.key), span: key.span });
  return { kind: 'in-elements', subject: key, elements, type: booleanType, span: key.span };
}

const groupsByRows = new WeakMap<TableRows, Map<string, readonly (readonly Value[])[] | null>>();

/** The keys of the rows, those with equal cells together; null when there are too many. */
function keysByCell({ rows, key, columns }: Table, column: string): readonly (readonly Value[])[] | null {
  if (rows === null || rows.count > rowsMax) return null;
  const byColumn = memo(groupsByRows, rows, () => new Map<string, readonly (readonly Value[])[] | null>());
  return memo(byColumn, column, () => {
    const columnIndex = columns.findIndex(({ name }) => name === column);
    const groups = new Map<string, Value[]>();
    for (const text of [...rowKeys(rows)].toSorted()) {
      const cell = findCell(rows, text, columnIndex);
      // A row without the cell is like no row at all.
      if (cell === undefined || cell === null) continue;
      memo(groups, JSON.stringify(cell, bigints), (): Value[] => []).push(keyValue(text, key));
    }
    return groups.size > cellsMax ? null : [...groups.values()];
  });
}

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

function keyWithoutRow({ rows, key }: Table): Value {
  const keys = new Set(rowKeys(rows!));
  for (let number = 0; ; number += 1) {
    const text = key.kind === 'integer' ? String(number) : `none ${number}`;
    if (!keys.has(text)) return keyValue(text, key);
  }
}
