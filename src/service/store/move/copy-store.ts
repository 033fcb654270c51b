// Copies the store of an SQLite file into an empty PostgreSQL database. Records are copied while the service
// runs, and each is compared after it is stored. Once the service has stopped, the records that came
// meanwhile are copied, and then, in one transaction, the rows beside the records. INVARIANT: the file notes
// that its records have moved before the database is whole, so both can never be served at the same time; a
// copy that breaks off is resumed from where it ended.

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type ChainRecord, chainStart, type Link, linkHash } from '../contract/chain.ts';
import { copyKey } from '../contract/master-key.ts';
import { sealKeyOf } from '../contract/seal.ts';
import type { Store } from '../contract/store.ts';
import { StoreError, tampered } from '../contract/store-error.ts';
import { openPostgresStore } from '../postgres/postgres.ts';
import { openSqliteStore } from '../sqlite/sqlite.ts';
import { type DatabaseRows, openDatabaseRows } from './database-rows.ts';
import { type FileRows, openFileRows } from './file-rows.ts';
import { movedOf, noteMoved } from './placement.ts';
import { type BucketSum, differing } from './row-sums.ts';

export interface CopyOptions {
  /** The SQLite file of the store. */
  readonly path: string;
  readonly url: string;
  /** Where the master key is put for the database. */
  readonly keyFile: string;
  /** The address of the database without its password, as people may see it. */
  readonly shownUrl: string;
  /** Who copies the store, for the record. */
  readonly who: string;
  readonly onProgress: (progress: CopyProgress) => void;
  /** How many records are copied at once. */
  readonly recordsAtOnce?: number;
}

export type CopyProgress =
  | { readonly kind: 'records'; readonly done: number; readonly all: number }
  /** Everything that exists so far is copied: the service can be stopped. */
  | { readonly kind: 'waiting' }
  /** No process serves the file any more. */
  | { readonly kind: 'stopped' };

export interface CopyResult {
  /** The last record, which notes that the store has moved. */
  readonly end: Link;
  readonly recordCount: number;
  /** Time from the moment when no process served the file any more to the end of the copy. */
  readonly stoppedMs: number;
}

const recordsAtOnceDefault = 2_000;
const askAgainMs = 500;

/** Resolves once the database is whole. Rejects with a StoreError; then no service uses the database. */
export async function copyStore(options: CopyOptions): Promise<CopyResult> {
  const closings: (() => Promise<unknown>)[] = [];
  const opened = <T>(one: T, close: () => Promise<unknown>): T => {
    closings.unshift(close);
    return one;
  };
  try {
    const from = await openSqliteStore({ path: options.path, actor: options.who });
    opened(from, () => from.close());
    const moved = await movedOf(from);
    if (moved !== null && moved.place !== options.shownUrl)
      throw new StoreError('moved', `the records have moved to ${moved.place}`);
    copyKey(options.keyFile, from.masterKey);
    const to = await openPostgresStore({ url: options.url, keyFile: options.keyFile });
    opened(to, () => to.close());
    const rows = await openDatabaseRows(options.url, sealKeyOf(from.masterKey));
    opened(rows, () => rows.close());
    const file = openFileRows(options.path);
    opened(file, async () => file.close());
    return await copyOpened({ ...options, from, to, rows, file, seen: new Map() });
  } finally {
    for (const close of closings) await close();
  }
}

interface CopyHandles extends CopyOptions {
  readonly from: Store;
  readonly to: Store;
  readonly rows: DatabaseRows;
  readonly file: FileRows;
  /** By name of a large table, the sums of the rows that the database was seen to hold. */
  readonly seen: Map<string, ReadonlyMap<string, BucketSum>>;
}

async function copyOpened(copy: CopyHandles): Promise<CopyResult> {
  const { from, rows, path, shownUrl, who, onProgress } = copy;
  const hasMoved = (await movedOf(from)) !== null;
  if ((await rows.begin(path)) === 'whole') return await wholeAlready(copy, hasMoved);
  let end = await copyRecords(copy, await endOfCopy(copy));
  await copyRows(copy, 'large ones');
  await rows.analyze();
  onProgress({ kind: 'waiting' });
  for (;;) {
    end = await copyRecords(copy, end);
    if (await isMine(from)) break;
    await sleep(askAgainMs);
  }
  const stoppedAtMs = performance.now();
  onProgress({ kind: 'stopped' });
  if (!hasMoved) await noteMoved(from, shownUrl, { atMs: await momentFor(from), who, from: path });
  end = await copyRecords(copy, end);
  const { pruning } = await from.chain.segment(end.sequence, 0);
  await rows.finish(end, pruning?.sequence ?? 0, () => copyRows(copy, 'all'));
  return { end, recordCount: await countRecords(copy, end), stoppedMs: performance.now() - stoppedAtMs };
}

/**
 * Each stretch was compared when it was copied, and stretches follow each other without gaps, so comparing
 * the ends is enough.
 */
async function countRecords({ from, to }: CopyHandles, end: Link): Promise<number> {
  const [here, there] = await Promise.all(
    [from, to].map(async ({ chain }) => {
      const { records, firstSequence, lastSequence } = await chain.segment(end.sequence - 1, 1);
      return { firstSequence, lastSequence, hash: records[0]?.hash };
    }),
  );
  if (here?.hash !== end.hash || !isDeepStrictEqual(here, there))
    throw new StoreError('internal', 'the records in the database are not those of the file');
  return end.sequence - (here.firstSequence ?? end.sequence + 1) + 1;
}

/** For a database that an earlier copy has completed, when that copy could not report its end. */
async function wholeAlready(copy: CopyHandles, hasMoved: boolean): Promise<CopyResult> {
  const { records, lastSequence } = await lastOf(copy.from);
  const { records: there } = await copy.to.chain.segment(lastSequence - 1, 1);
  const hash = records[0]?.hash;
  if (!hasMoved || hash === undefined || hash !== there[0]?.hash)
    throw new StoreError('foreign-database', 'the database is not empty: name an empty one');
  const end = { sequence: lastSequence, hash };
  return { end, recordCount: await countRecords(copy, end), stoppedMs: 0 };
}

async function lastOf({ chain }: Store): ReturnType<Store['chain']['segment']> {
  const { lastSequence } = await chain.segment(0, 0);
  return await chain.segment(lastSequence - 1, 1);
}

async function isMine(from: Store): Promise<boolean> {
  try {
    await from.serve();
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'already-served') return false;
    throw error;
  }
}

/** Returns the time of a new record, which must not be before that of an earlier record. */
async function momentFor({ chain }: Store): Promise<number> {
  return Math.max(Date.now(), (await chain.latestAtMs()) ?? 0);
}

/**
 * Returns the last record that the database already has, or the place where the file begins when it has none.
 */
async function endOfCopy({ from, to, rows }: CopyHandles): Promise<Link> {
  const { lastSequence } = await to.chain.segment(0, 0);
  const [{ pruning, records: here }, { records: there }] = await Promise.all([
    from.chain.segment(lastSequence - 1, 1),
    to.chain.segment(lastSequence - 1, 1),
  ]);
  const begin = pruning ?? chainStart;
  if (lastSequence === 0) return begin;
  if (lastSequence <= begin.sequence) {
    await rows.clear();
    return begin;
  }
  const last = there[0];
  if (last === undefined || last.hash !== here[0]?.hash)
    throw new StoreError(
      'foreign-database',
      'the database has records of another store: name an empty database',
    );
  return { sequence: lastSequence, hash: last.hash };
}

/**
 * Copies the records after a place and returns the last one. A stretch is read and checked while the one
 * before is stored.
 */
async function copyRecords(copy: CopyHandles, after: Link): Promise<Link> {
  const { from, onProgress, recordsAtOnce = recordsAtOnceDefault } = copy;
  let storing: Promise<void> = Promise.resolve();
  for (let end = after; ; ) {
    const { records, lastSequence } = await from.chain.segment(end.sequence, recordsAtOnce);
    const isLast = records.length === 0 && end.sequence >= lastSequence;
    const next = isLast ? end : checkLinks(records, end);
    await storing;
    onProgress({ kind: 'records', done: end.sequence, all: lastSequence });
    if (isLast) return end;
    storing = storeRecords(copy, records);
    // The next turn of the loop awaits the promise and sees its error.
    storing.catch(() => {});
    end = next;
  }
}

async function storeRecords({ rows }: CopyHandles, records: readonly ChainRecord[]): Promise<void> {
  if (await rows.append(records)) return;
  const first = records[0]?.entry.sequence;
  throw new StoreError('internal', `the copied records from ${first} on differ from the originals`);
}

function checkLinks(records: readonly ChainRecord[], after: Link): Link {
  let end = after;
  for (const { entry, hash } of records) {
    if (entry.sequence !== end.sequence + 1 || linkHash(end.hash, entry) !== hash)
      throw tampered(`record ${end.sequence + 1} is not as it was written`);
    end = { sequence: entry.sequence, hash };
  }
  if (end === after) throw tampered(`record ${end.sequence + 1} is missing`);
  return end;
}

/**
 * Replaces rows that differ, table by table, and checks them again afterwards. The sums of a large table are
 * remembered: nobody else writes to the database, so once the service has stopped only the file is read as a
 * whole.
 */
async function copyRows({ file, rows, seen }: CopyHandles, which: 'large ones' | 'all'): Promise<void> {
  file.lookAnew();
  for (const table of file.tables) {
    if (which === 'large ones' && !table.isLarge) continue;
    const columns = file.columns(table);
    const asking = seen.get(table.name) ?? rows.sums(table, { columns });
    const present = file.sums(table);
    const there = new Map(await asking);
    for (const bucket of differing(present, there)) {
      await rows.replace(table, { columns, bucket, rows: file.rows(table, bucket) });
      there.delete(bucket);
      for (const [name, sum] of await rows.sums(table, { columns, bucket })) there.set(name, sum);
    }
    if (differing(present, there).length > 0)
      throw new StoreError('internal', `the copied rows of \`${table.name}\` differ from the originals`);
    if (table.isLarge) seen.set(table.name, there);
  }
}
