// Several processes that serve one address: starts them, hands each a part of the connections, starts another in place of one
// that ended, and stops them all. INVARIANT: it decides nothing and keeps nothing; what the workers may grant at the same time is
// settled in the database that they share, as between replicas.

import cluster from 'node:cluster';
import { type Logger, pino } from 'pino';
import type { Config } from '../config.ts';
import { portOf } from '../own-address.ts';
import { type Crew, createCrew } from './crew.ts';

export interface SuperviseOptions {
  readonly config: Config;
  /** What the workers are started with: the arguments of this process. */
  readonly args: readonly string[];
}

/**
 * Resolves with the welcome once the first serves; the others join it. Takes SIGTERM and SIGINT (stop; the second time at once)
 * and SIGHUP (reload the policies). Rejects with WorkerFailed where the first cannot start.
 */
export async function superviseWorkers({ config, args }: SuperviseOptions): Promise<string> {
  cluster.setupPrimary({ args: [...args, '--port', String(await portOf(config))] });
  const log = pino({ level: config.logLevel }, process.stderr);
  const crew = createCrew({
    onEnd: ({ slot, pid, code, signal }) =>
      log.warn({ worker: slot, worker_pid: pid, code, signal }, 'a worker ended; another takes its place'),
  });
  superviseSignals(crew, log);
  // Alone: it makes the tables and the key that all share.
  const welcome = await crew.begin();
  for (let slot = 1; slot < config.workers; slot += 1) crew.add(slot);
  return welcome;
}

function superviseSignals(crew: Crew, log: Pick<Logger, 'info'>): void {
  let isStopping = false;
  const onStop = async (signal: NodeJS.Signals) => {
    // The workers end with their supervisor.
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info({ signal }, 'stopping');
    if (!(await crew.stop())) process.exitCode = 1;
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, (sent) => void onStop(sent));
  process.on('SIGHUP', () => crew.signal('SIGHUP'));
}
