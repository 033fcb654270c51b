// Compares what is stored with its seal, and names the tables and, if possible, the rows that differ.
// INVARIANT: the check reads one snapshot, and keeps one row of a table in memory at a time.

import type { Database } from 'better-sqlite3';
import type { Link } from '../../contract/chain.ts';
import {
  createSum,
  isSameSum,
  rowTag,
  type SealedState,
  type SealKey,
  type TableSum,
} from '../../contract/seal.ts';
import { rowKeyOf, type SealedTable, sealedTables } from '../../contract/sealed-tables.ts';
import { nameOfDifference, type StateDifference } from '../../contract/state.ts';
import { tampered, tamperedRecord } from '../../contract/store-error.ts';
import { endNow, statusNow } from '../../queries/request-lists.ts';
import { prepareChainEnd } from '../chain/chain.ts';
import { sumOfEntries } from './meter-check.ts';
import { prepareRequestCheck, prepareRequestRows } from './request-check.ts';
import { readSeal, rowsOf } from './seal.ts';

/** The most rows that a quick check reads from tables whose rows have no tags. */
export const quickRowsMax = 20_000;
/** The same for the check before a write, which keeps others waiting. */
const rowsBeforeWrite = 2_000;
const rowsPerStep = 1_000;
/** The most differences that a check returns: enough to see what happened. */
const differencesMax = 20;

export interface SealCheck {
  readonly key: SealKey;
  /**
   * How many rows are read of tables without tags; a table with more than are left is left out. Null reads
   * all.
   */
  readonly rowsMax: number | null;
}

/**
 * Yields now and then how many rows it has read; returns the differences. To be run inside one transaction.
 */
export function* checkSeal(
  database: Database,
  { key, rowsMax }: SealCheck,
): Generator<number, readonly StateDifference[]> {
  const state = readSeal(database, key);
  if (state === null) return [difference('state_seal', "the seal is missing, or is not this service's")];
  const differences: StateDifference[] = [...endDifferences(state, prepareChainEnd(database)())];
  let rowCount = 0;
  let rowsLeft = rowsMax ?? Number.POSITIVE_INFINITY;
  const tables = sealedTables(database);
  for (const table of tables) {
    const sealed = state.tables[table.name] ?? createSum().value();
    // A snapshot is as long as the entries in it, for which it also stands: where there are too many entries
    // to read all, a start reads those that no snapshot holds.
    const length = table.name === 'meter_snapshots' ? (state.tables.meter_entries?.count ?? 0) : sealed.count;
    const isLeftOut = !table.isAlwaysChecked && length > rowsLeft;
    const isShort = isLeftOut && table.name === 'meter_entries' && rowsMax !== rowsBeforeWrite;
    if (isLeftOut && !isShort) continue;
    if (!table.isAlwaysChecked && !isShort) rowsLeft -= length;
    const counting = isShort ? sumOfEntries(database, key) : sumOf(database, table, key);
    let step = counting.next();
    for (; step.done !== true; step = counting.next()) {
      rowCount += step.value;
      yield rowCount;
    }
    const tagSum = table.hasTags ? sumOfTags(database, table) : sealed;
    if (isSameSum(step.value, sealed) && isSameSum(tagSum, sealed)) continue;
    differences.push(...tableDifferences(database, table, key));
  }
  if (hasForeignTags(database, tables))
    differences.push(difference('row_seals', 'it has rows that the service never wrote'));
  return differences.slice(0, differencesMax);
}

/**
 * Throws StoreError for the first difference that a write must not be stored on. For a transaction that begins
 * after another process has written, so few rows of large tables are read.
 */
export function requireStored(database: Database, key: SealKey): void {
  const checking = checkStored(database, { key, rowsMax: rowsBeforeWrite });
  let step = checking.next();
  while (step.done !== true) step = checking.next();
  const [first] = step.value;
  if (first === undefined) return;
  const what = `${nameOfDifference(first)} in \`${database.name}\`: ${first.message}`;
  throw first.table === 'requests' ? tamperedRecord(what) : tampered(what);
}

/**
 * The same, and then the differences of requests that may still be granted. Requests have seals since version
 * 140 of the schema.
 */
export function* checkStored(
  database: Database,
  check: SealCheck,
): Generator<number, readonly StateDifference[]> {
  const differences = yield* checkSeal(database, check);
  const requests = yield* checkRequests(database, check.key);
  return [...differences, ...requests].slice(0, differencesMax);
}

function* checkRequests(database: Database, key: SealKey): Generator<number, readonly StateDifference[]> {
  const requestDifference = prepareRequestDifference(database, key);
  const differences: StateDifference[] = [];
  let count = 0;
  for (const id of openRequests(database)) {
    count += 1;
    if (count % rowsPerStep === 0) yield count;
    const message = requestDifference(id);
    if (message !== null) differences.push(difference('requests', message, id));
    if (differences.length >= differencesMax) break;
  }
  return differences;
}

function difference(table: string, message: string, row: string | null = null): StateDifference {
  return { table, row, message };
}

function endDifferences({ end }: SealedState, lastLink: Link): readonly StateDifference[] {
  if (lastLink.sequence === end.sequence && lastLink.hash === end.hash) return [];
  const message =
    lastLink.sequence < end.sequence
      ? `the last records are gone: the service wrote up to ${end.sequence}, ${lastLink.sequence} is the last`
      : lastLink.sequence > end.sequence
        ? `records after ${end.sequence} were not written by the service`
        : `record ${end.sequence} is not the one that the service wrote`;
  return [difference('records', message, String(end.sequence))];
}

/**
 * Sums the tags of the stored rows. A row whose stored tag differs from its own only counts, and adds no tag.
 */
function* sumOf(database: Database, table: SealedTable, key: SealKey): Generator<number, TableSum> {
  const isKept = table.hasTags ? prepareKept(database, table) : () => true;
  const sum = createSum();
  let rowCount = 0;
  for (const values of rowsOf(database, table)) {
    const tag = rowTag(key, table.name, values);
    sum.add(isKept(values, tag) ? tag : null);
    rowCount += 1;
    if (rowCount % rowsPerStep === 0) yield rowsPerStep;
  }
  return sum.value();
}

function prepareKept(database: Database, table: SealedTable) {
  const find = database
    .prepare<[string, string], string>('SELECT tag FROM row_seals WHERE table_name = ? AND row_key = ?')
    .pluck();
  return (values: readonly unknown[], tag: string): boolean =>
    find.get(table.name, rowKeyOf(table, values)) === tag;
}

interface TagRow {
  readonly row_key: string;
  readonly tag: string;
}

function tagsOf(database: Database, { name }: SealedTable): Iterable<TagRow> {
  return database
    .prepare<[string], TagRow>('SELECT row_key, tag FROM row_seals WHERE table_name = ?')
    .iterate(name);
}

const tagForm = /^[0-9a-f]{64}$/;

function sumOfTags(database: Database, table: SealedTable): TableSum {
  const sum = createSum();
  for (const { tag } of tagsOf(database, table)) {
    if (!tagForm.test(tag)) return { count: -1, sum: '' };
    sum.add(tag);
  }
  return sum.value();
}

function tableDifferences(database: Database, table: SealedTable, key: SealKey): readonly StateDifference[] {
  const rows = table.hasTags ? rowDifferences(database, table, key) : [];
  const entry = table.name === 'meter_entries' ? entryDifference(database) : null;
  if (rows.length > 0) return rows;
  return [entry ?? difference(table.name, 'its rows do not match what the service wrote')];
}

function rowDifferences(database: Database, table: SealedTable, key: SealKey): readonly StateDifference[] {
  const tags = new Map<string, string>();
  for (const { row_key, tag } of tagsOf(database, table)) tags.set(row_key, tag);
  const differences: StateDifference[] = [];
  for (const values of rowsOf(database, table)) {
    const rowKey = rowKeyOf(table, values);
    const tag = tags.get(rowKey);
    tags.delete(rowKey);
    if (tag === rowTag(key, table.name, values)) continue;
    const message = tag === undefined ? 'the service never wrote it' : 'it was changed, not by the service';
    differences.push(difference(table.name, message, rowKey));
  }
  for (const rowKey of tags.keys()) {
    differences.push(difference(table.name, 'it was removed, not by the service', rowKey));
  }
  return differences;
}

/** Returns the first meter entry that contradicts the record of its request; null when there is none. */
function entryDifference(database: Database): StateDifference | null {
  const entry = database
    .prepare<[], { definition: string; id: string }>(
      `SELECT definition, request_id AS id FROM meter_entries LEFT JOIN requests ON requests.id = request_id
       WHERE granted_ms IS NOT coalesce(now_decided_ms, decided_ms)
         AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE purpose = 'pruned') LIMIT 1`,
    )
    .get();
  if (entry === undefined) return null;
  const message = 'it does not match the record of its request';
  return difference('meter_entries', message, JSON.stringify([entry.definition, entry.id]));
}

/** Ids of the requests that wait or may still be granted, by what any of their rows say. */
function openRequests(database: Database): readonly string[] {
  return database
    .prepare<[number], string>(
      `SELECT id FROM requests WHERE ${statusNow} = 'pending' AND ${statusNow} <> 'auto_approved'
       UNION SELECT id FROM requests WHERE ${statusNow} = 'approved' AND ${statusNow} <> 'auto_approved'
         AND ${endNow} > ?
       UNION SELECT request_id FROM request_heads`,
    )
    .pluck()
    .all(Date.now());
}

function prepareRequestDifference(database: Database, key: SealKey): (id: string) => string | null {
  const read = prepareRequestRows(database);
  const differenceOf = prepareRequestCheck(database, key);
  return (id) => {
    const request = read(id);
    return request === null ? 'its record is gone' : differenceOf(request);
  };
}

function hasForeignTags(database: Database, tables: readonly SealedTable[]): boolean {
  const tagged = JSON.stringify(tables.flatMap(({ name, hasTags }) => (hasTags ? [name] : [])));
  return (
    database
      .prepare<[string], unknown>(
        'SELECT 1 FROM row_seals WHERE table_name NOT IN (SELECT value FROM json_each(?)) LIMIT 1',
      )
      .get(tagged) !== undefined
  );
}
