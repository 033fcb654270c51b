// Starts `writ serve` when several processes serve the address: this process is their supervisor, or one of
// them.

import cluster from 'node:cluster';
import { superviseWorkers } from '../../service/http/workers/supervise.ts';
import { serveAsWorker } from '../../service/http/workers/worker.ts';
import { WorkerFailure } from '../../service/http/workers/worker-pool.ts';
import type { Config } from '../../service/settings/load.ts';
import { type ExitCode, exitCodes, print } from '../output/output.ts';

/**
 * Resolves once the service serves. When the first worker cannot serve, it prints why, and its exit code is
 * returned. Rejects as `serve` does.
 */
export async function startWorkers(config: Config): Promise<ExitCode> {
  if (cluster.isWorker) {
    await serveAsWorker(config);
    return exitCodes.ok;
  }
  try {
    print(await superviseWorkers({ config, args: process.argv.slice(2) }));
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof WorkerFailure)) throw error;
    return error.exitCode === exitCodes.usage ? exitCodes.usage : exitCodes.wrong;
  }
}
