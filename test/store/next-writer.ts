// The thread that the next store of this process will have.

import type { Worker } from 'node:worker_threads';
import { giveWriterBack, takeWriter } from '../../src/service/store/sqlite/writer-thread.ts';

export function nextWriter(): Worker {
  const writer = takeWriter();
  giveWriterBack(writer);
  return writer;
}
