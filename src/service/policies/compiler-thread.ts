// The file that the compiler's thread starts with.

import { parentPort, workerData } from 'node:worker_threads';
import type { CompilerData } from './compiler-messages.ts';
import { serveCompiler } from './compiler-worker.ts';

if (parentPort === null) throw new Error('the compiler runs as a worker thread');
// The thread is started by this project alone, with this data.
serveCompiler(parentPort, workerData as CompilerData);
