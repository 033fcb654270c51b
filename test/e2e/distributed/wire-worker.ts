// The thread of one wire to the database server.

import { parentPort, workerData } from 'node:worker_threads';
import { openWire } from '../../service/store/cut-wire.ts';
import type { WireWord } from './wire-thread.ts';

// Set by the code that started the thread.
const { socket, name } = workerData as { readonly socket: string; readonly name: string };
const wire = await openWire({ socket }, { name });
parentPort?.on('message', (word: WireWord) => {
  if (typeof word === 'object') wire.slow(word.slowMs);
  else wire[word]();
  if (word === 'close') parentPort?.close();
});
parentPort?.postMessage(wire.url);
