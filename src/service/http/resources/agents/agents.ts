// /v1/agents: which agents may ask, and who is in charge of each. INVARIANT: an owner sees only their own
// agents; for them no others exist. A key is shown in the reply that made it and never again.

import { riskTiers } from '../../../../language/model/request.ts';
import * as registry from '../../../agents/registry.ts';
import type { Directory } from '../../../people/directory.ts';
import type { OperationName } from '../../../people/operations.ts';
import { recordName } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { AgentRow, AgentStatus } from '../../../store/contract/records.ts';
import type { Store } from '../../../store/contract/store.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { collect, pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { idParameter, objectSchema, text, textList } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { agentFilters, agentOf, isAgentOf, matchesAgentFilter } from './agent-filter.ts';
import {
  agentExample,
  agentReply,
  agentSchema,
  agentView,
  agentViews,
  rateSchema,
  tellChangeSchema,
  withKey,
} from './agent-view.ts';

export interface AgentDeps {
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
  readonly refusal_hints?: boolean;
}

export const agentId = idParameter('The id in the list.', agentExample.id);
const name = text(200);
const tier: JsonSchema = { type: 'string', enum: riskTiers };
const owner = text(400);

const fieldNames = {
  name: 'name',
  riskTier: 'risk_tier',
  controlOwner: 'control_owner',
  tags: 'tags',
  ratePerMinute: 'rate_per_minute',
  burst: 'burst',
  tellsChange: 'refusal_hints',
} as const;

const listAgents = route<AgentDeps>({
  method: 'GET',
  url: '/v1/agents',
  access: 'agents.view',
  operation: {
    id: 'listAgents',
    summary: 'Agents, newest first',
    parameters: [...pageParameters, ...agentFilters],
    replies: { 200: pageReply('A page of agents', agentSchema, agentExample) },
  },
  handle: async ({ signInDeps, store }, call) => {
    const { countMax, after } = readPage(call.query);
    const agents = await collect(
      { countMax: countMax + 1, after },
      {
        next: (cursor, count) => store.agents.page({ after: cursor, countMax: count }),
        positionOf: (agent) => agent,
        matches: (agent) => isAgentOf(call, agent) && matchesAgentFilter(call.query, agent),
      },
    );
    const read = agents.map((value) => ({ value, version: 0 }));
    const { items, next_cursor } = pageOf(read, countMax, (agent) => agent);
    return { items: await agentViews(signInDeps.directory, items), next_cursor };
  },
});

const registerAgent = route<AgentDeps, AgentBody>({
  method: 'POST',
  url: '/v1/agents',
  access: 'agents.register',
  operation: {
    id: 'registerAgent',
    summary: 'Registers an agent and creates its first key',
    body: {
      description: 'The control owner is the address or id of a person.',
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
    replies: { 201: withKey('Registered; `api_key` is shown only once') },
  },
  handle: async (deps, call) => {
    const { signInDeps, store } = deps;
    const { name, risk_tier: riskTier, tags = [] } = call.body;
    const controlOwner = await ownerNamed(signInDeps.directory, call.body.control_owner);
    const draft = { name, riskTier, controlOwner, tags };
    const result = await registry.addAgent(store, draft, nowMs(deps), by(call));
    if (result.kind === 'invalid') throw invalidDraft(result.problems);
    call.reply.code(201);
    return { agent: await agentView(signInDeps.directory, result.agent), api_key: result.apiKey };
  },
});

const getAgent = route<AgentDeps>({
  method: 'GET',
  url: '/v1/agents/:id',
  access: 'agents.view',
  operation: {
    id: 'getAgent',
    summary: 'One agent',
    parameters: [agentId],
    replies: { 200: agentReply('The agent') },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps, store }, call) =>
    await agentView(signInDeps.directory, await agentOf(store, call)),
});

const updateAgent = route<AgentDeps, AgentChange>({
  method: 'PATCH',
  url: '/v1/agents/:id',
  access: 'agents.change',
  operation: {
    id: 'updateAgent',
    summary:
      'Changes the name, risk tier, control owner, tags, rate limit or refusal hints of an agent, from the next request on',
    parameters: [agentId],
    body: {
      description:
        'Missing fields stay unchanged. Null for `rate_per_minute` or `burst` restores the limit of the service.',
      schema: objectSchema(
        {},
        {
          name,
          risk_tier: tier,
          control_owner: owner,
          tags: textList,
          rate_per_minute: rateSchema,
          burst: rateSchema,
          refusal_hints: tellChangeSchema,
        },
      ),
      examples: { tier: { risk_tier: 'high' }, rate: { rate_per_minute: 600, burst: 100 } },
    },
    replies: { 200: agentReply('The agent') },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const { signInDeps, store } = deps;
    const { name, risk_tier: riskTier, control_owner: requestedOwner, tags } = call.body;
    const { rate_per_minute: ratePerMinute, burst, refusal_hints: tellsChange } = call.body;
    const agentId = (await agentOf(store, call)).id;
    const controlOwner =
      requestedOwner === undefined ? undefined : await ownerNamed(signInDeps.directory, requestedOwner);
    const change = given({ name, riskTier, controlOwner, tags, ratePerMinute, burst, tellsChange });
    const result = await registry.describeAgent(store, {
      agentId,
      nowMs: nowMs(deps),
      ...by(call),
      ...change,
    });
    switch (result.kind) {
      case 'described':
        return await agentView(signInDeps.directory, result.agent);
      case 'invalid':
        throw invalidDraft(result.problems);
      case 'unknown-agent':
        throw notFound('agent');
      case 'already-revoked':
        throw revoked();
    }
  },
});

const disableAgent = statusRoute({
  id: 'disableAgent',
  word: 'disable',
  status: 'disabled',
  access: 'agents.disable',
  summary: 'Disables an agent; all its requests are refused',
});

const enableAgent = statusRoute({
  id: 'enableAgent',
  word: 'enable',
  status: 'active',
  access: 'agents.enable',
  summary: 'Enables a disabled agent',
});

const revokeAgent = route<AgentDeps, { name: string }>({
  method: 'POST',
  url: '/v1/agents/:id/revoke',
  access: 'agents.revoke',
  operation: {
    id: 'revokeAgent',
    summary: 'Revokes an agent permanently; all its requests are refused',
    parameters: [agentId],
    body: {
      description: "The agent's name, as a confirmation: revoking is permanent.",
      schema: objectSchema({ name: text(200) }),
      examples: { buyer: { name: 'buyer' } },
    },
    replies: { 200: agentReply('The agent') },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const agent = await agentOf(deps.store, call);
    if (call.body.name !== agent.name) {
      throw invalidBody({
        kind: 'invalid',
        problems: [{ field: 'name', detail: 'this is not the name of the agent' }],
      });
    }
    return setStatus(deps, call, { agent, status: 'revoked' });
  },
});

export const agentRoutes: readonly Route<AgentDeps>[] = [
  listAgents,
  registerAgent,
  getAgent,
  updateAgent,
  disableAgent,
  enableAgent,
  revokeAgent,
];

interface StatusChange {
  readonly id: string;
  readonly word: string;
  readonly status: AgentStatus;
  readonly access: OperationName;
  readonly summary: string;
}

function statusRoute({ id, word, status, access, summary }: StatusChange): Route<AgentDeps> {
  return route({
    method: 'POST',
    url: `/v1/agents/:id/${word}`,
    access,
    operation: {
      id,
      summary,
      parameters: [agentId],
      replies: { 200: agentReply('The agent') },
      problems: ['not_found', 'conflict'],
    },
    handle: async (deps, call) => setStatus(deps, call, { agent: await agentOf(deps.store, call), status }),
  });
}

async function setStatus(
  deps: AgentDeps,
  call: ManagedCall<unknown>,
  { agent, status }: { readonly agent: AgentRow; readonly status: AgentStatus },
) {
  const { agents } = deps.store;
  const result = await agents.setStatus({ agentId: agent.id, status, atMs: nowMs(deps), ...by(call) });
  if (result === 'unknown-agent') throw notFound('agent');
  if (result === 'already-revoked') throw revoked();
  return await agentView(deps.signInDeps.directory, (await agents.find(agent.id)) ?? agent);
}

/** The address of an active person, found by address or id; throws a ProblemError when there is none. */
async function ownerNamed({ people }: Directory, text: string): Promise<string> {
  const storedPerson = (await people.findByName(text)) ?? (await people.find(text));
  if (storedPerson?.value.status === 'active') return storedPerson.value.email;
  const detail = 'no active person has this address or id';
  throw invalidBody({ kind: 'invalid', problems: [{ field: 'control_owner', detail }] });
}

/** The person who makes the call, as the record of a change names them. */
export function by(call: ManagedCall<unknown>): { readonly who: string } {
  return { who: recordName(actorOf(call).person) };
}

export function revoked(): ProblemError {
  return conflict('the agent is revoked permanently');
}

function invalidDraft(
  problems: readonly { readonly field: keyof registry.AgentDraft; readonly message: string }[],
) {
  return invalidBody({
    kind: 'invalid',
    problems: problems.map(({ field, message }) => ({ field: fieldNames[field], detail: message })),
  });
}

/** The values without the members that are undefined. */
function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

export function nowMs({ signInDeps }: AgentDeps): number {
  return Math.trunc(signInDeps.directory.clock());
}
