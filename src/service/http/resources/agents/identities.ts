// /v1/agents/{id}/identities: the tokens of issuers by which an agent is known without a key. INVARIANT: an
// identity is of an issuer in the settings, and no token can fit two identities.

import * as changes from '../../../agents/identities/change-identity.ts';
import { type AgentIdentity, identitiesIn, identitiesMax } from '../../../agents/identities/identity.ts';
import {
  type IdentityView,
  identityStatuses,
  viewIdentity,
} from '../../../agents/identities/identity-view.ts';
import type { WorkloadIssuer } from '../../../workloads/read-token.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import {
  idParameter,
  listReply,
  objectSchema,
  text,
  textList,
  time,
  timeOrNull,
} from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';
import { agentOf } from './agent-filter.ts';
import { type AgentDeps, agentId, by, nowMs, revoked } from './agents.ts';

interface IdentityDeps extends AgentDeps {
  readonly agentIssuers: readonly WorkloadIssuer[];
}

interface IdentityBody {
  readonly issuer: string;
  readonly required_claims: Readonly<Record<string, string | readonly string[]>>;
  readonly actors?: readonly {
    readonly subject: string;
    readonly name: string;
    readonly actions?: readonly string[];
  }[];
}

const claimText = text(255);
const claimValues: JsonSchema = { type: 'array', items: claimText };
const actorsSchema: JsonSchema = {
  type: 'array',
  items: objectSchema({ subject: claimText, name: text(64), actions: textList }),
};

const identitySchema = objectSchema({
  id: text(20),
  agent_id: text(100),
  issuer: text(2_000),
  required_claims: {
    type: 'object',
    additionalProperties: claimValues,
    description: 'A token has one of the values of each.',
  },
  actors: actorsSchema,
  status: {
    type: 'string',
    enum: identityStatuses,
    description:
      '`unconfigured`: the issuer is not in the setting `agents.issuers`, so no token is accepted.',
  },
  created_at: time,
  last_used_at: timeOrNull,
  ended_at: timeOrNull,
});

const identityExample = {
  id: 'Ab3dEf7h',
  agent_id: 'a9e27000-0000-4000-8000-000000000000',
  issuer: 'https://token.actions.githubusercontent.com',
  required_claims: { repository: ['example/shop'], ref: ['refs/heads/main'] },
  actors: [],
  status: 'active',
  created_at: '2026-03-02T10:00:00.000Z',
  last_used_at: null,
  ended_at: null,
};

const listAgentIdentities = route<IdentityDeps>({
  method: 'GET',
  url: '/v1/agents/:id/identities',
  access: 'agents.view',
  operation: {
    id: 'listAgentIdentities',
    summary: 'The identities of an agent, newest first',
    description: 'Identities that have ended stay in the list for a week.',
    parameters: [agentId],
    replies: { 200: listReply('The identities', identitySchema, identityExample) },
    problems: ['not_found'],
  },
  handle: async (deps, call) => {
    const { id: parent } = await agentOf(deps.store, call);
    const found = await identitiesIn(deps.store.documents).list({ parent, countMax: identitiesMax });
    return { items: await Promise.all(found.map(({ value }) => identityView(deps, value))) };
  },
});

const addAgentIdentity = route<IdentityDeps, IdentityBody>({
  method: 'POST',
  url: '/v1/agents/:id/identities',
  access: 'agents.identities',
  operation: {
    id: 'addAgentIdentity',
    summary: 'Identifies an agent by the tokens of an issuer',
    description:
      'Every token of the issuer with the required claims is then the agent. A claim is a name, or a path to it with dots. Values are compared exactly; the `sub` of a SPIFFE id may end with `/*`, which stands for one step. Another identity that a token could also fit is refused. `actors` are the programs that may ask for the agent by the claim `act`.',
    parameters: [agentId],
    body: {
      description: '`issuer` is in the setting `agents.issuers`. `actions` of an actor are all by default.',
      schema: objectSchema(
        {
          issuer: text(2_000),
          required_claims: { type: 'object', additionalProperties: { anyOf: [claimText, claimValues] } },
        },
        {
          actors: {
            type: 'array',
            items: objectSchema({ subject: claimText, name: text(64) }, { actions: textList }),
          },
        },
      ),
      examples: {
        kubernetes: {
          issuer: 'https://kubernetes.default.svc.cluster.local',
          required_claims: { sub: 'system:serviceaccount:payments:buyer' },
        },
      },
    },
    replies: { 201: { description: 'Added', schema: identitySchema, example: identityExample } },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const agent = await agentOf(deps.store, call);
    if (agent.status === 'revoked') throw revoked();
    const { issuer, required_claims: claims, actors = [] } = call.body;
    if (!deps.agentIssuers.some((one) => one.issuer === issuer)) throw unknownIssuer(deps.agentIssuers);
    const added = await changes.addIdentity(changerOf(deps, call), agent, {
      issuer,
      claims: Object.fromEntries(
        Object.entries(claims).map(([name, values]) => [
          name,
          typeof values === 'string' ? [values] : values,
        ]),
      ),
      actors: actors.map(({ actions = ['*'], ...actor }) => ({ ...actor, actions })),
    });
    if (added.kind !== 'added') throw await refusalOf(deps, added);
    call.reply.code(201);
    return await identityView(deps, added.identity);
  },
});

const deleteAgentIdentity = route<IdentityDeps>({
  method: 'DELETE',
  url: '/v1/agents/:id/identities/:identity',
  access: 'agents.identities',
  operation: {
    id: 'deleteAgentIdentity',
    summary: 'Ends an identity of an agent; its tokens are refused at once',
    parameters: [
      agentId,
      { ...idParameter('The id of the identity.', identityExample.id), name: 'identity' },
    ],
    replies: { 200: { description: 'The identity', schema: identitySchema, example: identityExample } },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const agent = await agentOf(deps.store, call);
    const ended = await changes.endIdentity(changerOf(deps, call), agent.id, call.params.identity ?? '');
    if (ended.kind !== 'ended') throw ended.kind === 'unknown' ? notFound('identity') : conflict();
    return await identityView(deps, ended.identity);
  },
});

export const identityRoutes: readonly Route<IdentityDeps>[] = [
  listAgentIdentities,
  addAgentIdentity,
  deleteAgentIdentity,
];

function changerOf(deps: IdentityDeps, call: Parameters<typeof by>[0]): changes.IdentityChanger {
  return { documents: deps.store.documents, nowMs: nowMs(deps), ...by(call) };
}

function unknownIssuer(issuers: readonly WorkloadIssuer[]) {
  const names = issuers.map(({ issuer }) => `\`${issuer}\``).join(', ');
  const detail =
    names === ''
      ? 'the setting `agents.issuers` names no issuer'
      : `the setting \`agents.issuers\` names ${names}`;
  return invalidBody({ kind: 'invalid', problems: [{ field: 'issuer', detail }] });
}

const fieldNames = { issuer: 'issuer', claims: 'required_claims', actors: 'actors' } as const;

async function refusalOf(deps: IdentityDeps, refused: Exclude<changes.NewIdentity, { kind: 'added' }>) {
  switch (refused.kind) {
    case 'invalid':
      return invalidBody({
        kind: 'invalid',
        problems: refused.problems.map(({ field, detail }) => ({ field: fieldNames[field], detail })),
      });
    case 'alike': {
      const other = await deps.store.agents.find(refused.identity.agentId);
      return conflict(
        `a token could also fit the identity \`${refused.identity.id}\` of \`${other?.name ?? refused.identity.agentId}\`: require another value of a claim that both name`,
      );
    }
    case 'too-many':
      return conflict(`there are at most ${identitiesMax} identities`);
    case 'conflict':
      return conflict();
  }
}

async function identityView(
  { store: { documents }, agentIssuers }: IdentityDeps,
  identity: AgentIdentity,
): Promise<IdentityView> {
  return await viewIdentity({ documents, issuers: agentIssuers.map(({ issuer }) => issuer) }, identity);
}
