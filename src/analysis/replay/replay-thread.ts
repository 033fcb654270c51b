// Entry point of a replay's worker thread.

import { parentPort } from 'node:worker_threads';
import { serveReplay } from './replay-worker.ts';

if (parentPort === null) throw new Error('the replay was started outside a worker thread');
serveReplay(parentPort);
