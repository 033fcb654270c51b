// Shows an agent and its keys as the management API does. INVARIANT: neither a key nor a signing secret is
// shown.

import { riskTiers } from '../../../../language/model/request.ts';
import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import { rateMax } from '../../../agents/registry.ts';
import type { Directory } from '../../../people/directory.ts';
import { createNames } from '../../../people/person-names.ts';
import { type AgentRow, agentStatuses, type KeyRow, signingModes } from '../../../store/contract/records.ts';
import type { JsonSchema, OperationReply } from '../../contract/operation.ts';
import { objectSchema, text, textList, time, timeOrNull } from '../../contract/schemas.ts';

/** The agent, with the name of its control owner where the owner has an account. */
export async function agentView(directory: Pick<Directory, 'people'>, agent: AgentRow) {
  return (await agentViews(directory, [agent]))[0]!;
}

/** Agents in the same order; each control owner is looked up once. */
export async function agentViews(directory: Pick<Directory, 'people'>, agents: readonly AgentRow[]) {
  const nameOf = createNames(directory);
  return await Promise.all(
    agents.map(async (agent) => fieldsOf(agent, (await nameOf(agent.controlOwner))?.name || null)),
  );
}

function fieldsOf(agent: AgentRow, ownerName: string | null) {
  const { id, name, riskTier, controlOwner, tags, status, signing, createdAtMs, changedAtMs } = agent;
  const { ratePerMinute, burst, tellsChange } = agent;
  return {
    id,
    name,
    risk_tier: riskTier,
    control_owner: controlOwner,
    control_owner_name: ownerName,
    tags: [...tags],
    status,
    signing,
    rate_per_minute: ratePerMinute,
    burst,
    refusal_hints: tellsChange,
    created_at: isoTime(createdAtMs),
    changed_at: isoTime(changedAtMs),
  };
}

/** An agent's own rate; null when the agent has the service's rate. */
export const rateSchema: JsonSchema = { type: ['integer', 'null'], minimum: 1, maximum: rateMax };

export const tellChangeSchema: JsonSchema = {
  type: 'boolean',
  description: 'Whether refusals include a change that would be allowed.',
};

export const agentSchema = objectSchema({
  id: text(100),
  name: text(200),
  risk_tier: { type: 'string', enum: riskTiers },
  control_owner: text(400),
  control_owner_name: {
    type: ['string', 'null'],
    description: 'The name of the control owner; null when nobody has this address.',
  },
  tags: textList,
  status: { type: 'string', enum: agentStatuses },
  rate_per_minute: rateSchema,
  burst: rateSchema,
  refusal_hints: tellChangeSchema,
  signing: { type: 'string', enum: signingModes },
  created_at: time,
  changed_at: time,
});

export const agentExample = {
  id: 'a9e27000-0000-4000-8000-000000000000',
  name: 'buyer',
  risk_tier: 'low',
  control_owner: 'ann@example.com',
  control_owner_name: 'Ann Reed',
  tags: ['purchasing'],
  status: 'active',
  signing: 'off',
  rate_per_minute: null,
  burst: null,
  refusal_hints: false,
  created_at: '2026-03-02T10:00:00.000Z',
  changed_at: '2026-03-02T10:00:00.000Z',
};

/** A key of an agent or of an enforcement point, as the management API shows it. */
export function shownKey({
  id,
  createdAtMs,
  notAfterMs,
  lastUsedAtMs,
}: Pick<KeyRow, 'id' | 'createdAtMs' | 'notAfterMs' | 'lastUsedAtMs'>) {
  return {
    id,
    created_at: isoTime(createdAtMs),
    not_after: isoTimeOrNull(notAfterMs),
    last_used_at: isoTimeOrNull(lastUsedAtMs),
  };
}

export const keySchema = objectSchema({
  id: text(100),
  created_at: time,
  not_after: timeOrNull,
  last_used_at: timeOrNull,
});

export const keyExample = {
  id: 'Ab3dEf6h',
  created_at: '2026-03-02T10:00:00.000Z',
  not_after: null,
  last_used_at: '2026-03-02T10:05:00.000Z',
};

const apiKeyExample = `writ_${'0'.repeat(46)}`;

export function agentReply(description: string): OperationReply {
  return { description, schema: agentSchema, example: agentExample };
}

export function withKey(
  description: string,
  more: Readonly<Record<string, JsonSchema>> = {},
): OperationReply {
  const example = { agent: agentExample, api_key: apiKeyExample };
  const ends = Object.hasOwn(more, 'old_keys_end_at') ? { old_keys_end_at: agentExample.created_at } : {};
  return {
    description,
    schema: objectSchema({ agent: agentSchema, api_key: text(100), ...more }),
    example: { ...example, ...ends },
  };
}
