// The writer thread of the next store that this process opens.

import type { Worker } from 'node:worker_threads';
import { acquireWriter, releaseWriter } from '../../../src/service/store/sqlite/writer-thread.ts';

export function nextWriter(): Worker {
  const writer = acquireWriter();
  releaseWriter(writer);
  return writer;
}
