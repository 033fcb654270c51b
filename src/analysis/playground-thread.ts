// Entry point of the playground's worker thread.

import { parentPort } from 'node:worker_threads';
import { servePlayground } from './playground-worker.ts';

if (parentPort === null) throw new Error('the playground was started outside a worker thread');
servePlayground(parentPort);
