// /v1/agents/{id}/keys and /signing: the keys and signing secrets of an agent. INVARIANT: a key or a secret
// is shown in the reply that made it and never again.

import { isoTime } from '../../../../language/value/iso-time.ts';
import * as registry from '../../../agents/registry.ts';
import { type AgentRow, type SigningMode, signingModes } from '../../../store/contract/records.ts';
import { conflict, notFound } from '../../auth/auth-refusals.ts';
import { listReply, objectSchema, text } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';
import { agentOf } from './agent-filter.ts';
import {
  agentExample,
  agentSchema,
  agentView,
  keyExample,
  keySchema,
  shownKey,
  withKey,
} from './agent-view.ts';
import { type AgentDeps, agentId, by, nowMs, revoked } from './agents.ts';

export const graceSecondsMax = 30 * 24 * 60 * 60;
const listAgentKeys = route<AgentDeps>({
  method: 'GET',
  url: '/v1/agents/:id/keys',
  access: 'agents.view',
  operation: {
    id: 'listAgentKeys',
    summary: 'The keys of an agent with their times of creation, last use and end, oldest first',
    parameters: [agentId],
    replies: { 200: listReply('The keys', keySchema, keyExample) },
    problems: ['not_found'],
  },
  handle: async ({ store }, call) => {
    const { id: agentId } = await agentOf(store, call);
    return { items: (await store.agents.keys(agentId)).map(shownKey) };
  },
});

const rotateAgentKey = route<AgentDeps, { grace_seconds?: number }>({
  method: 'POST',
  url: '/v1/agents/:id/keys',
  access: 'agents.rotate',
  operation: {
    id: 'rotateAgentKey',
    summary: 'Creates a new key for an agent and sets an end for the current key',
    parameters: [agentId],
    body: {
      description: 'How long the current key stays valid; default: one day; 0 ends it now.',
      schema: objectSchema({}, { grace_seconds: { type: 'integer', minimum: 0, maximum: graceSecondsMax } }),
      examples: { now: { grace_seconds: 0 } },
    },
    replies: { 201: withKey('Rotated; `api_key` is shown only once', { old_keys_end_at: text(40) }) },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const { store } = deps;
    const agent = notRevoked(await agentOf(store, call));
    const { grace_seconds: seconds = registry.defaultGraceMs / 1_000 } = call.body;
    const [atMs, graceMs] = [nowMs(deps), seconds * 1_000];
    const result = await registry.rotateKey(store, { agentId: agent.id, graceMs, nowMs: atMs, ...by(call) });
    if (result.kind === 'unknown-agent') throw notFound('agent');
    if (result.kind !== 'rotated') {
      throw conflict('two keys are valid: wait until the older one ends, or send `grace_seconds` 0');
    }
    call.reply.code(201);
    const ends = isoTime(atMs + graceMs);
    const shownAgent = await agentView(deps.signInDeps.directory, agent);
    return { agent: shownAgent, api_key: result.apiKey, old_keys_end_at: ends };
  },
});

const setSigning = route<AgentDeps, { mode: SigningMode; new_secret?: boolean }>({
  method: 'POST',
  url: '/v1/agents/:id/signing',
  access: 'agents.signing',
  operation: {
    id: 'setSigning',
    summary: 'Sets whether an agent signs its requests',
    parameters: [agentId],
    body: {
      description: '`off` deletes the secret. A secret is created if there is none, or with `new_secret`.',
      schema: objectSchema(
        { mode: { type: 'string', enum: signingModes } },
        { new_secret: { type: 'boolean' } },
      ),
      examples: { required: { mode: 'required' } },
    },
    replies: {
      200: {
        description: 'Set; `signing_secret` is shown only once, and is null if none was created',
        schema: objectSchema({ agent: agentSchema, signing_secret: { type: ['string', 'null'] } }),
        example: { agent: agentExample, signing_secret: null },
      },
    },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const { store } = deps;
    const agent = notRevoked(await agentOf(store, call));
    const { mode: signing, new_secret: isSecretNew = false } = call.body;
    const result = await registry.setSigning(store, {
      agentId: agent.id,
      signing,
      isSecretNew,
      nowMs: nowMs(deps),
      ...by(call),
    });
    if (result.kind === 'unknown-agent') throw notFound('agent');
    const { signingSecret } = result;
    const shownAgent = await agentView(deps.signInDeps.directory, { ...agent, signing });
    return { agent: shownAgent, signing_secret: signingSecret };
  },
});

export const agentKeyRoutes: readonly Route<AgentDeps>[] = [listAgentKeys, rotateAgentKey, setSigning];

function notRevoked(agent: AgentRow): AgentRow {
  if (agent.status === 'revoked') throw revoked();
  return agent;
}
