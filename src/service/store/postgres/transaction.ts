// A write of any kind but that of requests: a transaction of its own at the end of lane 0, beside which nobody stores anything, so
// that what it looks for cannot change before it commits. INVARIANT: what a write changes and the records of it are stored together or
// not at all.

import { type CanonicalValue, canonicalJson } from '../contract/canonical-json.ts';
import { type ChainEntry, type Link, linkHash, type RecordKind } from '../contract/chain.ts';
import type { NonceUse } from '../contract/records.ts';
import type { Fence } from './fence.ts';
import type { Connection } from './server/connection.ts';

/** What a write does, and what it answers. */
export type Work<T> = (transaction: Transaction) => Promise<T>;

type Columns = Readonly<Record<string, string | number | boolean | null>>;

export interface Change {
  readonly atMs: number;
  /** Such as `agent-added`. */
  readonly what: string;
  /** The store's own actor where nobody is named. */
  readonly who?: string | undefined;
  /** The id of the agent or document; empty where neither is concerned. */
  readonly subject: string;
  /** Null where there was nothing. */
  readonly before: CanonicalValue;
  readonly after: CanonicalValue;
}

export interface Transaction {
  rows<R>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
  /** How many rows were written; the columns are those of the object, named by this store alone. */
  insert(table: string, columns: Columns, onConflict?: string): Promise<number>;
  /** A record at the end of lane 0, after all others; false where its id is in use, and then nothing of it is stored. */
  append(kind: WrittenKind, columns: Columns): Promise<boolean>;
  /** As `append`, of records with the same columns, by one statement; rejects where one of their ids is in use. */
  appendAll(kind: WrittenKind, all: readonly Columns[]): Promise<void>;
  recordChange(change: Change): Promise<void>;
  /** Of the process; null where it does not serve. */
  readonly slot: number | null;
}

const tables = {
  refusal: 'refusals',
  change: 'changes',
  event: 'request_events',
  knot: 'knots',
} as const satisfies Record<Exclude<RecordKind, 'request'>, string>;

export type WrittenKind = keyof typeof tables;

/** The last record of lane 0, and the last number that was given out in any. */
interface Begin extends Link {
  readonly number: number;
}

export interface TransactionOptions {
  readonly fence: Fence;
  readonly nonces: readonly NonceUse[];
  /** Who makes the changes that name nobody. */
  readonly actor: string;
}

/** Rejects with what the server reported; nothing is stored then unless the connection is lost. */
export async function inTransaction<T>(
  connection: Connection,
  { fence, nonces, actor }: TransactionOptions,
  work: Work<T>,
): Promise<T> {
  const rows = <R>(text: string, values: readonly unknown[] = []) => connection.query<R>({ text }, values);
  let value: T;
  let end: Link | null;
  try {
    const [, [begin]] = await Promise.all([
      rows('BEGIN'),
      rows<Begin>('SELECT number, sequence, hash FROM writ_begin($1, $2, $3)', [
        ...[fence.slot, fence.epoch, fence.batch],
      ]),
      insertNonces(rows, nonces, fence.instance),
    ]);
    if (begin === undefined) throw new Error('the chain has an end');
    const { transaction, moved } = createTransaction(rows, begin, { actor, slot: fence.slot });
    value = await work(transaction);
    end = moved();
  } catch (error) {
    // Where that does not work either the server ends the transaction with the connection.
    if (!connection.isLost()) await rows('ROLLBACK').catch(() => connection.destroy());
    throw error;
  }
  const ending = end === null ? [] : [rows('SELECT writ_end($1, $2)', [end.sequence, end.hash])];
  // Where the first fails, the server rolls back.
  await Promise.all([...ending, rows('COMMIT')]);
  return value;
}

async function insertNonces(
  rows: Transaction['rows'],
  nonces: readonly NonceUse[],
  owner: string,
): Promise<void> {
  const latest = nonces.at(-1);
  if (latest === undefined) return;
  await rows(
    `INSERT INTO nonces (kept_until_ms, used_ms, nonce, owner)
     SELECT kept_until, used, nonce, $4 FROM unnest($1::int8[], $2::int8[], $3::text[]) AS n(kept_until, used, nonce)
     ON CONFLICT DO NOTHING`,
    [
      ...[nonces.map((use) => use.keptUntilMs), nonces.map((use) => use.usedAtMs)],
      ...[nonces.map((use) => use.nonce), owner],
    ],
  );
  await rows('DELETE FROM nonces WHERE kept_until_ms < $1', [latest.usedAtMs]);
}

function createTransaction(
  rows: Transaction['rows'],
  begin: Begin,
  { actor, slot }: { readonly actor: string; readonly slot: number | null },
) {
  let end: Link = begin;
  let { number } = begin;
  const insert = async (table: string, columns: Columns, onConflict = ''): Promise<number> => {
    const names = Object.keys(columns);
    const places = names.map((_, at) => `$${at + 1}`);
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')}) ${onConflict} RETURNING 1`;
    return (await rows(text, Object.values(columns))).length;
  };
  const recordAfter = (last: Link, kind: WrittenKind, columns: Columns) => {
    const sequence = Math.max(number, last.sequence) + 1;
    const follows = last.sequence === sequence - 1 ? {} : { follows: last.sequence };
    // Columns of records hold texts, numbers and nulls.
    const hash = linkHash(last.hash, { ...columns, ...follows, kind, sequence } as ChainEntry);
    const by = kind === 'change' || kind === 'knot' ? {} : { slot };
    return { ...columns, ...follows, ...by, sequence, hash };
  };
  const goOn = ({ sequence, hash }: Link): void => {
    end = { sequence, hash };
    number = sequence;
  };
  const append = async (kind: WrittenKind, columns: Columns): Promise<boolean> => {
    const record = recordAfter(end, kind, columns);
    const onConflict = 'id' in columns ? 'ON CONFLICT (id) DO NOTHING' : '';
    if ((await insert(tables[kind], record, onConflict)) === 0) return false;
    goOn(record);
    return true;
  };
  const appendAll = async (kind: WrittenKind, all: readonly Columns[]): Promise<void> => {
    let last = end;
    const records = all.map((columns) => {
      const record = recordAfter(last, kind, columns);
      last = record;
      return record;
    });
    const names = Object.keys(records[0] ?? {}).join(', ');
    const table = tables[kind];
    const text = `INSERT INTO ${table} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${table}, $1::json)`;
    await rows(text, [JSON.stringify(records)]);
    goOn(last);
  };
  const recordChange = async ({ atMs, what, who = actor, subject, before, after }: Change) => {
    const text = (value: CanonicalValue) => (value === null ? null : canonicalJson(value));
    const columns = { at_ms: atMs, who, what, subject, before_json: text(before), after_json: text(after) };
    await append('change', columns);
  };
  const transaction: Transaction = { rows, insert, append, appendAll, recordChange, slot };
  return { transaction, moved: () => (end === begin ? null : end) };
}
