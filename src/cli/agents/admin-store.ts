// Implements `writ agent` on the store of a data directory. The service may be running: a change takes effect
// within a second.

import { isoTime } from '../../language/value/iso-time.ts';
import { delegationsOf, revokeDelegation } from '../../service/agents/delegations/change-delegation.ts';
import type { Delegation } from '../../service/agents/delegations/delegation.ts';
import { type DelegationView, viewDelegation } from '../../service/agents/delegations/delegation-view.ts';
import {
  type AgentDraft,
  addAgent,
  describeAgent,
  rotateKey,
  setSigning,
} from '../../service/agents/registry.ts';
import { readUses } from '../../service/requests/metering/delegation-uses.ts';
import type { AgentRow } from '../../service/store/contract/records.ts';
import type { Store } from '../../service/store/contract/store.ts';
import { commandLineUser, type StoreOptions, withStore } from '../client/with-store.ts';
import { type ExitCode, exitCodes, printError } from '../output/output.ts';
import type { AgentAdmin } from './agent-admin.ts';
import { CommandError } from './command-error.ts';
import { storeIdentities } from './identity-admin-store.ts';
import { storeSwitches } from './kill-switch-admin.ts';
import { type AgentView, agentJson, keyJson } from './text.ts';

/** Runs the operation on the store. Prints an error of the operation or the store for the operator. */
export async function withStoreAdmin(
  options: StoreOptions,
  run: (admin: AgentAdmin) => Promise<void>,
): Promise<ExitCode> {
  try {
    return await withStore(options, async (store) => {
      await run(storeAdmin(store));
      return exitCodes.ok;
    });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    for (const line of error.message.split('\n')) printError(`error: ${line}\n`);
    return exitCodes.wrong;
  }
}

function storeAdmin(store: Store): AgentAdmin {
  async function agentOf(name: string): Promise<AgentRow> {
    const agent = await store.agents.find(name);
    if (agent === null) throw new CommandError(`there is no agent \`${name}\``);
    return agent;
  }

  async function agentLeft(name: string): Promise<AgentRow> {
    const agent = await agentOf(name);
    if (agent.status === 'revoked') throw revoked(agent.name);
    return agent;
  }

  async function described(name: string, change: Partial<AgentDraft>): Promise<AgentView> {
    const agent = await agentLeft(name);
    const result = await describeAgent(store, { agentId: agent.id, nowMs: Date.now(), ...change });
    if (result.kind === 'invalid') throw invalid(result.problems);
    if (result.kind !== 'described') throw new CommandError(`there is no agent \`${name}\``);
    return agentJson(result.agent);
  }

  async function shown(delegations: readonly Delegation[]): Promise<readonly DelegationView[]> {
    const at = {
      documents: store.documents,
      countUses: await readUses(store.meters),
      nowMs: Date.now(),
    };
    return await Promise.all(delegations.map((one) => viewDelegation(at, one)));
  }

  return {
    list: async () => (await store.agents.list()).map(agentJson),
    killSwitches: () => storeSwitches(store).list(),
    add: async (draft) => {
      const result = await addAgent(store, draft);
      if (result.kind === 'invalid') throw invalid(result.problems);
      return { agent: agentJson(result.agent), apiKey: result.apiKey };
    },
    show: async (name) => {
      const agent = await agentOf(name);
      return { agent: agentJson(agent), keys: (await store.agents.keys(agent.id)).map(keyJson) };
    },
    setStatus: async (name, status) => {
      const agent = await agentOf(name);
      const result = await store.agents.setStatus({ agentId: agent.id, status, atMs: Date.now() });
      if (result === 'already-revoked') throw revoked(agent.name);
      return { agent: agentJson({ ...agent, status }), isChanged: result !== 'unchanged' };
    },
    setRate: (name, { ratePerMinute, burst }) =>
      described(name, {
        ...(ratePerMinute === undefined ? {} : { ratePerMinute }),
        ...(burst === undefined ? {} : { burst }),
      }),
    setTelling: (name, tellsChange) => described(name, { tellsChange }),
    delegations: async (name) => {
      const { id } = await agentOf(name);
      const found = await delegationsOf(store.documents, id);
      return await shown(found.map(({ value }) => value));
    },
    revokeDelegation: async (id) => {
      const by = { documents: store.documents, nowMs: Date.now() };
      const result = await revokeDelegation(by, id, commandLineUser());
      if (result.kind === 'unknown') throw new CommandError(`there is no delegation \`${id}\``);
      return (await shown([result.delegation]))[0]!;
    },
    ...storeIdentities(store, { agentOf, agentLeft }),
    rotate: async (name, graceMs) => {
      const agent = await agentLeft(name);
      const nowMs = Date.now();
      const result = await rotateKey(store, { agentId: agent.id, graceMs, nowMs });
      if (result.kind !== 'rotated')
        throw new CommandError(
          result.kind === 'unknown-agent'
            ? `there is no agent \`${name}\``
            : `\`${agent.name}\` already has two valid keys: wait until the older one expires, or end both with --leaked`,
        );
      const oldKeyNotAfter = isoTime(nowMs + graceMs);
      return { agent: agentJson(agent), apiKey: result.apiKey, oldKeyNotAfter };
    },
    sign: async (name, { mode: signing, isSecretNew }) => {
      const agent = await agentLeft(name);
      const change = { agentId: agent.id, signing, nowMs: Date.now(), isSecretNew };
      const result = await setSigning(store, change);
      if (result.kind === 'unknown-agent') throw new CommandError(`there is no agent \`${name}\``);
      return { agent: agentJson({ ...agent, signing }), signingSecret: result.signingSecret };
    },
  };
}

function revoked(name: string): CommandError {
  return new CommandError(`\`${name}\` is revoked permanently`);
}

const optionNames = {
  name: 'name',
  riskTier: '--tier',
  controlOwner: '--owner',
  tags: '--tag',
  ratePerMinute: '--per-minute',
  burst: '--burst',
  tellsChange: 'refusal-hints',
} as const;

function invalid(
  problems: readonly { readonly field: keyof AgentDraft; readonly message: string }[],
): CommandError {
  return new CommandError(
    problems.map(({ field, message }) => `${optionNames[field]}: ${message}`).join('\n'),
  );
}
