// The threads that write, one for each open store. Starting a thread costs about as much as opening a store,
// so a thread whose store is closed serves the next store that this process opens.

import { Worker } from 'node:worker_threads';

const idle: Worker[] = [];
const idleMax = 2;

/** Returns a thread that has no database open. */
export function acquireWriter(): Worker {
  const idleWriter = idle.pop();
  idleWriter?.off('exit', forget);
  idleWriter?.ref();
  return idleWriter ?? new Worker(new URL('./writer.ts', import.meta.url));
}

/**
 * Gives back a thread for the next store; the thread must have closed its database, or have failed to open
 * it. Without a store the thread does not keep the process alive.
 */
export function releaseWriter(worker: Worker): void {
  if (idle.length === idleMax) return void worker.terminate();
  idle.push(worker);
  worker.once('exit', forget);
  worker.unref();
}

function forget(this: Worker): void {
  const at = idle.indexOf(this);
  if (at >= 0) idle.splice(at, 1);
}
