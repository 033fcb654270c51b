// Runs several processes that serve one address: starts them, gives each a share of the connections, replaces
// one that ends, and stops them all. INVARIANT: the supervisor decides nothing and keeps nothing; what
// workers may grant at the same time is settled in the database that they share, as between replicas.

import cluster from 'node:cluster';
import { type Logger, pino } from 'pino';
import type { Config } from '../../settings/load.ts';
import { formattedLog } from '../log-text.ts';
import { portOf } from '../service-address.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

export interface SuperviseOptions {
  readonly config: Config;
  /** The arguments of this process, with which the workers are started. */
  readonly args: readonly string[];
}

/**
 * Resolves with the welcome once the first worker serves; the others join it. SIGTERM and SIGINT stop all
 * workers, at once when sent a second time; SIGHUP reloads the policies. Rejects with WorkerFailed when the
 * first worker cannot start.
 */
export async function superviseWorkers({ config, args }: SuperviseOptions): Promise<string> {
  cluster.setupPrimary({ args: [...args, '--port', String(await portOf(config))] });
  const log = pino({ level: config.logLevel }, formattedLog(config.logFormat, process.stderr));
  const crew = createWorkerPool({
    onEnd: ({ slot, pid, code, signal }) =>
      log.warn({ worker: slot, worker_pid: pid, code, signal }, 'a worker exited; starting another'),
  });
  superviseSignals(crew, log);
  // The first worker starts alone, because it makes the tables and the key that all workers share.
  const welcome = await crew.begin();
  for (let slot = 1; slot < config.workers; slot += 1) crew.add(slot);
  return welcome;
}

function superviseSignals(crew: WorkerPool, log: Pick<Logger, 'info'>): void {
  let isStopping = false;
  const onStop = async (signal: NodeJS.Signals) => {
    // The workers end together with their supervisor.
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info({ signal }, 'stopping');
    if (!(await crew.stop())) process.exitCode = 1;
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, (sent) => void onStop(sent));
  process.on('SIGHUP', () => crew.signal('SIGHUP'));
}
