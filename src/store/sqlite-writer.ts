// The writer's thread: batches of writes into transactions, one a batch. It answers `done` only after COMMIT has
// reached the disk; on any error it rolls the whole batch back, answers `failed` and lives on.

import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { migrate } from './migrate.ts';
import { type StoreFailure, toFailure } from './sqlite-errors.ts';
import { prepareWrites, type Write, type WriteKind, type WriteResults } from './sqlite-writes.ts';

export interface WriterData {
  readonly path: string;
  /** How long a transaction waits for another process, in milliseconds. */
  readonly busyTimeoutMs: number;
}

export type ToWriter =
  | { readonly kind: 'batch'; readonly writes: readonly Write[] }
  | { readonly kind: 'close' };

export type FromWriter =
  | { readonly kind: 'ready' }
  /** The database could not be opened; the thread ends. */
  | { readonly kind: 'refused'; readonly failure: StoreFailure }
  /** Every write of the batch is durable, or was refused for what it found. */
  | { readonly kind: 'done'; readonly results: readonly WriteResults[WriteKind][] }
  /** Nothing of the batch is stored. */
  | { readonly kind: 'failed'; readonly failure: StoreFailure };

// The thread is started by this project alone, with this data.
const { path, busyTimeoutMs } = workerData as WriterData;
const port = parentPort;
if (port === null) throw new Error('the writer runs as a worker thread');

try {
  const database = openForWriting();
  const applyBatch = prepareBatches(database);
  port.on('message', (message: ToWriter) => {
    switch (message.kind) {
      case 'batch':
        return reply(applyBatch(message.writes));
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
    migrate(database);
    useWriteAheadLog(database);
    database.pragma('synchronous = FULL');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
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

function prepareBatches(database: Database.Database): (writes: readonly Write[]) => FromWriter {
  const apply = prepareWrites(database);
  // IMMEDIATE takes the write lock first: what a write finds cannot change before it commits. Of a batch that throws,
  // at COMMIT too, the whole is rolled back.
  const transaction = database.transaction((writes: readonly Write[]) => writes.map(apply));
  return (writes) => {
    try {
      return { kind: 'done', results: transaction.immediate(writes) };
    } catch (error) {
      // Within a transaction that could not be rolled back no later batch would be durable: the thread must end.
      if (database.inTransaction) throw error;
      return { kind: 'failed', failure: toFailure(error, path) };
    }
  };
}
