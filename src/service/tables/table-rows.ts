// Rows of tables that are pushed, as they are stored. What is removed stays as a mark for a day, so that no version of a
// row comes twice while somebody may still rest on it. INVARIANT: a row is changed together with the record of who did it,
// or not at all.

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../language/model/json.ts';
import type { CanonicalValue } from '../store/contract/canonical-json.ts';
import { type Collection, createCollection, type ReadDocument } from '../store/contract/collection.ts';
import type { DocumentStore } from '../store/contract/documents.ts';
import type { SeenDocument } from '../store/contract/grant-basis.ts';

export interface TableRow {
  /** `rowId` of the two that follow. */
  readonly id: string;
  readonly table: string;
  /** In canonical form. */
  readonly key: string;
  /** Null once it is removed. */
  readonly row: JsonObject | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  /** As the record names them. */
  readonly changedBy: string;
  /** When a row that is removed may be forgotten; null while it is there. */
  readonly endsAtMs: number | null;
}

/** The kind of document that a row is stored as. */
const rowKind = 'table-row';
/** A key stands in addresses and in the record. */
export const keyLengthMax = 500;
const keptRemovedMs = 24 * 60 * 60 * 1000;
/** More than can come between: each time somebody else has changed the same row. */
const triesMax = 20;

/** Names of tables have no slash. */
export function rowId(table: string, key: string): string {
  return `${table}/${key}`;
}

export function rowsIn(documents: DocumentStore): Collection<TableRow> {
  return createCollection<TableRow>(documents, rowKind, ({ table, endsAtMs }) => ({
    parent: table,
    ...(endsAtMs === null ? {} : { endsAtMs }),
  }));
}

export interface SeenRow {
  readonly row: JsonObject | null;
  readonly seen: SeenDocument;
}

/** The row as it is now, with what a decision rests on that reads it. */
export async function rowNow(documents: DocumentStore, table: string, key: string): Promise<SeenRow> {
  const id = rowId(table, key);
  const found = await rowsIn(documents).find(id);
  return { row: found?.value.row ?? null, seen: { kind: rowKind, id, version: found?.version ?? 0 } };
}

/** Who changes a row, and when. */
export interface RowChanger {
  readonly documents: DocumentStore;
  /** As the record names them. */
  readonly who: string;
  readonly nowMs: number;
}

export interface RowPlace {
  readonly table: string;
  readonly key: string;
}

export type RowChanged =
  /** `unchanged`: it was so before, and nothing was recorded. */
  | { readonly kind: 'changed' | 'unchanged'; readonly stored: ReadDocument<TableRow> }
  | { readonly kind: 'unknown' | 'conflict' };

/** Puts a row that fits its table in the place of the one with the key, or where there is none. */
export function pushRow(by: RowChanger, place: RowPlace, row: JsonObject): Promise<RowChanged> {
  return change(by, place, row);
}

/** `unknown` where there is no such row. */
export function removeRow(by: RowChanger, place: RowPlace): Promise<RowChanged> {
  return change(by, place, null);
}

async function change(
  { documents, who, nowMs }: RowChanger,
  { table, key }: RowPlace,
  row: JsonObject | null,
): Promise<RowChanged> {
  const rows = rowsIn(documents);
  const id = rowId(table, key);
  for (let tries = 0; tries < triesMax; tries += 1) {
    const found = await rows.find(id);
    const before = found?.value.row ?? null;
    if (row === null && before === null) return { kind: 'unknown' };
    if (found !== null && isDeepStrictEqual(before, row)) return { kind: 'unchanged', stored: found };
    const value: TableRow = {
      id,
      table,
      key,
      row,
      changedBy: who,
      changedAtMs: nowMs,
      createdAtMs: found?.value.createdAtMs ?? nowMs,
      endsAtMs: row === null ? nowMs + keptRemovedMs : null,
    };
    const version = found?.version ?? 0;
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
