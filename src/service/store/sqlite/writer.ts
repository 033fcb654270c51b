// The writer's thread: batches of writes into transactions, one a batch. It answers `done` only after COMMIT has
// reached the disk. A write that the database refuses is undone and answered by itself; on any other error the whole
// batch is rolled back and answered `failed`, and the thread lives on.

import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { knownMasterKey, masterKeyCheck, masterKeyMismatch } from '../contract/master-key.ts';
import type { NonceUse } from '../contract/records.ts';
import { sealKeyOf } from '../contract/seal.ts';
import { type BatchMessage, readBatch } from './batch-message.ts';
import { prepareChain } from './chain/chain.ts';
import { createLinkHasher } from './chain/link-hasher.ts';
import { type StoreFailure, toFailure } from './file/errors.ts';
import { prepareBasisCheck } from './grant-basis.ts';
import { migrate } from './migrate.ts';
import { prepareNonceWrites } from './nonces.ts';
import { prepareSeal } from './seal/seal.ts';
import { prepareWrites, type Write, type WriteKind, type WriteResults } from './writes.ts';

export interface WriterData {
  readonly path: string;
  /** How long a transaction waits for another process, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Who makes the changes of management that come through this thread. */
  readonly actor: string;
  readonly masterKey: Uint8Array;
  /** The master key remembers that this database has a seal. */
  readonly isSealed: boolean;
}

interface Batch {
  readonly writes: readonly Write[];
  readonly nonces: readonly NonceUse[];
}

/** What a write answered, or why it alone was refused. */
export type WriteOutcome = WriteResults[WriteKind] | StoreFailure;

export type ToWriter =
  | { readonly kind: 'batch'; readonly writes: BatchMessage; readonly nonces: readonly NonceUse[] }
  | { readonly kind: 'close' };

export type FromWriter =
  | { readonly kind: 'ready' }
  /** The database could not be opened; the thread ends. */
  | { readonly kind: 'refused'; readonly failure: StoreFailure }
  /** Every write of the batch is durable, or was refused for what it found; the nonces are durable. */
  | { readonly kind: 'done'; readonly outcomes: readonly WriteOutcome[] }
  /** Nothing of the batch is stored. */
  | { readonly kind: 'failed'; readonly failure: StoreFailure };

const cacheKibibytes = 64 * 1024;
const pageBytes = 8192;

// The thread is started by this project alone, with this data.
const { path, busyTimeoutMs, actor, ...guards } = workerData as WriterData;
const port = parentPort;
if (port === null) throw new Error('the writer runs as a worker thread');

try {
  const database = openForWriting();
  const applyBatch = prepareBatches(database);
  port.on('message', (message: ToWriter) => {
    switch (message.kind) {
      case 'batch':
        return reply(applyBatch({ writes: readBatch(message.writes), nonces: message.nonces }));
      case 'close':
        database.close();
        return port.close();
    }
  });
  reply({ kind: 'ready' });
} catch (error) {
  reply({ kind: 'refused', failure: toFailure(error, path) });
  port.close();
}

function reply(message: FromWriter): void {
  port?.postMessage(message);
}

function openForWriting(): Database.Database {
  const database = new Database(path, { timeout: busyTimeoutMs });
  try {
    database.pragma('trusted_schema = OFF');
    database.pragma('foreign_keys = ON');
    // Of a new file: a record takes about half of a page of the usual size, and of two halves one is often left empty.
    database.pragma(`page_size = ${pageBytes}`);
    checkMasterKey(database);
    migrate(database, guards);
    useWriteAheadLog(database);
    database.pragma('synchronous = FULL');
    // The leaves of the indices that records are put into at random: without them in memory, appending gets dearer as
    // records grow.
    database.pragma(`cache_size = -${cacheKibibytes}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Before anything is written under another key. */
function checkMasterKey(database: Database.Database): void {
  const known = knownMasterKey(database);
  if (known !== null && known !== masterKeyCheck(guards.masterKey)) throw masterKeyMismatch(`${path}.key`);
}

/** The change of journal does not wait for a lock by itself, so two processes that open a new file would collide. */
function useWriteAheadLog(database: Database.Database): void {
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

function prepareBatches(database: Database.Database): (batch: Batch) => FromWriter {
  const chain = prepareChain(database, createLinkHasher());
  const seal = prepareSeal(database, sealKeyOf(guards.masterKey));
  const basis = prepareBasisCheck(database);
  const apply = prepareWrites(database, { chain, actor, basis });
  // Inside the batch's transaction this is a savepoint.
  const applyUndoably = database.transaction(apply);
  const noteNonces = prepareNonceWrites(database);

  function applyAlone(write: Write): WriteOutcome {
    const [end, mark] = [chain.end(), seal.mark()];
    try {
      return applyUndoably(write);
    } catch (error) {
      const failure = toFailure(error, path);
      // A full disk and the like concern the whole batch, and may already have ended its transaction.
      if (failure.code !== 'internal' || !database.inTransaction) throw error;
      chain.rewind(end);
      seal.rewind(mark);
      basis.forget();
      return failure;
    }
  }

  // IMMEDIATE takes the write lock first: what a write finds cannot change before it commits. Of a batch that throws,
  // at COMMIT too, the whole is rolled back.
  const transaction = database.transaction(
    ({ writes, nonces }: Batch, applyOne: (write: Write) => WriteOutcome) => {
      const mayDiffer = chain.refresh();
      const isAccepting = writes.some(({ kind }) => kind === 'accept-state');
      if (!isAccepting) seal.begin(chain.end(), mayDiffer);
      if (mayDiffer) basis.forget();
      noteNonces(nonces);
      const outcomes = writes.map(applyOne);
      if (isAccepting) seal.renew(chain.end());
      else seal.finish(chain.end());
      return outcomes;
    },
  );
  // A savepoint for each write costs half as much as the write. Hardly ever is one refused by the database itself, so
  // they are taken only once that has happened, and the batch begins anew.
  const forget = (): void => {
    chain.forget();
    seal.forget();
    basis.forget();
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
  return (batch) => {
    try {
      return { kind: 'done', outcomes: applyTogether(batch) };
    } catch (error) {
      forget();
      // Within a transaction that could not be rolled back no later batch would be durable: the thread must end.
      if (database.inTransaction) throw error;
      return { kind: 'failed', failure: toFailure(error, path) };
    }
  };
}
