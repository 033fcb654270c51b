// The operations of `writ kill-switch`, on a running service with a personal token, or on the store of a data
// directory without one. INVARIANT: the command prints the same either way.

import type { Reply } from '../../api/operations.ts';
import { createDirectory } from '../../service/people/directory.ts';
import {
  createKillSwitchBoard,
  type KillSwitch,
  type KillSwitchScope,
  readScope,
  scopeText,
  scopeWarnings,
} from '../../service/people/kill-switches.ts';
import type { Store } from '../../service/store/contract/store.ts';
import { type Api, type ApiOptions, refuse, step, withApi } from '../client/api-client.ts';
import { commandLineUser, withStore } from '../client/with-store.ts';
import { type ExitCode, exitCodes, printError, UsageError } from '../output/output.ts';
import { findAgent } from './admin-http.ts';
import { lastActions } from './last-actions.ts';

export type KillSwitchView = Reply<'listKillSwitches'>['items'][number];

export interface KillSwitchAdmin {
  list(): Promise<readonly KillSwitchView[]>;
  /** Turns a switch on for a scope, in which an agent may be named. */
  turnOn(scope: string, reason: string): Promise<CreatedKillSwitch>;
  turnOff(id: string, reason: string): Promise<void>;
}

export type CreatedKillSwitch = KillSwitchView & { readonly warnings: readonly string[] };

export interface KillSwitchOptions extends ApiOptions {
  readonly data?: string;
  readonly store?: string;
}

/** An operation that is not possible; the message is printed. A class because it is thrown. */
class CommandError extends Error {}

/** Ends the command with `message` as its error. */
export type Refuse = (message: string) => never;

/**
 * Runs `run` against the store that the options name, or else against a running service; prints errors, and
 * resolves to the exit code. Throws a UsageError for options that exclude each other.
 */
export function withKillSwitches(
  options: KillSwitchOptions,
  run: (admin: KillSwitchAdmin, refuse: Refuse) => Promise<void>,
): Promise<ExitCode> {
  const { data, store, url, token, json } = options;
  if (data === undefined && store === undefined)
    return withApi(
      options,
      (api) => run(httpSwitches(api), refuse),
      '; on the machine of the service, --data needs none',
    );
  if (url !== undefined || token !== undefined)
    throw new UsageError('name the store (--data, --store) or the service (--url, --token), not both');
  return withStore({ data: data ?? './var', store, json }, async (opened) => {
    try {
      await run(storeSwitches(opened), refuseHere);
      return exitCodes.ok;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      printError(`error: ${error.message}\n`);
      return exitCodes.wrong;
    }
  });
}

function refuseHere(message: string): never {
  throw new CommandError(message);
}

function httpSwitches(api: Api): KillSwitchAdmin {
  return {
    list: async () => (await api.get<Reply<'listKillSwitches'>>('/v1/kill-switches')).items,
    turnOn: async (scope, reason) =>
      await api.post<CreatedKillSwitch>('/v1/kill-switches', {
        scope: await withAgentId(api, scope),
        reason,
      }),
    turnOff: (id, reason) => api.post(`/v1/kill-switches/${step(id)}/deactivate`, { reason }),
  };
}

/** Replaces an agent's name in the scope by its id: people know agents by name, and the service takes ids. */
async function withAgentId(api: Api, scope: string): Promise<string> {
  const [, name] = /^agent:(.+)$/.exec(scope) ?? [];
  return name === undefined ? scope : `agent:${(await findAgent(api, name)).id}`;
}

/** The switches of the store; a service that runs on it looks at them at least every half second. */
export function storeSwitches({ documents, agents }: Store): KillSwitchAdmin {
  const board = createKillSwitchBoard({
    directory: createDirectory(documents, Date.now),
    steadyMs: () => performance.now(),
  });
  const actor = { machineUser: commandLineUser() };

  async function scopeOf(text: string): Promise<KillSwitchScope> {
    const scope = readScope(text);
    if (scope.kind !== 'agent') return scope;
    const agent = await agents.find(scope.agentId);
    return agent === null
      ? refuseHere(`there is no agent \`${scope.agentId}\``)
      : { kind: 'agent', agentId: agent.id };
  }

  async function viewOf({ id, scope, reason, ...made }: KillSwitch): Promise<KillSwitchView> {
    const agent = scope.kind === 'agent' ? await agents.find(scope.agentId) : null;
    return {
      id,
      scope: scopeText(scope),
      agent_name: agent?.name ?? null,
      reason,
      created_at: new Date(made.createdAtMs).toISOString(),
      created_by: made.createdBy,
      created_by_name: made.createdByName,
    };
  }

  /** Never fails: the switch is on. */
  async function warningsFor(scope: KillSwitchScope): Promise<readonly string[]> {
    const actions = scope.kind === 'area' ? await lastActions(documents).catch(() => null) : null;
    return actions === null ? [] : scopeWarnings(scope, actions);
  }

  return {
    list: async () => await Promise.all((await board.list()).map(viewOf)),
    async turnOn(text, reason) {
      const scope = await scopeOf(text);
      const result = await board.turnOn(actor, { scope, reason });
      if (result.kind === 'invalid')
        return refuseHere(result.problems.map(({ detail }) => detail).join('; '));
      return { ...(await viewOf(result.switch)), warnings: await warningsFor(scope) };
    },
    async turnOff(id, reason) {
      const result = await board.turnOff(actor, id, reason);
      if (typeof result === 'object') refuseHere(result.problems.map(({ detail }) => detail).join('; '));
      if (result !== 'off')
        refuseHere('the kill switch was changed at the same time: see `writ kill-switch list`');
    },
  };
}
