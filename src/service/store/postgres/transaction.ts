// A write of any kind but that of requests: a transaction of its own at the end of the chain, whose row it holds, so that what
// it looks for cannot change before it commits. INVARIANT: what a write changes and the records of it are stored together or
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
  /** A record at the end of the chain; false where its id is in use, and then nothing of it is stored. */
  append(kind: RecordKind, columns: Columns): Promise<boolean>;
  recordChange(change: Change): Promise<void>;
  /** The number of the last record, those of this write included. */
  lastSequence(): number;
  /** Of the process; null where it does not serve. */
  readonly slot: number | null;
}

const tables = {
  request: 'requests',
  refusal: 'refusals',
  change: 'changes',
  event: 'request_events',
} as const satisfies Record<RecordKind, string>;

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
  await rows('BEGIN');
  try {
    const [begin] = await rows<Link>('SELECT sequence, hash FROM writ_begin($1, $2, $3)', [
      ...[fence.slot, fence.epoch, fence.batch],
    ]);
    if (begin === undefined) throw new Error('the chain has an end');
    const { transaction, end } = createTransaction(rows, begin, { actor, slot: fence.slot });
    await insertNonces(rows, nonces, fence.instance);
    const value = await work(transaction);
    const { sequence, hash } = end();
    await rows('UPDATE chain_end SET sequence = $1, hash = $2 WHERE id = 1', [sequence, hash]);
    await rows('COMMIT');
    return value;
  } catch (error) {
    // Where that does not work either the server ends the transaction with the connection.
    if (!connection.isLost()) await rows('ROLLBACK').catch(() => connection.destroy());
    throw error;
  }
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
  begin: Link,
  { actor, slot }: { readonly actor: string; readonly slot: number | null },
) {
  let end = begin;
  const insert = async (table: string, columns: Columns, onConflict = ''): Promise<number> => {
    const names = Object.keys(columns);
    const places = names.map((_, at) => `$${at + 1}`);
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')}) ${onConflict} RETURNING 1`;
    return (await rows(text, Object.values(columns))).length;
  };
  const append = async (kind: RecordKind, columns: Columns): Promise<boolean> => {
    const sequence = end.sequence + 1;
    // Columns of records hold texts, numbers and nulls.
    const hash = linkHash(end.hash, { ...columns, kind, sequence } as ChainEntry);
    const onConflict = 'id' in columns ? 'ON CONFLICT (id) DO NOTHING' : '';
    const by = kind === 'change' ? {} : { slot };
    if ((await insert(tables[kind], { ...columns, ...by, sequence, hash }, onConflict)) === 0) return false;
    end = { sequence, hash };
    return true;
  };
  const recordChange = async ({ atMs, what, who = actor, subject, before, after }: Change) => {
    const text = (value: CanonicalValue) => (value === null ? null : canonicalJson(value));
    const columns = { at_ms: atMs, who, what, subject, before_json: text(before), after_json: text(after) };
    await append('change', columns);
  };
  const lastSequence = () => end.sequence;
  const transaction: Transaction = { rows, insert, append, recordChange, lastSequence, slot };
  return { transaction, end: () => end };
}
