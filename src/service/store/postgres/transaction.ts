// A write of any kind but requests: a transaction of its own, during which no other such write runs. Batches
// of requests go on beside it until it puts its records at the end of lane 0, in one step with its own end.
// INVARIANT: what a write changes and the records of it are stored together or not at all; batches before the
// records have seen nothing of the write, and those after see all of it.

import { type CanonicalValue, canonicalJson } from '../contract/canonical-json.ts';
import type { RecordKind } from '../contract/chain.ts';
import type { NonceUse } from '../contract/records.ts';
import type { PreparedRequest } from './append.ts';
import type { Fence } from './fence.ts';
import type { Connection } from './server/connection.ts';
import { keepSchema } from './server/schema.ts';

/** What a write does; its result is the answer to the caller. */
export type Work<T> = (transaction: Transaction) => Promise<T>;

type Columns = Readonly<Record<string, string | number | boolean | null>>;

export interface Change {
  readonly atMs: number;
  /** What happened, such as `agent-added`. */
  readonly what: string;
  /** The author's name in the record; the store's own actor when absent. */
  readonly who?: string | undefined;
  /** The id of the agent or document; empty when the change concerns neither. */
  readonly subject: string;
  /** The subject before the change; null when there was none. */
  readonly before: CanonicalValue;
  readonly after: CanonicalValue;
}

export interface Transaction {
  rows<R>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
  /**
   * Inserts a row and returns how many rows were written. The names of `columns` go into the SQL, so they
   * must come from this store's code.
   */
  insert(table: string, columns: Columns, onConflict?: string): Promise<number>;
  /**
   * Adds a record, which is put at the end of lane 0 when the write ends; `beside` are columns of its row that
   * are no part of the record.
   */
  append(kind: WrittenKind, columns: Columns, beside?: Columns): void;
  recordChange(change: Change): void;
  /** Adds the record of a request in the same way. */
  appendRequest(request: PreparedRequest): void;
  /**
   * Resolves when no batch is under way; none runs until the write ends. For a write that reads what batches
   * store.
   */
  alone(): Promise<void>;
  /** The slot of this process; null when it does not serve. */
  readonly slot: number | null;
}

const tables = {
  refusal: 'refusals',
  change: 'changes',
  event: 'request_events',
  knot: 'knots',
} as const satisfies Record<Exclude<RecordKind, 'request'>, string>;

export type WrittenKind = keyof typeof tables;

/**
 * A record without its place, with its canonical JSON in three parts around `follows` and the record number.
 */
interface NewRecord {
  readonly table: string;
  readonly row: string;
  readonly parts: readonly [head: string, between: string, tail: string];
}

export interface TransactionOptions {
  readonly fence: Fence;
  readonly nonces: readonly NonceUse[];
  /** The author of changes that name none. */
  readonly actor: string;
  /** Whether the write delays nobody, since it reads nothing and no decision rests on what it stores. */
  readonly isBeside?: boolean;
}

/**
 * Runs `work` in a transaction and returns its result. Rejects with what the server reported; then nothing is
 * stored, unless the connection is lost.
 */
export async function inTransaction<T>(
  connection: Connection,
  { fence, nonces, actor, isBeside = false }: TransactionOptions,
  work: Work<T>,
): Promise<T> {
  const rows = <R>(text: string, values: readonly unknown[] = []) => connection.query<R>({ text }, values);
  const begin = isBeside ? 'writ_fence' : 'writ_begin';
  // The statements of the work are sent right behind these, and fail if these fail.
  const begun = Promise.all([
    rows('BEGIN'),
    rows(`SELECT ${begin}($1, $2, $3)`, [fence.slot, fence.epoch, fence.batch]),
    // A migration takes the slots of those who serve.
    fence.slot === null ? rows(keepSchema) : [],
  ]);
  // The result is awaited below; until then a failure must not count as unhandled.
  begun.catch(() => undefined);
  const { transaction, records } = createTransaction(rows, { actor, slot: fence.slot });
  let value: T;
  try {
    value = await work(transaction);
  } catch (error) {
    // If the rollback fails, too, the connection is broken, and the server ends the transaction.
    if (!connection.isLost()) await rows('ROLLBACK').catch(() => connection.destroy());
    throw await begun.then(
      () => error,
      (first: unknown) => first,
    );
  }
  const ending = records.length === 0 ? [] : [putRecords(rows, records, !isBeside)];
  // If one of these fails, the server rolls back.
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
    const placeholders = names.map((_, at) => `$${at + 1}`);
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${placeholders.join(', ')}) ${onConflict} RETURNING 1`;
    return (await rows(text, Object.values(columns))).length;
  };
  const append = (kind: WrittenKind, columns: Columns, beside: Columns = {}): void => {
    const by = kind === 'change' || kind === 'knot' ? {} : { slot };
    const row = JSON.stringify({ ...columns, ...by, ...beside });
    records.push({ table: tables[kind], row, parts: partsOf(kind, columns) });
  };
  const recordChange = ({ atMs, what, who = actor, subject, before, after }: Change): void => {
    const text = (value: CanonicalValue) => (value === null ? null : canonicalJson(value));
    const columns = { at_ms: atMs, who, what, subject, before_json: text(before), after_json: text(after) };
    append('change', columns);
  };
  const appendRequest = ({ columns, parts: [head, before, between, after], seal }: PreparedRequest): void => {
    const row = JSON.stringify({ ...columns, slot, lane: 0, seal });
    const tail = `${after}${columns.record_json}`;
    records.push({ table: 'requests', row, parts: [head, `${before}${between}`, tail] });
  };
  const alone = async () => void (await rows('SELECT writ_alone()'));
  const transaction: Transaction = { rows, insert, append, appendRequest, recordChange, alone, slot };
  return { transaction, records };
}

function partsOf(kind: WrittenKind, columns: Columns): NewRecord['parts'] {
  const [follows, sequence] = ['"follows":', '"sequence":'];
  const text = canonicalJson({ ...columns, follows: 0, kind, sequence: 0 });
  // Inside a value a quotation mark has a backslash before it, so these texts are found only as names.
  const [followsAt, sequenceAt] = [text.indexOf(follows), text.indexOf(sequence) + sequence.length];
  const between = text.slice(followsAt + `${follows}0,`.length, sequenceAt);
  return [text.slice(0, followsAt), between, text.slice(sequenceAt + '0'.length)];
}
