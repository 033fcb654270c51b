// The file that the thread of a replay starts with.

import { parentPort } from 'node:worker_threads';
import { serveReplay } from './replay-worker.ts';

if (parentPort === null) throw new Error('a replay runs as a worker thread');
serveReplay(parentPort);
