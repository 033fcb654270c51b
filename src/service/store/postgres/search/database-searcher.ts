// The thread that searches a database in PostgreSQL.

import { parentPort, workerData } from 'node:worker_threads';
import { runSearcher } from '../../shared/search/search-worker.ts';
import { toStoreFailure } from '../server/errors.ts';
import { openDatabaseIndex } from './database-index.ts';

interface DatabaseSearcherData {
  readonly url: string;
}

// Only this project starts the thread, and with this data.
const { url } = workerData as DatabaseSearcherData;
if (parentPort === null) throw new Error('the searcher was started outside a worker thread');
runSearcher({
  port: parentPort,
  index: openDatabaseIndex(url),
  failureOf: (error) => {
    const { code, message, cause } = toStoreFailure(error);
    return { code, message, detail: String(cause ?? '') };
  },
});
