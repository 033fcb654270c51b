// /v1/delegations: what an agent passes on to sub-agents. An agent, or a sub-agent with a delegated key, makes
// delegations; the agent and the people in charge of it see and revoke them. INVARIANT: a key is shown in the
// reply that made it and never again.

import type { DelegationLink } from '../../../../language/model/delegation.ts';
import * as changes from '../../../agents/delegations/change-delegation.ts';
import {
  type Delegation,
  delegatedKeyPrefix,
  delegationsIn,
} from '../../../agents/delegations/delegation.ts';
import {
  type DelegationView,
  delegationStatuses,
  viewDelegation,
} from '../../../agents/delegations/delegation-view.ts';
import { recordName } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { DelegatedPolicies } from '../../../policies/delegated-policies.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import { createUseCounter } from '../../../requests/metering/delegation-uses.ts';
import type { Metering } from '../../../requests/metering/metering.ts';
import type { AgentRow } from '../../../store/contract/records.ts';
import type { Store } from '../../../store/contract/store.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import {
  idParameter,
  listReply,
  objectSchema,
  text,
  textOrNull,
  time,
  timeOrNull,
} from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { agentOf, isAgentOf } from './agent-filter.ts';
import { agentId } from './agents.ts';

interface DelegationDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly delegated: DelegatedPolicies;
  readonly metering: Pick<Metering, 'read' | 'catchUp'>;
}

interface DelegationBody {
  readonly name: string;
  readonly actions: readonly string[];
  readonly when?: string | null;
  readonly until: string;
  readonly uses?: number | null;
  readonly session?: string | null;
}

const uses = { type: ['integer', 'null'], minimum: 1, maximum: changes.usesMax } as const;
const actions: JsonSchema = { type: 'array', items: text(200), maxItems: 50 };

const delegationSchema = objectSchema({
  id: text(20),
  name: text(64),
  agent_id: text(100),
  chain: {
    type: 'array',
    items: text(64),
    description: 'The names from the agent’s own delegation to this one.',
  },
  above: { type: 'array', items: text(20), description: 'The ids of the delegations above this one.' },
  actions,
  when: textOrNull,
  until: time,
  uses,
  used: {
    type: ['integer', 'null'],
    description:
      'How many uses have been taken; 0 where `uses` is null, and null where that is not known yet.',
  },
  session: textOrNull,
  status: {
    type: 'string',
    enum: delegationStatuses,
    description: 'What has happened to this delegation or to one above it.',
  },
  created_at: time,
  revoked_at: timeOrNull,
});

const delegationExample = {
  id: 'Ab3dEf7h',
  name: 'research',
  agent_id: 'a9e27000-0000-4000-8000-000000000000',
  chain: ['research'],
  above: [],
  actions: ['payment.*'],
  when: 'payload.amount <= 100 USD',
  until: '2026-03-02T18:00:00.000Z',
  uses: 10,
  used: 3,
  session: null,
  status: 'active',
  created_at: '2026-03-02T10:00:00.000Z',
  revoked_at: null,
};

const agentHeaders = ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'] as const;

const createDelegation = route<DelegationDeps, DelegationBody>({
  method: 'POST',
  url: '/v1/delegations',
  access: 'agent',
  isForDelegates: true,
  operation: {
    id: 'createDelegation',
    summary: 'Passes a part of what the agent may do to a sub-agent',
    description:
      'The reply has a key for the sub-agent, which sends it like an agent’s key. What comes by it is decided as for the agent, and is refused outside of `actions` and `when`. A delegated key can ask for decisions and delegate further, up to five links; it can do nothing else. A delegation ends with its time, its uses, a revocation, a delegation above it, and the agent’s key with which it was made.',
    body: {
      description:
        '`actions` are keys or patterns. `when` is a condition of the policy language over the request. `until` is at most 30 days away.',
      schema: objectSchema(
        { name: text(64), actions, until: time },
        {
          when: { type: ['string', 'null'], maxLength: 2_000 },
          uses,
          session: { ...textOrNull, maxLength: 255 },
        },
      ),
      examples: {
        research: {
          name: 'research',
          actions: ['payment.*'],
          when: 'payload.amount <= 100 USD',
          until: '2026-03-02T18:00:00Z',
          uses: 10,
        },
      },
    },
    replies: {
      201: {
        description: 'Made; `api_key` is shown only once',
        headers: agentHeaders,
        schema: objectSchema({ delegation: delegationSchema, api_key: text(100) }),
        example: {
          delegation: { ...delegationExample, used: 0 },
          api_key: `${delegatedKeyPrefix}${'0'.repeat(46)}`,
        },
      },
    },
    problems: ['conflict'],
  },
  handle: async (deps, call) => {
    const { identity } = call.request;
    if (identity === null || identity.point !== undefined)
      throw new ProblemError('agent_not_assigned', 'an enforcement point cannot delegate for an agent');
    // A delegation made here would be the agent's own, and so would lose the actors above it.
    if (identity.workload !== undefined && identity.chain !== undefined)
      throw conflict('an actor of a token cannot delegate: the agent delegates with its own token');
    if (identity.agent.signing === 'required')
      throw conflict('the agent has to sign its requests, which a sub-agent cannot do');
    const draft = draftOf(call.body);
    const { documents } = deps.store;
    const made = await changes.addDelegation(
      { documents, ...(await useCounts(deps)), actionsOf: await checkedActions(deps, draft) },
      identity,
      draft,
    );
    if (made.kind !== 'made') throw refusalOf(made);
    call.reply.code(201);
    return { delegation: await shownDelegation(deps, made.delegation), api_key: made.apiKey };
  },
});

const delegationsReply = {
  ...listReply('All delegations below the agent', delegationSchema, delegationExample),
  headers: agentHeaders,
};
const stayForAWeek = 'Delegations that have ended stay in the list for a week.';

const listDelegations = route<DelegationDeps>({
  method: 'GET',
  url: '/v1/delegations',
  access: 'agent',
  operation: {
    id: 'listDelegations',
    summary: 'The delegations of the agent that asks, newest first',
    description: stayForAWeek,
    replies: { 200: delegationsReply },
    problems: ['not_found'],
  },
  handle: async (deps, call) => {
    const { agent, point } = call;
    if (agent === null || point !== undefined) throw notFound('agent');
    return await delegationsBelow(deps, agent);
  },
});

const listAgentDelegations = route<DelegationDeps>({
  method: 'GET',
  url: '/v1/agents/:id/delegations',
  access: 'agents.view',
  operation: {
    id: 'listAgentDelegations',
    summary: 'The delegations of an agent, newest first',
    description: stayForAWeek,
    parameters: [agentId],
    replies: { 200: listReply('All delegations below the agent', delegationSchema, delegationExample) },
    problems: ['not_found'],
  },
  handle: async (deps, call) => await delegationsBelow(deps, await agentOf(deps.store, call)),
});

const revokeDelegation = route<DelegationDeps>({
  method: 'DELETE',
  url: '/v1/delegations/:id',
  access: 'agents.disable',
  isForAgents: true,
  operation: {
    id: 'revokeDelegation',
    summary: 'Revokes a delegation and everything below it',
    parameters: [idParameter('The id in the list.', delegationExample.id)],
    replies: {
      200: {
        description: 'The delegation',
        schema: delegationSchema,
        example: delegationExample,
        headers: agentHeaders,
      },
    },
    problems: ['not_found'],
  },
  handle: async (deps, call) => {
    const { id = '' } = call.params;
    const { documents, agents } = deps.store;
    const found = await delegationsIn(documents).find(id);
    const agent = found === null ? null : await agents.find(found.value.agentId);
    if (agent === null || !isInCharge(call, agent)) throw notFound('delegation');
    const who = call.agent === null ? recordName(actorOf(call).person) : `agent ${agent.id}`;
    const result = await changes.revokeDelegation({ documents, nowMs: nowMs(deps) }, id, who);
    if (result.kind === 'unknown') throw notFound('delegation');
    return await shownDelegation(deps, result.delegation);
  },
});

export const delegationRoutes = [
  createDelegation,
  listDelegations,
  listAgentDelegations,
  revokeDelegation,
] as const satisfies readonly Route<never>[];

function nowMs({ signInDeps }: Pick<DelegationDeps, 'signInDeps'>): number {
  return Math.trunc(signInDeps.directory.clock());
}

function isInCharge(call: ManagedCall<unknown>, agent: AgentRow): boolean {
  return call.agent === null
    ? isAgentOf(call, agent)
    : call.agent.id === agent.id && call.point === undefined;
}

async function delegationsBelow(deps: DelegationDeps, agent: AgentRow) {
  const found = await changes.delegationsOf(deps.store.documents, agent.id);
  const at = { documents: deps.store.documents, ...(await useCounts(deps)) };
  return { items: await Promise.all(found.map(({ value }) => viewDelegation(at, value))) };
}

function draftOf({ name, actions, when = null, until, uses = null, session = null }: DelegationBody) {
  return { name, actions, when, untilMs: Date.parse(until), uses, session };
}

/**
 * Checks the actions and the condition against the active policies, and returns which actions patterns match.
 * Throws a ProblemError when they do not fit.
 */
async function checkedActions(
  { policies, delegated }: DelegationDeps,
  link: DelegationLink,
): Promise<changes.ActionsOf> {
  await delegated.ready();
  const active = policies.current();
  const checked = delegated.check(active, link);
  if (checked.link !== null)
    return (patterns) =>
      delegated.check(active, { ...link, actions: patterns, when: null }).link?.actions ?? [];
  const problems = checked.problems.map(({ part, message, at }) => ({
    field: part,
    detail: at === null ? message : `at character ${at.start + 1}: ${message}`,
  }));
  throw invalidBody({ kind: 'invalid', problems });
}

const fieldNames = {
  name: 'name',
  actions: 'actions',
  when: 'when',
  untilMs: 'until',
  uses: 'uses',
  session: 'session',
} as const;

function refusalOf(made: Exclude<changes.NewDelegation, { readonly kind: 'made' }>): ProblemError {
  switch (made.kind) {
    case 'too-deep':
      return conflict('a chain has at most five delegations');
    case 'too-many':
      return conflict(`an agent has at most ${changes.delegationsMax} delegations`);
    case 'invalid': {
      const problems = made.problems.map(({ field, detail }) => ({ field: fieldNames[field], detail }));
      return invalidBody({ kind: 'invalid', problems });
    }
  }
}

/** Counts the uses that all replicas have taken so far. */
async function useCounts(deps: DelegationDeps) {
  await deps.metering.catchUp();
  const at = nowMs(deps);
  return { countUses: createUseCounter(deps.metering, at), nowMs: at };
}

async function shownDelegation(deps: DelegationDeps, delegation: Delegation): Promise<DelegationView> {
  return await viewDelegation({ documents: deps.store.documents, ...(await useCounts(deps)) }, delegation);
}
