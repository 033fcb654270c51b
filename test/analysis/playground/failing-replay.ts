// The thread of a replay for tests; a file laid over the set can make it fail.

import { parentPort } from 'node:worker_threads';
import { serveReplay } from '../../../src/analysis/replay/replay-worker.ts';
import { failAsAsked } from './thread-fault.ts';

if (parentPort === null) throw new Error('for use as a worker thread');

serveReplay(parentPort, ({ files }) => failAsAsked(files, { file: import.meta.filename, slowMs: 1_000 }));
