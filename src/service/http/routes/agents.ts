// /v1/agents: who may ask, with which keys, and in whose charge. INVARIANT: an owner meets their own agents alone, others
// are not there for them; a key or a secret is shown in the reply that made it and never again.

import type { FastifyInstance } from 'fastify';
import { riskTiers } from '../../../language/model/request.ts';
import {
  type AgentDraft,
  addAgent,
  defaultGraceMs,
  describeAgent,
  rotateKey,
  setSigning,
} from '../../agents/registry.ts';
import type { Directory } from '../../people/directory.ts';
import type { OperationName } from '../../people/operations.ts';
import { recordName } from '../../people/person.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import {
  type AgentRow,
  type AgentStatus,
  type SigningMode,
  signingModes,
} from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { actorOf, conflict, invalidBody, type ManagedCall, manage, notFound } from '../calls/manage.ts';
import type { JsonSchema, OperationReply } from '../contract/operation.ts';
import { collect, pageOf, pageParameters, pageReply, readPage } from '../contract/page.ts';
import { idParameter, listReply, objectSchema, text, textList, timeText } from '../contract/schemas.ts';
import {
  agentExample,
  agentSchema,
  apiKeyExample,
  keyExample,
  keySchema,
  rateSchema,
  shownAgent,
  shownKey,
} from '../views/agent.ts';
import { agentFilters, agentOf, isAgentOf, isAskedFor } from '../views/agent-filter.ts';

export interface AgentRouteOptions {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
}

interface AgentBody {
  readonly name: string;
  readonly risk_tier: string;
  readonly control_owner: string;
  readonly tags?: readonly string[];
}

interface AgentChange extends Partial<AgentBody> {
  readonly rate_per_minute?: number | null;
  readonly burst?: number | null;
}

export async function agentRoutes(
  app: FastifyInstance,
  { signInDeps: deps, store }: AgentRouteOptions,
): Promise<void> {
  const nowMs = (): number => Math.trunc(deps.directory.clock());

  manage(app, deps, {
    method: 'GET',
    url: '/v1/agents',
    access: 'agents.view',
    operation: {
      id: 'listAgents',
      summary: 'Agents, the latest first',
      parameters: [...pageParameters, ...agentFilters],
      replies: { 200: pageReply('A page of agents', agentSchema, agentExample) },
    },
    handle: async (call) => {
      const { countMax, after } = readPage(call.query);
      const found = await collect(
        { countMax: countMax + 1, after },
        {
          next: (place, count) => store.agents.page({ after: place, countMax: count }),
          placeOf: (agent) => agent,
          matches: (agent) => isAgentOf(call, agent) && isAskedFor(call.query, agent),
        },
      );
      const read = found.map((value) => ({ value, version: 0 }));
      return pageOf(read, countMax, shownAgent);
    },
  });

  manage<AgentBody>(app, deps, {
    method: 'POST',
    url: '/v1/agents',
    access: 'agents.register',
    operation: {
      id: 'registerAgent',
      summary: 'Registers an agent and makes its first key',
      body: {
        description: 'The control owner is a person, by address or id.',
        schema: objectSchema({ name, risk_tier: tier, control_owner: owner }, { tags: textList }),
        examples: {
          buyer: {
            name: 'buyer-2',
            risk_tier: 'low',
            control_owner: 'ann@example.com',
            tags: ['purchasing'],
          },
        },
      },
      replies: { 201: withKey('Registered; `api_key` is shown this once') },
    },
    handle: async (call) => {
      const { name, risk_tier: riskTier, tags = [] } = call.body;
      const controlOwner = await ownerNamed(deps.directory, call.body.control_owner);
      const draft = { name, riskTier, controlOwner, tags };
      const result = await addAgent(store, draft, nowMs(), by(call));
      if (result.kind === 'invalid') throw invalidDraft(result.problems);
      call.reply.code(201);
      return { agent: shownAgent(result.agent), api_key: result.apiKey };
    },
  });

  manage(app, deps, {
    method: 'GET',
    url: '/v1/agents/:id',
    access: 'agents.view',
    operation: {
      id: 'getAgent',
      summary: 'One agent',
      parameters: [id],
      replies: { 200: agentReply('The agent') },
      problems: ['not_found'],
    },
    handle: async (call) => shownAgent(await agentOf(store, call)),
  });

  manage<AgentChange>(app, deps, {
    method: 'PATCH',
    url: '/v1/agents/:id',
    access: 'agents.change',
    operation: {
      id: 'changeAgent',
      summary: 'Changes name, risk tier, control owner, tags or rate; in force with the next request',
      parameters: [id],
      body: {
        description:
          'What is not there stays as it is. A `rate_per_minute` or `burst` of null is that of the service.',
        schema: objectSchema(
          {},
          {
            name,
            risk_tier: tier,
            control_owner: owner,
            tags: textList,
            rate_per_minute: rateSchema,
            burst: rateSchema,
          },
        ),
        examples: { tier: { risk_tier: 'high' }, rate: { rate_per_minute: 600, burst: 100 } },
      },
      replies: { 200: agentReply('The agent') },
      problems: ['not_found', 'conflict'],
    },
    handle: async (call) => {
      const { name, risk_tier: riskTier, control_owner: asked, tags } = call.body;
      const { rate_per_minute: ratePerMinute, burst } = call.body;
      const agentId = (await agentOf(store, call)).id;
      const controlOwner = asked === undefined ? undefined : await ownerNamed(deps.directory, asked);
      const change = given({ name, riskTier, controlOwner, tags, ratePerMinute, burst });
      const result = await describeAgent(store, { agentId, nowMs: nowMs(), ...by(call), ...change });
      switch (result.kind) {
        case 'described':
          return shownAgent(result.agent);
        case 'invalid':
          throw invalidDraft(result.problems);
        case 'unknown-agent':
          throw notFound('agent');
        case 'already-revoked':
          throw revoked();
      }
    },
  });

  async function setStatus(call: ManagedCall<unknown>, agent: AgentRow, status: AgentStatus) {
    const result = await store.agents.setStatus({ agentId: agent.id, status, atMs: nowMs(), ...by(call) });
    if (result === 'unknown-agent') throw notFound('agent');
    if (result === 'already-revoked') throw revoked();
    return shownAgent((await store.agents.find(agent.id)) ?? agent);
  }

  for (const { word, status, access, summary } of statusChanges) {
    manage(app, deps, {
      method: 'POST',
      url: `/v1/agents/:id/${word}`,
      access,
      operation: {
        id: `${word}Agent`,
        summary,
        parameters: [id],
        replies: { 200: agentReply('The agent') },
        problems: ['not_found', 'conflict'],
      },
      handle: async (call) => setStatus(call, await agentOf(store, call), status),
    });
  }

  manage<{ name: string }>(app, deps, {
    method: 'POST',
    url: '/v1/agents/:id/revoke',
    access: 'agents.revoke',
    operation: {
      id: 'revokeAgent',
      summary: 'Refuses all requests of an agent for good',
      parameters: [id],
      body: {
        description: "The agent's name, to say that this one is meant: nothing brings it back.",
        schema: objectSchema({ name: text(200) }),
        examples: { buyer: { name: 'buyer' } },
      },
      replies: { 200: agentReply('The agent') },
      problems: ['not_found', 'conflict'],
    },
    handle: async (call) => {
      const agent = await agentOf(store, call);
      if (call.body.name !== agent.name) {
        throw invalidBody({
          kind: 'invalid',
          problems: [{ field: 'name', detail: 'this is not the name of the agent' }],
        });
      }
      return setStatus(call, agent, 'revoked');
    },
  });

  manage(app, deps, {
    method: 'GET',
    url: '/v1/agents/:id/keys',
    access: 'agents.view',
    operation: {
      id: 'listKeys',
      summary: 'The keys of an agent: when they were made, last used, and end; the oldest first',
      parameters: [id],
      replies: { 200: listReply('The keys', keySchema, keyExample) },
      problems: ['not_found'],
    },
    handle: async (call) => {
      const { id: agentId } = await agentOf(store, call);
      return { items: (await store.agents.keys(agentId)).map(shownKey) };
    },
  });

  manage<{ grace_seconds?: number }>(app, deps, {
    method: 'POST',
    url: '/v1/agents/:id/keys',
    access: 'agents.rotate',
    operation: {
      id: 'rotateKey',
      summary: 'Gives an agent a new key, and its present one an end',
      parameters: [id],
      body: {
        description: 'How long the present key stays good: a day unless said otherwise, 0 ends it now.',
        schema: objectSchema(
          {},
          { grace_seconds: { type: 'integer', minimum: 0, maximum: graceSecondsMax } },
        ),
        examples: { now: { grace_seconds: 0 } },
      },
      replies: { 201: withKey('Rotated; `api_key` is shown this once', { old_keys_end_at: text(40) }) },
      problems: ['not_found', 'conflict'],
    },
    handle: async (call) => {
      const agent = notRevoked(await agentOf(store, call));
      const { grace_seconds: seconds = defaultGraceMs / 1_000 } = call.body;
      const [atMs, graceMs] = [nowMs(), seconds * 1_000];
      const result = await rotateKey(store, { agentId: agent.id, graceMs, nowMs: atMs, ...by(call) });
      if (result.kind === 'unknown-agent') throw notFound('agent');
      if (result.kind !== 'rotated') {
        throw conflict(
          'there are two good keys: wait for the end of the older one, or send `grace_seconds` 0',
        );
      }
      call.reply.code(201);
      const ends = timeText(atMs + graceMs);
      return { agent: shownAgent(agent), api_key: result.apiKey, old_keys_end_at: ends };
    },
  });

  manage<{ mode: SigningMode; new_secret?: boolean }>(app, deps, {
    method: 'POST',
    url: '/v1/agents/:id/signing',
    access: 'agents.signing',
    operation: {
      id: 'setSigning',
      summary: 'Says whether an agent signs its requests',
      parameters: [id],
      body: {
        description:
          '`off` forgets the secret. A secret is made where there is none, or where `new_secret` asks for one.',
        schema: objectSchema(
          { mode: { type: 'string', enum: signingModes } },
          { new_secret: { type: 'boolean' } },
        ),
        examples: { required: { mode: 'required' } },
      },
      replies: {
        200: {
          description: 'Set; `signing_secret` is shown this once, null where none was made',
          schema: objectSchema({ agent: agentSchema, signing_secret: { type: ['string', 'null'] } }),
          example: { agent: agentExample, signing_secret: null },
        },
      },
      problems: ['not_found', 'conflict'],
    },
    handle: async (call) => {
      const agent = notRevoked(await agentOf(store, call));
      const { mode: signing, new_secret: isSecretNew = false } = call.body;
      const result = await setSigning(store, {
        agentId: agent.id,
        signing,
        isSecretNew,
        nowMs: nowMs(),
        ...by(call),
      });
      if (result.kind === 'unknown-agent') throw notFound('agent');
      const { signingSecret } = result;
      return { agent: shownAgent({ ...agent, signing }), signing_secret: signingSecret };
    },
  });
}

const graceSecondsMax = 30 * 24 * 60 * 60;
const id = idParameter('The id in the list.', agentExample.id);
const name = text(200);
const tier: JsonSchema = { type: 'string', enum: riskTiers };
const owner = text(400);

const statusChanges = [
  {
    word: 'disable',
    status: 'disabled',
    access: 'agents.disable',
    summary: 'Refuses all requests of an agent from now on',
  },
  { word: 'enable', status: 'active', access: 'agents.enable', summary: 'Lets a disabled agent ask again' },
] as const satisfies readonly {
  readonly word: string;
  readonly status: AgentStatus;
  readonly access: OperationName;
  readonly summary: string;
}[];

/** The address of the person who is named by address or id. */
async function ownerNamed({ people }: Directory, text: string): Promise<string> {
  const found = (await people.findByName(text)) ?? (await people.find(text));
  if (found?.value.status === 'active') return found.value.email;
  const detail = 'there is nobody with this address or id who may come in';
  throw invalidBody({ kind: 'invalid', problems: [{ field: 'control_owner', detail }] });
}

function by(call: ManagedCall<unknown>): { readonly who: string } {
  return { who: recordName(actorOf(call).person) };
}

function notRevoked(agent: AgentRow): AgentRow {
  if (agent.status === 'revoked') throw revoked();
  return agent;
}

function revoked() {
  return conflict('the agent is revoked, and that is final');
}

const fieldNames = {
  name: 'name',
  riskTier: 'risk_tier',
  controlOwner: 'control_owner',
  tags: 'tags',
  ratePerMinute: 'rate_per_minute',
  burst: 'burst',
} as const;

function invalidDraft(problems: readonly { readonly field: keyof AgentDraft; readonly message: string }[]) {
  return invalidBody({
    kind: 'invalid',
    problems: problems.map(({ field, message }) => ({ field: fieldNames[field], detail: message })),
  });
}

/** Without the members that are undefined. */
function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function agentReply(description: string): OperationReply {
  return { description, schema: agentSchema, example: agentExample };
}

function withKey(description: string, more: Readonly<Record<string, JsonSchema>> = {}): OperationReply {
  const example = { agent: agentExample, api_key: apiKeyExample };
  const ends = Object.hasOwn(more, 'old_keys_end_at') ? { old_keys_end_at: agentExample.created_at } : {};
  return {
    description,
    schema: objectSchema({ agent: agentSchema, api_key: text(100), ...more }),
    example: { ...example, ...ends },
  };
}
