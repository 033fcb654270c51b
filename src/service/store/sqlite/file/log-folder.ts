// The inside of the thread that folds the write-ahead log into the database file. It never waits for the
// writer, and the writer never waits for it.

import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

interface LogState {
  /** Pages in the log, and how many of them are in the file already. */
  readonly log: number;
  readonly checkpointed: number;
}

const lookAgainMs = 100;
/** A fold ends with a write to the disk, which is not worth it for few pages. */
const pagesMin = 4_000;

// Only this project starts the thread, and with this data.
const { path } = workerData as { readonly path: string };
const database = new Database(path, { fileMustExist: true });
database.pragma('synchronous = FULL');
const readLogState = database.prepare<[], LogState>('PRAGMA wal_checkpoint(NOOP)');
const fold = database.prepare<[], LogState>('PRAGMA wal_checkpoint(PASSIVE)');

const timer = setInterval(() => {
  const state = readLogState.get();
  if (state !== undefined && state.log - state.checkpointed >= pagesMin) fold.get();
}, lookAgainMs);

parentPort?.once('message', () => {
  clearInterval(timer);
  database.close();
});
