// One of several processes that serve one address and one database: a service like any other, which tells its supervisor that
// it serves, stops when it is told to, and asks the others for their metrics. It ends with its supervisor.

import cluster from 'node:cluster';
import type { Config } from '../config.ts';
import { serveConfigured } from '../main.ts';
import type { ShareMetrics } from '../routes/metrics.ts';
import type { SupervisorMessage, WorkerMessage } from './messages.ts';

/** In the environment of a worker: its place among them, from 0. One that is started in place of another has the same. */
export const slotVariable = 'WORKER_SLOT';

/** Resolves once it serves. Rejects as `serve` does. */
export async function serveAsWorker(config: Config): Promise<void> {
  const self = cluster.worker;
  if (self === undefined) throw new Error('a worker is started by its supervisor');
  const send = (message: WorkerMessage): void => void self.send(message);
  const metrics = createMetricsExchange(send);
  let welcome = '';
  const serving = serveConfigured(config, {
    worker: { slot: Number(process.env[slotVariable]), shareMetrics: metrics.share },
    print: (text) => {
      welcome = text;
    },
    // The connection to the supervisor would keep a process whose service has stopped.
    closings: [async () => self.disconnect()],
  });
  self.on('message', (message: SupervisorMessage) => {
    if (message.kind === 'stop') void serving.then(({ stop }) => stop()).catch(failStop);
    else metrics.receive(message);
  });
  await serving;
  send({ kind: 'serving', welcome });
}

function failStop(): void {
  process.exitCode = 1;
}

interface MetricsExchange {
  readonly share: ShareMetrics;
  receive(message: Exclude<SupervisorMessage, { readonly kind: 'stop' }>): void;
}

function createMetricsExchange(send: (message: WorkerMessage) => void): MetricsExchange {
  const asked = new Map<number, (text: string) => void>();
  let latest = 0;
  let ownText = () => '';
  return {
    share(own) {
      ownText = own;
      return () =>
        new Promise((resolve) => {
          latest += 1;
          asked.set(latest, resolve);
          send({ kind: 'metrics-asked', ask: latest });
        });
    },
    receive(message) {
      if (message.kind === 'metrics-wanted') {
        send({ kind: 'metrics', round: message.round, text: ownText() });
        return;
      }
      asked.get(message.ask)?.(message.text);
      asked.delete(message.ask);
    },
  };
}
