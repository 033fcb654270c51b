// The end of a thread beside a store on which no record depends.

import type { Worker } from 'node:worker_threads';

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
