// Writes records and rows into the PostgreSQL database that takes over the store of a file. INVARIANT: until
// `finish` has committed, the database notes that it is not whole, and no service uses it.

import pg from 'pg';
import type { ChainEntry, ChainRecord, Link, RecordKind } from '../contract/chain.ts';
import type { SealKey } from '../contract/seal.ts';
import { StoreError } from '../contract/store-error.ts';
import { eventSeal, requestSeal } from '../postgres/seals/request-seals.ts';
import { idArray, plainArray, textArray } from '../postgres/server/arrays.ts';
import { clientConfig } from '../postgres/server/connection.ts';
import { toStoreFailure } from '../postgres/server/errors.ts';
import { firstOfIds, lastOfIds } from '../postgres/server/request-ids.ts';
import type { EventColumns, RequestColumns } from '../shared/rows.ts';
import { bucketDigits, type CopiedTable } from './copied-tables.ts';
import { bucketOf } from './file-rows.ts';
import { type MoveState, movedId, placementKind } from './placement.ts';
import {
  type BucketSum,
  type CopiedValue,
  digestColumn,
  digestOfDigests,
  digestOfRows,
  sumColumns,
} from './row-sums.ts';

export interface DatabaseRows {
  /**
   * Marks the database as not whole. Returns `whole` when it already is a whole store with records. Rejects
   * when another copy is under way.
   */
  begin(place: string): Promise<'begun' | 'whole'>;
  /** Stores records; returns whether the database gives them back as they were sent. */
  append(records: readonly ChainRecord[]): Promise<boolean>;
  /** Deletes all copied records, for when the file has deleted the same ones since they were copied. */
  clear(): Promise<void>;
  /** Updates the statistics by which the database plans queries; takes a while. */
  analyze(): Promise<void>;
  /** Returns the sums of one bucket, or of all buckets when none is named. */
  sums(table: CopiedTable, rows: Omit<RowsOfBucket, 'rows'>): Promise<ReadonlyMap<string, BucketSum>>;
  /** Replaces the rows of the bucket by these rows. */
  replace(table: CopiedTable, rows: RowsOfBucket): Promise<void>;
  /** Makes the database whole after running `work`, in one transaction. */
  finish(end: Link, prunedTo: number, work: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface RowsOfBucket {
  readonly columns: readonly string[];
  readonly bucket?: string;
  readonly rows: Iterable<readonly CopiedValue[]>;
}

const recordTables = {
  request: 'requests',
  refusal: 'refusals',
  change: 'changes',
  event: 'request_events',
} as const satisfies Record<Exclude<RecordKind, 'knot'>, string>;
const tableNames = Object.values(recordTables);

/** The advisory lock that allows one copy at a time. */
const copyingLock = 0x57524955;
const rowsAtOnce = 5_000;

type Query = <R extends object>(text: string, values?: readonly unknown[]) => Promise<readonly R[]>;

/** Connects to a database that has the tables of a store. Rejects with a StoreError. */
export async function openDatabaseRows(url: string, key: SealKey): Promise<DatabaseRows> {
  const client = new pg.Client({ ...clientConfig(url), application_name: 'writ store copy' });
  client.on('error', () => {});
  const query: Query = async <R extends object>(text: string, values: readonly unknown[] = []) => {
    try {
      return (await client.query<R>(text, [...values])).rows;
    } catch (error) {
      throw toStoreFailure(error);
    }
  };
  try {
    await client.connect();
  } catch (error) {
    throw toStoreFailure(error);
  }
  // The file is read between two statements of a transaction, which takes time.
  await query('SET idle_in_transaction_session_timeout = 0');
  // Records that a crash loses are copied again; `finish` waits until everything is on disk.
  await query('SET synchronous_commit = off');
  const types = await columnTypes(query);
  const together = async <T>(work: () => Promise<T>): Promise<T> => {
    await query('BEGIN');
    try {
      const result = await work();
      await query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  };
  return {
    begin: (place) => together(() => begin(query, place)),
    append: (records) => together(() => append({ query, types, key }, records)),
    clear: () => together(async () => void (await query(`TRUNCATE ${tableNames.join(', ')}`))),
    analyze: async () => void (await query('ANALYZE')),
    sums: (table, rows) => sums(query, types, { table, ...rows }),
    replace: (table, rows) => replace(query, types, { table, ...rows }),
    finish: (end, prunedTo, work) =>
      together(async () => {
        const [last] = await query<Link>('SELECT sequence, hash FROM chain_end FOR UPDATE');
        if (last?.sequence !== 0)
          throw new StoreError('tampered', 'something was written to the database while it was copied to');
        await query('SET LOCAL synchronous_commit = on');
        for (const table of tableNames) await query(`DELETE FROM ${table} WHERE sequence <= $1`, [prunedTo]);
        await work();
        await query('SELECT writ_end($1, $2)', [end.sequence, end.hash]);
      }),
    close: async () => void (await client.end().catch(() => {})),
  };
}

const countOfAll = tableNames.map((table) => `(SELECT count(*) FROM ${table})`).join(' + ');

async function begin(query: Query, place: string): Promise<'begun' | 'whole'> {
  const [lock] = await query<{ isMine: boolean }>('SELECT pg_try_advisory_lock($1) AS "isMine"', [
    copyingLock,
  ]);
  if (lock?.isMine !== true) throw new StoreError('locked', 'another command copies to this database');
  const [end] = await query<Link>('SELECT sequence, hash FROM chain_end FOR UPDATE');
  const [noted] = await query<{ json: string }>(
    'SELECT document_json AS json FROM documents WHERE kind = $1 AND id = $2',
    [placementKind, movedId],
  );
  if (noted !== undefined) {
    // Written below, or by `noteMoved`.
    const { state, place: from } = JSON.parse(noted.json) as MoveState;
    if (state === 'arriving' && from === place) return 'begun';
    throw new StoreError('moved', `the database contains a copy of ${from}: name an empty one`);
  }
  if (end?.sequence !== 0) return 'whole';
  const arriving: MoveState = { state: 'arriving', place };
  await query(
    `INSERT INTO documents (kind, id, version, created_ms, document_json)
     VALUES ($1, $2, 1, (extract(epoch FROM clock_timestamp()) * 1000)::int8, $3)`,
    [placementKind, movedId, JSON.stringify(arriving)],
  );
  const [others] = await query<{ count: number }>(
    `SELECT ${countOfAll} + (SELECT count(*) FROM agents) + (SELECT count(*) FROM replicas WHERE instance IS NOT NULL) AS count`,
  );
  if (others?.count !== 0)
    throw new StoreError('foreign-database', 'the database is not empty: name an empty one');
  return 'begun';
}

/** The type of each column, by `table.column`. */
type ColumnTypes = ReadonlyMap<string, string>;

async function columnTypes(query: Query): Promise<ColumnTypes> {
  const columns = await query<{ name: string; type: string }>(
    `SELECT table_name || '.' || column_name AS name, udt_name AS type
     FROM information_schema.columns WHERE table_schema = current_schema()`,
  );
  return new Map(columns.map(({ name, type }) => [name, type]));
}

interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly CopiedValue[])[];
  /** Further columns, with SQL that gives the same value in every row. */
  readonly added: Readonly<Record<string, string>>;
}

async function insert(
  query: Query,
  types: ColumnTypes,
  table: string,
  { columns, rows, added }: Rows,
): Promise<void> {
  if (rows.length === 0) return;
  const typeOf = (column: string) => types.get(`${table}.${column}`) ?? 'text';
  const names = [...columns, ...Object.keys(added)].join(', ');
  const arrays = columns.map((column, at) => `$${at + 1}::${typeOf(column)}[]`);
  const sqls = ['copied.*', ...Object.values(added)].join(', ');
  const values = columns.map((column, at) => {
    const all = rows.map((row) => row[at] ?? null);
    if (typeOf(column) === 'uuid') return idArray(all.map(String));
    // Columns of texts hold texts, all others numbers.
    return typeOf(column) === 'text'
      ? textArray(all as readonly (string | null)[])
      : plainArray(all as readonly (number | bigint | null)[]);
  });
  await query(
    `INSERT INTO ${table} (${names}) SELECT ${sqls} FROM unnest(${arrays.join(', ')}) AS copied`,
    values,
  );
}

interface Target {
  readonly query: Query;
  readonly types: ColumnTypes;
  readonly key: SealKey;
}

async function append({ query, types, key }: Target, records: readonly ChainRecord[]): Promise<boolean> {
  const numbers = await eventNumbers(query, records);
  const tables = Object.entries(recordTables).flatMap(([kind, table]) => {
    const own = records.filter(({ entry }) => entry.kind === kind);
    const columns = Object.keys(own[0]?.entry ?? {}).filter((name) => name !== 'kind');
    const isSealed = kind === 'request' || kind === 'event';
    const rows = own.map(({ entry, hash }) => {
      const seals = isSealed ? [sealOf(key, entry, numbers)] : [];
      return [...columns.map((name) => entry[name] ?? null), hash, ...seals];
    });
    const added = isSealed ? ['hash', 'seal'] : ['hash'];
    return rows.length === 0 ? [] : [{ table, columns: [...columns, ...added], rows }];
  });
  for (const { table, columns, rows } of tables)
    await insert(query, types, table, { columns, rows, added: table === 'changes' ? {} : { slot: '0' } });
  await noteStates(query, records);
  for (const one of tables) if (!(await haveComeOut(query, one))) return false;
  return true;
}

/** How many events of each request are stored already, by the id of the request. */
async function eventNumbers(query: Query, records: readonly ChainRecord[]): Promise<Map<string, number>> {
  const ids = records.flatMap(({ entry }) => (entry.kind === 'event' ? [String(entry.request_id)] : []));
  if (ids.length === 0) return new Map();
  const counted = await query<{ id: string; count: number }>(
    'SELECT request_id AS id, count(*)::int AS count FROM request_events WHERE request_id = ANY ($1) GROUP BY 1',
    [idArray([...new Set(ids)])],
  );
  return new Map(counted.map(({ id, count }) => [id, count]));
}

/** The seal that the database keeps for a record: a file seals records by their hashes. */
function sealOf(key: SealKey, entry: ChainEntry, numbers: Map<string, number>): string {
  // An entry has the columns of its table.
  if (entry.kind === 'request') return requestSeal(key, entry as unknown as RequestColumns);
  const event = entry as unknown as EventColumns;
  const number = (numbers.get(event.request_id) ?? 0) + 1;
  numbers.set(event.request_id, number);
  return eventSeal(key, event, number);
}

interface StoredRecords extends Pick<Rows, 'columns' | 'rows'> {
  readonly table: string;
}

/** Returns whether the stored rows are as they were sent. */
async function haveComeOut(query: Query, { table, columns, rows }: StoredRecords): Promise<boolean> {
  const at = columns.indexOf('sequence');
  const texts = columns.map((column) => `${column}::text`);
  const asking = query<{ digest: string }>(
    `SELECT ${digestOfDigests} FROM (
       SELECT sequence, ${digestColumn(texts)} FROM ${table} WHERE sequence BETWEEN $1 AND $2) AS rows`,
    [rows[0]?.[at], rows.at(-1)?.[at]],
  );
  // Made while the server makes its own digest.
  const sent = digestOfRows(rows);
  return (await asking)[0]?.digest === sent;
}

/** Notes in the rows of requests how they stand after their events. */
async function noteStates(query: Query, records: readonly ChainRecord[]): Promise<void> {
  const events = records.flatMap(({ entry }) => (entry.kind === 'event' ? [String(entry.request_id)] : []));
  if (events.length === 0) return;
  await query(
    `UPDATE requests SET now_status = event.status, now_decided_ms = event.decided_ms, now_expires_ms = event.expires_ms
     FROM (SELECT DISTINCT ON (request_id) * FROM request_events WHERE request_id = ANY ($1)
       ORDER BY request_id, sequence DESC) AS event
     WHERE requests.id = event.request_id`,
    [idArray([...new Set(events)])],
  );
}

interface TableColumns {
  readonly table: CopiedTable;
  readonly columns: readonly string[];
}

/** Returns the SQL condition for the rows of a bucket, or for all rows when no bucket is named. */
function conditionOf(bucket: string | undefined): {
  readonly where: string;
  readonly values: readonly string[];
} {
  if (bucket === undefined) return { where: 'true', values: [] };
  const { definition, start } = bucketOf(bucket);
  return {
    where: 'definition = $1 AND request_id BETWEEN $2 AND $3',
    values: [definition, firstOfIds(start), lastOfIds(start)],
  };
}

async function sums(
  query: Query,
  types: ColumnTypes,
  { table: { name, isLarge }, columns, bucket: one }: TableColumns & Omit<RowsOfBucket, 'rows'>,
): Promise<ReadonlyMap<string, BucketSum>> {
  const { where, values } = conditionOf(isLarge ? one : undefined);
  const texts = columns.map((column) =>
    types.get(`${name}.${column}`) === 'bool' ? `${column}::int4::text` : `${column}::text`,
  );
  const bucket = isLarge ? `definition || ' ' || substr(request_id::text, 1, ${bucketDigits})` : "''";
  const buckets = await query<BucketSum & { bucket: string }>(
    `SELECT bucket, ${sumColumns} FROM (SELECT ${bucket} AS bucket, ${digestColumn(texts)} FROM ${name} WHERE ${where} OFFSET 0) AS rows GROUP BY 1`,
    values,
  );
  return new Map(buckets.map(({ bucket, ...sum }) => [bucket, sum]));
}

async function replace(
  query: Query,
  types: ColumnTypes,
  { table: { name, isLarge, added }, columns, bucket, rows }: TableColumns & RowsOfBucket,
): Promise<void> {
  const { where, values } = conditionOf(isLarge ? bucket : undefined);
  await query(`DELETE FROM ${name} WHERE ${where}`, values);
  const sent: (readonly CopiedValue[])[] = [];
  const send = async () => await insert(query, types, name, { columns, rows: sent.splice(0), added });
  for (const row of rows) if (sent.push(row) === rowsAtOnce) await send();
  await send();
}
