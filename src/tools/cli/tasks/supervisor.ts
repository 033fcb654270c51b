// Tells a supervisor of the kind of systemd that the service is ready, as `Type=notify` waits for it.

import { execFile } from 'node:child_process';

/**
 * Resolves once it is told, and at once where nobody has asked. Node speaks no Unix datagrams, so systemd's own command
 * sends it. Where that fails, `warn` is called with a line: the service runs on.
 */
export function tellReady(warn: (line: string) => void, environment = process.env): Promise<void> {
  if (environment.NOTIFY_SOCKET === undefined) return Promise.resolve();
  const args = ['--ready', `--pid=${process.pid}`];
  return new Promise((resolve) => {
    execFile('systemd-notify', args, { env: environment, timeout: 5_000 }, (error) => {
      if (error !== null) warn(`systemd was not told that the service is ready: ${error.message}`);
      resolve();
    });
  });
}
