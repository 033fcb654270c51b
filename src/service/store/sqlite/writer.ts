// The writer's thread. Turns batches of writes into transactions, one for each batch, and answers `done` only
// after COMMIT has reached the disk. A write that the database refuses is undone and answered alone. After
// any other error the whole batch is rolled back and answered `failed`, and the thread lives on. The thread
// has one database open at a time.

import { parentPort } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { knownMasterKey, masterKeyCheck, masterKeyMismatch } from '../contract/master-key.ts';
import { sealKeyOf } from '../contract/seal.ts';
import { createLinkHasher } from '../shared/link-hasher.ts';
import { type BatchMemory, type BatchMessage, createBatchReader } from './batch-message.ts';
import { prepareChain } from './chain/chain.ts';
import { type StoreFailure, toFailure } from './file/errors.ts';
import { migrate, prepareSchemaCheck } from './migrate.ts';
import { type NonceBatch, prepareNonceWrites } from './nonces.ts';
import { preparePreconditionCheck } from './precondition-check.ts';
import { prepareSeal } from './seal/seal.ts';
import { requireStored } from './seal/seal-check.ts';
import { sharedNow } from './shared-clock.ts';
import { prepareWrites, type Write, type WriteKind, type WriteResults } from './writes.ts';

export interface WriterData {
  readonly path: string;
  /** How long a transaction waits for another process, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** The author of changes of management through this thread that name none. */
  readonly actor: string;
  readonly masterKey: Uint8Array;
  /** Whether the master key notes that this database has a seal. */
  readonly isSealed: boolean;
  /** Whether an earlier schema may be brought up to date; the opener then holds the serving lock. */
  readonly isUpgradeAllowed: boolean;
}

interface Batch {
  readonly writes: readonly Write[];
  readonly nonces: readonly NonceBatch[];
}

/** The result of a write, or the failure of this write alone. */
export type WriteOutcome = WriteResults[WriteKind] | StoreFailure;

export type ToWriter =
  | { readonly kind: 'open'; readonly data: WriterData; readonly memories: readonly BatchMemory[] }
  | {
      readonly kind: 'batch';
      readonly writes: BatchMessage;
      /** Which of the memories has the batch. */
      readonly memory: number;
      readonly nonces: readonly NonceBatch[];
    }
  | { readonly kind: 'close' };

type BatchResult =
  /** Every write of the batch is durable, or was refused because of what it found; the nonces are durable. */
  | { readonly kind: 'done'; readonly outcomes: readonly WriteOutcome[] }
  /** Nothing of the batch is stored. */
  | { readonly kind: 'failed'; readonly failure: StoreFailure };

/** On the clock that all threads share, in milliseconds with fractions. */
interface BatchTimes {
  readonly takenAtMs: number;
  readonly committedAtMs: number;
}

export type FromWriter =
  | { readonly kind: 'ready' }
  /** The database could not be opened. */
  | { readonly kind: 'refused'; readonly failure: StoreFailure }
  | (BatchResult & BatchTimes)
  /** The database is closed; the thread may open another one. */
  | { readonly kind: 'closed' };

const cacheKibibytes = 64 * 1024;
const pageBytes = 8192;
/**
 * The pages of the write-ahead log from which on the writer folds it within a commit. In a service a thread
 * beside it has folded most of them by then (`file/log-folding.ts`).
 */
const logPagesMax = 16_000;

interface OpenDatabase {
  readonly database: Database.Database;
  readonly readers: readonly ReturnType<typeof createBatchReader>[];
  readonly applyBatch: (batch: Batch) => BatchResult;
}

let opened: OpenDatabase | null = null;

parentPort?.on('message', (message: ToWriter) => {
  switch (message.kind) {
    case 'open':
      return reply(open(message.data, message.memories));
    case 'batch': {
      if (opened === null) throw new Error('the database is not open');
      const takenAtMs = sharedNow();
      const writes = opened.readers[message.memory]!(message.writes);
      const result = opened.applyBatch({ writes, nonces: message.nonces });
      return reply({ ...result, takenAtMs, committedAtMs: sharedNow() });
    }
    case 'close':
      opened?.database.close();
      opened = null;
      return reply({ kind: 'closed' });
  }
});

function reply(message: FromWriter): void {
  parentPort?.postMessage(message);
}

function open(data: WriterData, memories: readonly BatchMemory[]): FromWriter {
  let database: Database.Database | null = null;
  try {
    database = openForWriting(data);
    const readers = memories.map(createBatchReader);
    opened = { database, readers, applyBatch: prepareBatches(database, data) };
    return { kind: 'ready' };
  } catch (error) {
    database?.close();
    return { kind: 'refused', failure: toFailure(error, data.path) };
  }
}

function openForWriting({ path, busyTimeoutMs, ...guards }: WriterData): Database.Database {
  const database = new Database(path, { timeout: busyTimeoutMs });
  try {
    database.pragma('trusted_schema = OFF');
    database.pragma('foreign_keys = ON');
    // Takes effect in a new file. A record takes about half of a page of the usual size, so the other half of
    // such a page would often stay empty.
    database.pragma(`page_size = ${pageBytes}`);
    checkMasterKey(database, path, guards.masterKey);
    migrate(database, guards);
    useWriteAheadLog(database, path, busyTimeoutMs);
    database.pragma('synchronous = FULL');
    database.pragma(`wal_autocheckpoint = ${logPagesMax}`);
    // Holds the leaves of the indexes into which records go at random: without them in memory, appending gets
    // slower as records grow in number.
    database.pragma(`cache_size = -${cacheKibibytes}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Runs before anything is written under another key. */
function checkMasterKey(database: Database.Database, path: string, masterKey: Uint8Array): void {
  const keyId = knownMasterKey(database);
  if (keyId !== null && keyId !== masterKeyCheck(masterKey)) throw masterKeyMismatch(`${path}.key`);
}

/**
 * The change to WAL does not wait for a lock by itself, so two processes that open a new file would collide.
 */
function useWriteAheadLog(database: Database.Database, path: string, busyTimeoutMs: number): void {
  const giveUpAt = Date.now() + busyTimeoutMs;
  for (;;) {
    try {
      database.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (toFailure(error, path).code !== 'locked' || Date.now() > giveUpAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

function prepareBatches(
  database: Database.Database,
  { path, actor, masterKey }: WriterData,
): (batch: Batch) => BatchResult {
  const chain = prepareChain(database, createLinkHasher());
  const sealKey = sealKeyOf(masterKey);
  const seal = prepareSeal(database, sealKey);
  const precondition = preparePreconditionCheck(database);
  const checkSchema = prepareSchemaCheck(database);
  const apply = prepareWrites(database, { chain, actor, precondition, sealKey, seal });
  // Inside the transaction of the batch this is a savepoint.
  const applyUndoably = database.transaction(apply);
  const noteNonces = prepareNonceWrites(database);

  function applyAlone(write: Write): WriteOutcome {
    const [end, mark] = [chain.end(), seal.mark()];
    try {
      return applyUndoably(write);
    } catch (error) {
      const failure = toFailure(error, path);
      // A full disk and similar errors concern the whole batch, and may already have ended its transaction.
      if (failure.code !== 'internal' || !database.inTransaction) throw error;
      chain.rewind(end);
      seal.rewind(mark);
      precondition.forget();
      return failure;
    }
  }

  // IMMEDIATE takes the write lock first, so what a write finds cannot change before it commits. When
  // anything throws, COMMIT included, the whole batch is rolled back.
  const transaction = database.transaction(
    ({ writes, nonces }: Batch, applyOne: (write: Write) => WriteOutcome) => {
      const mayDiffer = chain.refresh();
      if (mayDiffer) checkSchema();
      const isAccepting = writes.some(({ kind }) => kind === 'accept-state');
      if (!isAccepting) {
        seal.begin(chain.end(), mayDiffer);
        if (mayDiffer) requireStored(database, sealKey);
      }
      if (mayDiffer) precondition.forget();
      for (const one of nonces) noteNonces(one);
      const outcomes = writes.map(applyOne);
      if (isAccepting) seal.renew(chain.end());
      else seal.finish(chain.end());
      return outcomes;
    },
  );
  // A savepoint for each write costs half as much as the write. The database rarely refuses a write, so
  // savepoints are taken only after it has refused one: the batch is then rolled back and run again.
  const forget = (): void => {
    chain.forget();
    seal.forget();
    precondition.forget();
  };
  const applyTogether = (batch: Batch): readonly WriteOutcome[] => {
    try {
      return transaction.immediate(batch, apply);
    } catch (error) {
      forget();
      if (toFailure(error, path).code !== 'internal' || database.inTransaction) throw error;
      return transaction.immediate(batch, applyAlone);
    }
  };
  /** Uses of nonces whose batches have failed; they are stored with the next batch. */
  let owed: readonly NonceBatch[] = [];
  return (sent) => {
    const batch = owed.length === 0 ? sent : { ...sent, nonces: [...owed, ...sent.nonces] };
    try {
      const outcomes = applyTogether(batch);
      owed = [];
      return { kind: 'done', outcomes };
    } catch (error) {
      forget();
      // Inside a transaction that could not be rolled back, no later batch would be durable, so the thread
      // must end.
      if (database.inTransaction) throw error;
      owed = batch.nonces;
      return { kind: 'failed', failure: toFailure(error, path) };
    }
  };
}
