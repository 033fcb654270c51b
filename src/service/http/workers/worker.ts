// One of several processes that serve one address and one database. It is a service like any other, but tells
// its supervisor when it serves, stops when told to, and gets the metrics of all workers. It ends with its
// supervisor.

import cluster from 'node:cluster';
import type { Config } from '../../settings/load.ts';
import { endWithService, serveConfigured } from '../main.ts';
import type { ShareMetrics } from '../resources/operations/metrics.ts';
import type { SupervisorMessage, WorkerMessage } from './messages.ts';

/** The variable that holds a worker's slot, from 0; a successor has the same slot. */
export const slotVariable = 'WORKER_SLOT';

/** Resolves once the worker serves; rejects as `serve` does. */
export async function serveAsWorker(config: Config): Promise<void> {
  const self = cluster.worker;
  if (self === undefined) throw new Error('the worker was started without a supervisor');
  const send = (message: WorkerMessage): void => void self.send(message);
  const metrics = createMetricsExchange(send);
  let welcome = '';
  const serving = serveConfigured(config, {
    worker: { slot: Number(process.env[slotVariable]), shareMetrics: metrics.share },
    print: (text) => {
      welcome = text;
    },
    // The open connection to the supervisor would keep the process alive after its service has stopped.
    closings: [async () => self.disconnect()],
  });
  self.on('message', (message: SupervisorMessage) => {
    if (message.kind === 'stop') void serving.then(({ stop }) => stop()).catch(failStop);
    else metrics.receive(message);
  });
  endWithService(await serving);
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
  const resolvers = new Map<number, (text: string) => void>();
  let latest = 0;
  let ownText = async () => '';
  return {
    share(text) {
      ownText = text;
      return () =>
        new Promise((resolve) => {
          latest += 1;
          resolvers.set(latest, resolve);
          send({ kind: 'metrics-asked', ask: latest });
        });
    },
    receive(message) {
      if (message.kind === 'metrics-wanted') {
        void ownText().then((text) => send({ kind: 'metrics', round: message.round, text }));
        return;
      }
      resolvers.get(message.ask)?.(message.text);
      resolvers.delete(message.ask);
    },
  };
}
