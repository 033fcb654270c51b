// The threads that write, one an open store. To start one costs about as much as to open a store: one whose store is closed
// serves the next that this process opens.

import { Worker } from 'node:worker_threads';

const idle: Worker[] = [];
const idleMax = 2;

/** A thread that has no database open. */
export function takeWriter(): Worker {
  const known = idle.pop();
  known?.off('exit', forget);
  known?.ref();
  return known ?? new Worker(new URL('./writer.ts', import.meta.url));
}

/** Gives a thread back for the next store: only one that has closed its database, or could not open it. Without a store it does not keep the process alive. */
export function giveWriterBack(worker: Worker): void {
  if (idle.length === idleMax) return void worker.terminate();
  idle.push(worker);
  worker.once('exit', forget);
  worker.unref();
}

function forget(this: Worker): void {
  const at = idle.indexOf(this);
  if (at >= 0) idle.splice(at, 1);
}
