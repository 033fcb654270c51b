// Tells a supervisor such as systemd that the service is ready, for units with `Type=notify`.

import { execFile } from 'node:child_process';

/**
 * Resolves when the supervisor has been told, or at once when no supervisor has asked. Node cannot send Unix
 * datagrams, so systemd's own command sends the message. When that fails, `warn` gets a line and the service
 * runs on.
 */
export function notifyReady(warn: (line: string) => void, environment = process.env): Promise<void> {
  if (environment.NOTIFY_SOCKET === undefined) return Promise.resolve();
  const args = ['--ready', `--pid=${process.pid}`];
  return new Promise((resolve) => {
    execFile('systemd-notify', args, { env: environment, timeout: 5_000 }, (error) => {
      if (error !== null) warn(`could not notify systemd that the service is ready: ${error.message}`);
      resolve();
    });
  });
}
