// Turns the reason why the service cannot start into a text for its operator: one clear line, or the
// diagnostics of broken policies.

import { BrokenPolicies } from '../policies/policy-host.ts';
import type { Config } from '../settings/load.ts';
import { StoreError } from '../store/contract/store-error.ts';

/** A class because it is thrown; `message` is the whole text to print. */
export class StartError extends Error {
  /** Exit code of the process: 2 for a mistake in the configuration, else 1. */
  readonly exitCode: 1 | 2;

  constructor(message: string, options: { readonly exitCode?: 1 | 2; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'StartError';
    this.exitCode = options.exitCode ?? 1;
  }
}

/**
 * The error that stopped a start, as a StartError for a person; a fault of the program itself is returned
 * unchanged.
 */
export function toStartError(error: unknown, config: Config): unknown {
  if (error instanceof BrokenPolicies) {
    const advice = `writ: ${error.message}: correct them and start again`;
    const message = error.text === '' ? `writ: ${error.message}` : `${error.text.trimEnd()}\n\n${advice}`;
    return new StartError(message, { cause: error });
  }
  if (error instanceof StoreError) return new StartError(`writ: ${error.message}`, { cause: error });
  const message = listenFault(error, config);
  return message === null ? error : new StartError(`writ: ${message}`, { cause: error });
}

/** Why the service cannot listen on its address; null for an error of another kind. */
export function listenFault(error: unknown, { host, port }: Pick<Config, 'host' | 'port'>): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const choose = 'choose another with --port, WRIT_PORT or `port` in writ.yaml';
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use by another program: stop that program, or ${choose}`;
    case 'EACCES':
      return `no permission to listen on port ${port}: ${choose} (from 1024 up)`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `\`${host}\` is not an address of this machine: choose another with --host, WRIT_HOST or \`host\` in writ.yaml`;
    default:
      return null;
  }
}
