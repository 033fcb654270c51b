// The thread that folds the write-ahead log into the database file while a service runs, as seen from
// outside. Without it the writer does so within a commit, and everybody who waits for that commit waits for
// it, too. INVARIANT: the records depend in no way on this thread: when it ends, the writer folds the log.

import { Worker } from 'node:worker_threads';
import { beginAfterMs, endThread } from '../../shared/helper-threads.ts';

export interface LogFolding {
  /** From now on the log is folded beside the writer. */
  begin(): void;
  /** Ends the thread; its connection must be closed before the writer's, which folds the rest. */
  close(): Promise<void>;
}

export function createLogFolding(path: string): LogFolding {
  let timer: NodeJS.Timeout | undefined;
  let worker: Worker | null = null;
  const start = (): void => {
    const made = new Worker(new URL('./log-folder.ts', import.meta.url), { workerData: { path } });
    made.unref();
    made.on('error', () => undefined);
    made.once('exit', () => {
      worker = null;
    });
    worker = made;
  };
  return {
    begin() {
      timer ??= setTimeout(start, beginAfterMs).unref();
    },
    async close() {
      clearTimeout(timer);
      if (worker !== null) await endThread(worker, 'close');
    },
  };
}
