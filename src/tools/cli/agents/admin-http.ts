// `writ agent` as a client of a running service: what the person whose token it is may do, on record in their name.

import { type Api, type Page, refuse, step } from '../client/api-client.ts';
import type { AgentAdmin } from './admin.ts';
import type { ShownAgent, ShownKey } from './text.ts';

type ReplyKey = Omit<ShownKey, 'last_used'> & { readonly last_used_at: string | null };

const statusWords = { active: 'enable', disabled: 'disable', revoked: 'revoke' } as const;
const atOnce = '200';

export function httpAdmin(api: Api): AgentAdmin {
  async function listed(text?: string): Promise<readonly ShownAgent[]> {
    const all: ShownAgent[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Page<ShownAgent> = await api.get('/v1/agents', { limit: atOnce, cursor, text });
      all.push(...page.items.map(shown));
      cursor = page.next_cursor ?? null;
    }
    return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async function agentOf(name: string): Promise<ShownAgent> {
    const found = await listed(name);
    const agent = found.find(({ id }) => id === name) ?? found.find((one) => isNamed(one, name));
    return agent ?? refuse(`there is no agent \`${name}\`, or not for you`);
  }

  const pathOf = ({ id }: ShownAgent): string => `/v1/agents/${step(id)}`;

  return {
    list: () => listed(),
    add: async ({ name, riskTier, controlOwner, tags }) => {
      const body = { name, risk_tier: riskTier, control_owner: controlOwner, tags };
      const { agent, api_key } = await api.post<{ agent: ShownAgent; api_key: string }>('/v1/agents', body);
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
      const agent = await api.post<ShownAgent>(`${pathOf(before)}/${statusWords[status]}`, body);
      return { agent: shown(agent), isChanged: before.status !== status };
    },
    setRate: async (name, { ratePerMinute: rate_per_minute, burst }) =>
      // What is undefined is not written.
      shown(await api.patch<ShownAgent>(pathOf(await agentOf(name)), { rate_per_minute, burst })),
    rotate: async (name, graceMs) => {
      const body = { grace_seconds: graceMs / 1_000 };
      const reply = await api.post<{ agent: ShownAgent; api_key: string; old_keys_end_at: string }>(
        ...[`${pathOf(await agentOf(name))}/keys`, body],
      );
      return { agent: shown(reply.agent), apiKey: reply.api_key, oldKeyNotAfter: reply.old_keys_end_at };
    },
    sign: async (name, { mode, isSecretNew: new_secret }) => {
      const path = `${pathOf(await agentOf(name))}/signing`;
      const reply = await api.post<{ agent: ShownAgent; signing_secret: string | null }>(path, {
        mode,
        new_secret,
      });
      return { agent: shown(reply.agent), signingSecret: reply.signing_secret };
    },
  };
}

/** As the store tells names apart. */
function isNamed({ name }: ShownAgent, asked: string): boolean {
  const fold = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return fold(name) === fold(asked);
}

/** What the service says beyond that is left out. */
function shown(agent: ShownAgent): ShownAgent {
  const { id, name, risk_tier, control_owner, tags, status, signing, rate_per_minute, burst, created_at } =
    agent;
  return { id, name, risk_tier, control_owner, tags, status, signing, rate_per_minute, burst, created_at };
}
