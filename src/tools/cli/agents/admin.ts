// What `writ agent` asks for, whoever does it: the store of a data directory, or a running service. INVARIANT: what is
// printed is the same either way.

import type { Command } from 'commander';
import type { AgentStatus, SigningMode } from '../../../service/store/contract/records.ts';
import { type ApiOptions, withApi } from '../client/api-client.ts';
import { type ExitCode, UsageError } from '../output/output.ts';
import { httpAdmin } from './admin-http.ts';
import { withStoreAdmin } from './admin-store.ts';
import type { ShownAgent, ShownKey } from './text.ts';

/** Each rejects with a CommandError, or as `withApi` takes it, where it cannot be done; an agent is named by name or id. */
export interface AgentAdmin {
  list(): Promise<readonly ShownAgent[]>;
  add(draft: ShownDraft): Promise<{ readonly agent: ShownAgent; readonly apiKey: string }>;
  show(name: string): Promise<{ readonly agent: ShownAgent; readonly keys: readonly ShownKey[] }>;
  setStatus(
    name: string,
    status: AgentStatus,
  ): Promise<{ readonly agent: ShownAgent; readonly isChanged: boolean }>;
  /** What is undefined stays as it is; null is the service's. */
  setRate(name: string, rate: ShownRate): Promise<ShownAgent>;
  rotate(name: string, graceMs: number): Promise<Rotated>;
  sign(name: string, signing: { readonly mode: SigningMode; readonly isSecretNew: boolean }): Promise<Signed>;
}

export interface ShownDraft {
  readonly name: string;
  readonly riskTier: string;
  readonly controlOwner: string;
  readonly tags: readonly string[];
}

export interface ShownRate {
  readonly ratePerMinute: number | null | undefined;
  readonly burst: number | null | undefined;
}

export interface Rotated {
  readonly agent: ShownAgent;
  readonly apiKey: string;
  readonly oldKeyNotAfter: string;
}

export interface Signed {
  readonly agent: ShownAgent;
  /** Null where none was made. */
  readonly signingSecret: string | null;
}

export interface AgentOptions extends ApiOptions {
  readonly data?: string;
}

export function withAgentOptions(command: Command): Command {
  return command
    .option('--data <directory>', 'the data directory of the service (default: ./var)')
    .option('--url <address>', 'the running service to ask instead, as one of its people')
    .option('--token <token>', 'a personal token for --url (WRIT_TOKEN, which other users do not see)')
    .option('--json', 'print the result as JSON');
}

/** What is done, and what it says to the operator, with the exit code. */
export function withAgentAdmin(
  options: AgentOptions,
  run: (admin: AgentAdmin) => Promise<void>,
): Promise<ExitCode> {
  const { data, url, token } = options;
  if (url === undefined) {
    if (token !== undefined) throw new UsageError('--token is for a running service: name it with --url');
    return withStoreAdmin(data ?? './var', run);
  }
  if (data !== undefined)
    throw new UsageError('name the data directory (--data) or the service (--url), not both');
  return withApi(options, (api) => run(httpAdmin(api)));
}
