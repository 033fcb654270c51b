// The playground's thread for tests; a file laid over the set can make it fail.

import { parentPort } from 'node:worker_threads';
import type { PlaygroundInputs } from '../../../src/analysis/playground-questions.ts';
import { servePlayground } from '../../../src/analysis/playground-worker.ts';
import { failAsAsked } from './thread-fault.ts';

if (parentPort === null) throw new Error('for use as a worker thread');

servePlayground(parentPort, ({ question, input: asked }) => {
  if (question !== 'try' && question !== 'compare') return;
  failAsAsked((asked as PlaygroundInputs['compare']).files, { file: import.meta.filename, slowMs: 1_500 });
});
