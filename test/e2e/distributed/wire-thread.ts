// Connections to the server that can be cut, in a thread of their own, so that their traffic does not wait
// for the clients of a run.

import { Worker } from 'node:worker_threads';
import type { Wire } from '../../service/store/cut-wire.ts';
import type { PostgresServer, TestDatabase } from '../../service/store/postgres-server.ts';

export type WireWord = 'cut' | 'fix' | 'close' | { readonly slowMs: number };

export async function openWireThread(
  { socket }: Pick<PostgresServer, 'socket'>,
  { name }: TestDatabase,
): Promise<Wire> {
  const worker = new Worker(new URL('./wire-worker.ts', import.meta.url), { workerData: { socket, name } });
  const url = await new Promise<string>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  worker.unref();
  const tell = (word: WireWord) => worker.postMessage(word);
  return {
    url,
    cut: () => tell('cut'),
    fix: () => tell('fix'),
    slow: (slowMs) => tell({ slowMs }),
    close: () => tell('close'),
  };
}
