// Chooses by the options whether `writ agent` works on the store of a data directory or on a running service.
// INVARIANT: the command prints the same either way.

import type { Command } from 'commander';
import { type ApiOptions, withApi } from '../client/api-client.ts';
import { type StoreOptions, storeMeaning } from '../client/with-store.ts';
import { type ExitCode, UsageError } from '../output/output.ts';
import { httpAdmin } from './admin-http.ts';
import { withStoreAdmin } from './admin-store.ts';
import type { AgentAdmin } from './agent-admin.ts';

export interface AgentOptions extends ApiOptions, Pick<StoreOptions, 'missing'> {
  readonly data?: string;
  readonly store?: string;
}

export function withAgentOptions(command: Command): Command {
  return command
    .option('--data <directory>', 'the data directory of the service (default: ./var)')
    .option('--store <address>', storeMeaning)
    .option('--url <address>', 'call this running service instead, as one of its people')
    .option('--token <token>', 'a personal token for --url (WRIT_TOKEN hides it from other users)')
    .option('--json', 'print the result as JSON');
}

/**
 * Runs `run` against the store or the service, prints errors, and resolves to the exit code. Throws a
 * UsageError for options that exclude each other.
 */
export function withAgentAdmin(
  options: AgentOptions,
  run: (admin: AgentAdmin) => Promise<void>,
): Promise<ExitCode> {
  const { data, store, missing, url, token } = options;
  if (url === undefined) {
    if (token !== undefined) throw new UsageError('--token needs --url, the address of a running service');
    return withStoreAdmin({ data: data ?? './var', store, missing }, run);
  }
  if (data !== undefined || store !== undefined)
    throw new UsageError('name the store (--data, --store) or the service (--url), not both');
  return withApi(options, (api) => run(httpAdmin(api)));
}
