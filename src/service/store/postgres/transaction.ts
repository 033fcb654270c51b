// A write of any kind but that of requests: a transaction of its own, in which no other such write comes between. Batches of
// requests go on beside it until its records are put at the end of lane 0, all at once with its end. INVARIANT: what a write
// changes and the records of it are stored together or not at all; batches before the records have seen nothing of it, and those
// after see all.

import { type CanonicalValue, canonicalJson } from '../contract/canonical-json.ts';
import type { RecordKind } from '../contract/chain.ts';
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
  /** A record that is put at the end of lane 0 when the write ends. */
  append(kind: WrittenKind, columns: Columns): void;
  recordChange(change: Change): void;
  /** Resolves when no batch is under way, nor will be before the write ends: for one that looks at what they store. */
  alone(): Promise<void>;
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

/** A record without its place, and its canonical JSON around what it follows and its number. */
interface NewRecord {
  readonly table: string;
  readonly row: string;
  readonly parts: readonly [head: string, between: string, tail: string];
}

export interface TransactionOptions {
  readonly fence: Fence;
  readonly nonces: readonly NonceUse[];
  /** Who makes the changes that name nobody. */
  readonly actor: string;
  /** It holds nobody up: it looks at nothing, and no decision rests on what it stores. */
  readonly isBeside?: boolean;
}

/** Rejects with what the server reported; nothing is stored then unless the connection is lost. */
export async function inTransaction<T>(
  connection: Connection,
  { fence, nonces, actor, isBeside = false }: TransactionOptions,
  work: Work<T>,
): Promise<T> {
  const rows = <R>(text: string, values: readonly unknown[] = []) => connection.query<R>({ text }, values);
  const begin = isBeside ? 'writ_fence' : 'writ_begin';
  // What the work asks is sent behind it at once, and fails where it does.
  const begun = Promise.all([
    rows('BEGIN'),
    rows(`SELECT ${begin}($1, $2, $3)`, [fence.slot, fence.epoch, fence.batch]),
  ]);
  // Looked at below, whenever it fails.
  begun.catch(() => undefined);
  const { transaction, records } = createTransaction(rows, { actor, slot: fence.slot });
  let value: T;
  try {
    value = await work(transaction);
  } catch (error) {
    // Where that does not work either the server ends the transaction with the connection.
    if (!connection.isLost()) await rows('ROLLBACK').catch(() => connection.destroy());
    throw await begun.then(
      () => error,
      (first: unknown) => first,
    );
  }
  const ending = records.length === 0 ? [] : [putRecords(rows, records, !isBeside)];
  // Where one fails, the server rolls back.
  await Promise.all([begun, ...ending, ...insertNonces(rows, nonces, fence.instance), rows('COMMIT')]);
  return value;
}

async function putRecords(
  rows: Transaction['rows'],
  records: readonly NewRecord[],
  isAlone: boolean,
): Promise<void> {
  const part = (at: 0 | 1 | 2) => records.map(({ parts }) => parts[at]);
  await rows('SELECT writ_records($1, $2, $3, $4, $5, $6)', [
    ...[isAlone, records.map(({ table }) => table), records.map(({ row }) => row)],
    ...[part(0), part(1), part(2)],
  ]);
}

function insertNonces(
  rows: Transaction['rows'],
  nonces: readonly NonceUse[],
  owner: string,
): readonly Promise<unknown>[] {
  const latest = nonces.at(-1);
  if (latest === undefined) return [];
  return [
    rows(
      `INSERT INTO nonces (kept_until_ms, used_ms, nonce, owner)
       SELECT kept_until, used, nonce, $4 FROM unnest($1::int8[], $2::int8[], $3::text[]) AS n(kept_until, used, nonce)
       ORDER BY nonce COLLATE "C" ON CONFLICT DO NOTHING`,
      [
        ...[nonces.map((use) => use.keptUntilMs), nonces.map((use) => use.usedAtMs)],
        ...[nonces.map((use) => use.nonce), owner],
      ],
    ),
    rows(
      `DELETE FROM nonces WHERE nonce IN (
         SELECT nonce FROM nonces WHERE kept_until_ms < $1 FOR UPDATE SKIP LOCKED)`,
      [latest.usedAtMs],
    ),
  ];
}

function createTransaction(
  rows: Transaction['rows'],
  { actor, slot }: { readonly actor: string; readonly slot: number | null },
) {
  const records: NewRecord[] = [];
  const insert = async (table: string, columns: Columns, onConflict = ''): Promise<number> => {
    const names = Object.keys(columns);
    const places = names.map((_, at) => `$${at + 1}`);
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')}) ${onConflict} RETURNING 1`;
    return (await rows(text, Object.values(columns))).length;
  };
  const append = (kind: WrittenKind, columns: Columns): void => {
    const by = kind === 'change' || kind === 'knot' ? {} : { slot };
    const row = JSON.stringify({ ...columns, ...by });
    records.push({ table: tables[kind], row, parts: partsOf(kind, columns) });
  };
  const recordChange = ({ atMs, what, who = actor, subject, before, after }: Change): void => {
    const text = (value: CanonicalValue) => (value === null ? null : canonicalJson(value));
    const columns = { at_ms: atMs, who, what, subject, before_json: text(before), after_json: text(after) };
    append('change', columns);
  };
  const alone = async () => void (await rows('SELECT writ_alone()'));
  const transaction: Transaction = { rows, insert, append, recordChange, alone, slot };
  return { transaction, records };
}

function partsOf(kind: WrittenKind, columns: Columns): NewRecord['parts'] {
  const [follows, sequence] = ['"follows":', '"sequence":'];
  const text = canonicalJson({ ...columns, follows: 0, kind, sequence: 0 });
  // A quotation mark within a value has a backslash before it.
  const [followsAt, sequenceAt] = [text.indexOf(follows), text.indexOf(sequence) + sequence.length];
  const between = text.slice(followsAt + `${follows}0,`.length, sequenceAt);
  return [text.slice(0, followsAt), between, text.slice(sequenceAt + '0'.length)];
}
