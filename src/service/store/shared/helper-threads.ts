// Start and end of a store's helper threads, on which no record depends.

import type { Worker } from 'node:worker_threads';

/** How long a service runs before they begin: one that has just begun has more urgent work. */
export const beginAfterMs = 3_000;

const endMaxMs = 1_000;

/** Asks a running thread to end, and waits until it has. A thread that takes longer than a second is ended. */
export async function endThread(thread: Worker, request: unknown): Promise<void> {
  thread.ref();
  const ended = new Promise((resolve) => thread.once('exit', resolve));
  thread.postMessage(request);
  const tooLate = setTimeout(() => void thread.terminate(), endMaxMs);
  await ended;
  clearTimeout(tooLate);
}
