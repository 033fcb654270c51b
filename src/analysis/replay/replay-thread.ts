// Entry point of a replay's worker thread.

import { parentPort } from 'node:worker_threads';
import { serveReplay } from './replay-worker.ts';

if (parentPort === null) throw new Error('a replay runs as a worker thread');
serveReplay(parentPort);
