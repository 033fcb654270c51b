// The thread that searches a database in a file.

import { parentPort, workerData } from 'node:worker_threads';
import { runSearcher } from '../../shared/search/search-worker.ts';
import { toFailure } from '../file/errors.ts';
import { openFileIndex } from './file-index.ts';

interface FileSearcherData {
  readonly path: string;
  readonly busyTimeoutMs: number;
}

// Only this project starts the thread, and with this data.
const { path, busyTimeoutMs } = workerData as FileSearcherData;
if (parentPort === null) throw new Error('the searcher was started outside a worker thread');
runSearcher({
  port: parentPort,
  index: openFileIndex(path, busyTimeoutMs),
  failureOf: (error) => toFailure(error, path),
});
