// Rows of pushed tables, as stored. A removed row stays as a mark for a day, so that no version of a row
// occurs twice while a decision may still rest on it. INVARIANT: a row is changed together with the record of
// who did it, or not at all.

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../language/model/json.ts';
import type { CanonicalValue } from '../store/contract/canonical-json.ts';
import { type Collection, createCollection, type ReadDocument } from '../store/contract/collection.ts';
import type { DocumentStore } from '../store/contract/documents.ts';
import type { DocumentVersion } from '../store/contract/grant-precondition.ts';

export interface TableRow {
  /** `rowId` of the table and the key. */
  readonly id: string;
  readonly table: string;
  /** The key in canonical form. */
  readonly key: string;
  /** The row; null once it is removed. */
  readonly row: JsonObject | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  /** The author's name in the record. */
  readonly changedBy: string;
  /** When a removed row may be deleted; null while the row exists. */
  readonly endsAtMs: number | null;
}

/** The kind of document that holds a row. */
const rowKind = 'table-row';
/** Limited because keys appear in addresses and in records. */
export const keyLengthMax = 500;
const keptRemovedMs = 24 * 60 * 60 * 1000;
/**
 * How often a change is tried. A try is repeated only when another writer has changed the same row in
 * between, which does not happen this often.
 */
const triesMax = 20;

/** Returns an id that is unique for table and key, since names of tables have no slash. */
export function rowId(table: string, key: string): string {
  return `${table}/${key}`;
}

export function rowsIn(documents: DocumentStore): Collection<TableRow> {
  return createCollection<TableRow>(documents, rowKind, ({ table, endsAtMs }) => ({
    parent: table,
    ...(endsAtMs === null ? {} : { endsAtMs }),
  }));
}

export interface VersionedRow {
  readonly row: JsonObject | null;
  readonly version: DocumentVersion;
}

/** Returns the present row, with the version on which a decision that reads the row rests. */
export async function rowNow(documents: DocumentStore, table: string, key: string): Promise<VersionedRow> {
  const id = rowId(table, key);
  const storedTableRow = await rowsIn(documents).find(id);
  return {
    row: storedTableRow?.value.row ?? null,
    version: { kind: rowKind, id, version: storedTableRow?.version ?? 0 },
  };
}

/** Who changes a row, when, and where rows are stored. */
export interface RowChanger {
  readonly documents: DocumentStore;
  /** The author's name in the record. */
  readonly who: string;
  readonly nowMs: number;
}

export interface RowKey {
  readonly table: string;
  readonly key: string;
}

export type RowChangeResult =
  /** `unchanged`: the stored row was equal already, and nothing was recorded. */
  | { readonly kind: 'changed' | 'unchanged'; readonly stored: ReadDocument<TableRow> }
  | { readonly kind: 'unknown' | 'conflict' };

/** Adds a row that fits its table, or replaces the row with the same key. */
export function pushRow(by: RowChanger, rowKey: RowKey, row: JsonObject): Promise<RowChangeResult> {
  return change(by, rowKey, row);
}

/** Removes a row; `unknown` when there is none with the key. */
export function removeRow(by: RowChanger, rowKey: RowKey): Promise<RowChangeResult> {
  return change(by, rowKey, null);
}

async function change(
  { documents, who, nowMs }: RowChanger,
  { table, key }: RowKey,
  row: JsonObject | null,
): Promise<RowChangeResult> {
  const rows = rowsIn(documents);
  const id = rowId(table, key);
  for (let tries = 0; tries < triesMax; tries += 1) {
    const storedTableRow = await rows.find(id);
    const before = storedTableRow?.value.row ?? null;
    if (row === null && before === null) return { kind: 'unknown' };
    if (storedTableRow !== null && isDeepStrictEqual(before, row))
      return { kind: 'unchanged', stored: storedTableRow };
    const value: TableRow = {
      id,
      table,
      key,
      row,
      changedBy: who,
      changedAtMs: nowMs,
      createdAtMs: storedTableRow?.value.createdAtMs ?? nowMs,
      endsAtMs: row === null ? nowMs + keptRemovedMs : null,
    };
    const version = storedTableRow?.version ?? 0;
    const result = await documents.write([rows.put(value, version)], {
      atMs: nowMs,
      who,
      what: row === null ? 'table-row-removed' : 'table-row-pushed',
      subject: id,
      before: before as CanonicalValue,
      after: row as CanonicalValue,
    });
    if (result === 'changed') return { kind: 'changed', stored: { value, version: version + 1 } };
  }
  return { kind: 'conflict' };
}
