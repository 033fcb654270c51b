// Entry point of the compiler's worker thread.

import { parentPort, workerData } from 'node:worker_threads';
import type { CompilerData } from './compiler-messages.ts';
import { serveCompiler } from './compiler-worker.ts';

if (parentPort === null) throw new Error('the compiler was started outside a worker thread');
// Only this project starts the thread, and always with this data.
serveCompiler(parentPort, workerData as CompilerData);
