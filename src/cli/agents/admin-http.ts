// Implements `writ agent` on a running service. The roles of the token's person decide what the command can
// do, and changes are recorded in the name of that person.

import type { Reply } from '../../api/operations.ts';
import type { DelegationView } from '../../service/agents/delegations/delegation-view.ts';
import type { IdentityView } from '../../service/agents/identities/identity-view.ts';
import { type Api, allItems, type Page, refuse, step } from '../client/api-client.ts';
import type { AgentAdmin } from './agent-admin.ts';
import type { AgentView, KeyView } from './text.ts';

type ReplyKey = Omit<KeyView, 'last_used'> & { readonly last_used_at: string | null };

const statusWords = { active: 'enable', disabled: 'disable', revoked: 'revoke' } as const;

export function httpAdmin(api: Api): AgentAdmin {
  const agentOf = (name: string): Promise<AgentView> => findAgent(api, name);
  const pathOf = ({ id }: AgentView): string => `/v1/agents/${step(id)}`;

  return {
    list: () => listAgents(api),
    killSwitches: async () => (await api.get<Reply<'listKillSwitches'>>('/v1/kill-switches')).items,
    add: async ({ name, riskTier, controlOwner, tags }) => {
      const body = { name, risk_tier: riskTier, control_owner: controlOwner, tags };
      const { agent, api_key } = await api.post<{ agent: AgentView; api_key: string }>('/v1/agents', body);
      return { agent: shown(agent), apiKey: api_key };
    },
    show: async (name) => {
      const agent = await agentOf(name);
      const { items } = await api.get<Page<ReplyKey>>(`${pathOf(agent)}/keys`);
      const keys = items.map(({ last_used_at: last_used, ...key }) => ({ ...key, last_used }));
      return { agent, keys };
    },
    setStatus: async (name, status) => {
      const before = await agentOf(name);
      const body = status === 'revoked' ? { name: before.name } : undefined;
      const agent = await api.post<AgentView>(`${pathOf(before)}/${statusWords[status]}`, body);
      return { agent: shown(agent), isChanged: before.status !== status };
    },
    setRate: async (name, { ratePerMinute: rate_per_minute, burst }) =>
      // JSON leaves out undefined fields, so only the given fields change.
      shown(await api.patch<AgentView>(pathOf(await agentOf(name)), { rate_per_minute, burst })),
    setTelling: async (name, refusal_hints) =>
      shown(await api.patch<AgentView>(pathOf(await agentOf(name)), { refusal_hints })),
    delegations: async (name) =>
      (await api.get<Page<DelegationView>>(`${pathOf(await agentOf(name))}/delegations`)).items,
    revokeDelegation: (id) => api.delete<DelegationView>(`/v1/delegations/${step(id)}`),
    identities: async (name) =>
      (await api.get<Page<IdentityView>>(`${pathOf(await agentOf(name))}/identities`)).items,
    mapIdentity: async (name, { issuer, claims: required_claims, actors }) =>
      await api.post(`${pathOf(await agentOf(name))}/identities`, {
        issuer,
        required_claims,
        actors,
      }),
    removeIdentity: async (name, id) =>
      await api.delete(`${pathOf(await agentOf(name))}/identities/${step(id)}`),
    rotate: async (name, graceMs) => {
      const body = { grace_seconds: graceMs / 1_000 };
      const reply = await api.post<{ agent: AgentView; api_key: string; old_keys_end_at: string }>(
        ...[`${pathOf(await agentOf(name))}/keys`, body],
      );
      return { agent: shown(reply.agent), apiKey: reply.api_key, oldKeyNotAfter: reply.old_keys_end_at };
    },
    sign: async (name, { mode, isSecretNew: new_secret }) => {
      const path = `${pathOf(await agentOf(name))}/signing`;
      const reply = await api.post<{ agent: AgentView; signing_secret: string | null }>(path, {
        mode,
        new_secret,
      });
      return { agent: shown(reply.agent), signingSecret: reply.signing_secret };
    },
  };
}

/** Finds the agent with this id or name. Ends the command when the caller can see no such agent. */
export async function findAgent(api: Api, idOrName: string): Promise<AgentView> {
  const agents = await listAgents(api, idOrName);
  const agent = agents.find(({ id }) => id === idOrName) ?? agents.find((one) => isNamed(one, idOrName));
  return agent ?? refuse(`no agent \`${idOrName}\`, or you may not see it`);
}

async function listAgents(api: Api, text?: string): Promise<readonly AgentView[]> {
  const all = await allItems<AgentView>(api, '/v1/agents', { text });
  return all.map(shown).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Compares names as the store does: the case of ASCII letters does not matter. */
export function isNamed({ name }: { readonly name: string }, expected: string): boolean {
  const fold = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return fold(name) === fold(expected);
}

/** Keeps only the fields that the store's agents have, too. */
function shown(agent: AgentView): AgentView {
  const { id, name, risk_tier, control_owner, tags, status, signing } = agent;
  const { rate_per_minute, burst, refusal_hints, created_at } = agent;
  const described = { id, name, risk_tier, control_owner, tags, status, signing };
  return { ...described, rate_per_minute, burst, refusal_hints, created_at };
}
