// Reads the rows beside the records from an SQLite file, while a service may be writing to it.

import Database from 'better-sqlite3';
import { quotedColumn, tablesBesideRecords } from '../contract/sealed-tables.ts';
import { withStoreErrors } from '../sqlite/file/errors.ts';
import { checkSchemaVersion } from '../sqlite/migrate.ts';
import { bucketDigits, type CopiedTable, copiedTables } from './copied-tables.ts';
import { movedId, placementKind } from './placement.ts';
import { addRow, type BucketSum, type CopiedValue, noRows } from './row-sums.ts';

export interface FileRows {
  readonly tables: readonly CopiedTable[];
  columns(table: CopiedTable): readonly string[];
  sums(table: CopiedTable): ReadonlyMap<string, BucketSum>;
  rows(table: CopiedTable, bucket: string): Iterable<readonly CopiedValue[]>;
  /** Begins a new snapshot, from which everything is read until the next call. */
  lookAnew(): void;
  close(): void;
}

/** Opens the file for reading only. Throws a StoreError when the file cannot be used. */
export function openFileRows(path: string): FileRows {
  return withStoreErrors(path, () => {
    const database = new Database(path, { readonly: true, fileMustExist: true });
    checkSchemaVersion(database);
    const tables = copiedTables(tablesBesideRecords(database).map(({ name }) => name));
    // One of them, `nonces`, is a view.
    const columnsOf = database
      .prepare<[string], string>('SELECT name FROM pragma_table_info(?) ORDER BY cid')
      .pluck();
    const stored = new Map(tables.map(({ name }) => [name, columnsOf.all(name)]));
    const columns = ({ name, left }: CopiedTable) =>
      (stored.get(name) ?? []).filter((column) => !left.includes(column));
    const read = (table: CopiedTable, where = '') => {
      const names = columns(table).map(quotedColumn);
      const text = `SELECT ${names.join(', ')} FROM ${table.name} WHERE ${ownRows(table)} ${where}`;
      // Ids of plants have 64 bits, more than a number holds exactly.
      return database
        .prepare<unknown[], CopiedValue[]>(text)
        .raw(true)
        .safeIntegers(table.name === 'plants');
    };
    return {
      tables,
      columns,
      sums: (table) => withStoreErrors(path, () => sumRows(table, columns(table), read(table).iterate())),
      rows: (table, bucket) =>
        table.isLarge ? read(table, bucketCondition).iterate(bucketOf(bucket)) : read(table).iterate(),
      lookAnew() {
        if (database.inTransaction) database.exec('COMMIT');
        database.exec('BEGIN');
      },
      close: () => void database.close(),
    };
  });
}

/** Leaves out the note that the records have moved, which is true of the file alone. */
function ownRows({ name }: CopiedTable): string {
  return name === 'documents' ? `NOT (kind = '${placementKind}' AND id = '${movedId}')` : 'true';
}

const bucketCondition =
  "AND definition = @definition AND request_id >= @start AND request_id < @start || '~'";

/** Splits the name of a bucket; `start` holds the digits with which the ids of its requests begin. */
export function bucketOf(bucket: string): { readonly definition: string; readonly start: string } {
  const at = bucket.lastIndexOf(' ');
  return { definition: bucket.slice(0, at), start: bucket.slice(at + 1) };
}

function sumRows(
  { isLarge }: CopiedTable,
  columns: readonly string[],
  rows: Iterable<readonly CopiedValue[]>,
): ReadonlyMap<string, BucketSum> {
  const sums = new Map<string, BucketSum>();
  const [definitionAt, requestAt] = [columns.indexOf('definition'), columns.indexOf('request_id')];
  for (const row of rows) {
    const request = String(row[requestAt]).slice(0, bucketDigits);
    const bucket = isLarge ? `${row[definitionAt]} ${request}` : '';
    sums.set(bucket, addRow(sums.get(bucket) ?? noRows, row));
  }
  return sums;
}
