// The decision point of AuthZEN (Authorization API 1.0): one evaluation, several in one call, what an agent
// could do with a resource, and the addresses of all this. INVARIANT: a denial is a 200; unknown members of a
// body are ignored.

import type { FastifyRequest } from 'fastify';
import { possibilities } from '../../../../language/model/possibility.ts';
import { agentFacts } from '../../../agents/agent-facts.ts';
import type { JsonSchema, OperationReply } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { objectSchema } from '../../contract/schemas.ts';
import { callerIn, type ManagedCall, payloadBodyMax, type Route, route } from '../../routing/route.ts';
import { type Entities, entitiesExample, entitiesSchema, entitySchemas } from './entities.ts';
import { type EvaluateDeps, type EvaluationReply, evaluateEntities } from './evaluate.ts';

export interface EvaluationDeps extends EvaluateDeps {
  readonly takeMore: (request: FastifyRequest, count: number) => void;
}

const evaluationsMax = 100;

const decisionSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['decision'],
  properties: { decision: { type: 'boolean' }, context: { type: 'object', additionalProperties: true } },
};

const evaluatedExample = {
  decision: false,
  context: {
    message: 'Payments over 1000 USD need two people from finance',
    evaluation_id: '019a0000-0000-7000-8000-000000000000',
    reason: 'policy_denied',
    policy: 'vendor_payments',
    next_action: 'none',
  },
} as const;

const limitHeaders = ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'] as const;

const problemsOfDecisions = [
  'invalid_body',
  'invalid_signature',
  'too_many_in_flight',
  'too_many_open_requests',
] as const;

const evaluateAccess = route<EvaluationDeps, Entities>({
  method: 'POST',
  url: '/access/v1/evaluation',
  access: 'agent',
  isForDelegates: true,
  bodyMax: payloadBodyMax,
  operation: {
    id: 'evaluateAccess',
    summary: 'Evaluates an access request (AuthZEN)',
    description:
      'The action is `action.name` if it is declared, otherwise `resource.type.action.name`. An evaluation is recorded and never becomes a pending request: if people could grant it, it is a denial with `context.access_request`. `context.approval` carries the approval of an access request. `subject.properties.delegation_chain` may state the chain of delegations of the key, by names, and no other; a sub-agent’s reply shows it as `context.subject`. The key is sent as `X-Agent-API-Key` or `Authorization: Bearer`.',
    body: {
      description: 'Unknown fields are ignored.',
      schema: entitiesSchema,
      examples: { read: entitiesExample },
    },
    replies: {
      200: {
        description: 'The decision',
        schema: decisionSchema,
        example: evaluatedExample,
        headers: [...limitHeaders],
      },
    },
    problems: [...problemsOfDecisions],
  },
  handle: async (deps, { request, body }) => evaluateEntities(deps, request, body),
});

interface Batch extends Partial<Entities> {
  readonly evaluations?: readonly Partial<Entities>[];
  readonly options?: { readonly evaluations_semantic?: keyof typeof endsWith };
}

/** The decision after which the remaining evaluations are skipped; null skips none. */
const endsWith = { execute_all: null, deny_on_first_deny: false, permit_on_first_permit: true } as const;

const batchReply: OperationReply = {
  description: 'The decisions in order; a single decision if `evaluations` is missing or empty',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      decision: { type: 'boolean' },
      context: { type: 'object', additionalProperties: true },
      evaluations: { type: 'array', items: decisionSchema },
    },
  },
  example: { evaluations: [{ decision: true }, evaluatedExample] },
  headers: [...limitHeaders],
};

const evaluateAccesses = route<EvaluationDeps, Batch>({
  method: 'POST',
  url: '/access/v1/evaluations',
  access: 'agent',
  isForDelegates: true,
  bodyMax: payloadBodyMax,
  operation: {
    id: 'evaluateAccesses',
    summary: 'Several AuthZEN evaluations in one call',
    description: `At most ${evaluationsMax} evaluations; each counts as one request. Entities at the top level are defaults for entries without them; they are not merged. An invalid entry is a denial with \`context.error\`.`,
    body: {
      description: 'Unknown fields are ignored.',
      schema: {
        type: 'object',
        properties: {
          evaluations: { type: 'array', maxItems: evaluationsMax, items: { type: 'object' } },
          options: {
            type: 'object',
            properties: { evaluations_semantic: { type: 'string', enum: Object.keys(endsWith) } },
          },
        },
      },
      examples: { two: { ...entitiesExample, evaluations: [{}, { action: { name: 'write' } }] } },
    },
    replies: { 200: batchReply },
    problems: [...problemsOfDecisions],
  },
  handle: async (deps, call) => {
    const { evaluations = [], options = {}, ...defaults } = call.body;
    if (evaluations.length === 0)
      return await evaluateEntities(deps, call.request, checked(call.request, defaults));
    deps.takeMore(call.request, evaluations.length - 1);
    const last = endsWith[options.evaluations_semantic ?? 'execute_all'];
    const results: EvaluationReply[] = [];
    for (const one of evaluations) {
      const result = await entryOf(deps, call, { ...defaults, ...one });
      results.push(result);
      if (result.decision === last) break;
    }
    return { evaluations: results };
  },
});

/**
 * The entities, once they fit their schema; throws the error with which `POST /access/v1/evaluation` answers
 * such a body.
 */
function checked(request: FastifyRequest, entities: object): Entities {
  const validate = request.compileValidationSchema(entitiesSchema);
  if (validate(entities)) return entities as Entities;
  const [error] = validate.errors ?? [];
  throw new ProblemError('invalid_body', error?.message ?? 'the entities are invalid', {
    errors: [{ pointer: error?.instancePath ?? '', detail: error?.message ?? 'is invalid' }],
  });
}

async function entryOf(
  deps: EvaluationDeps,
  { request }: ManagedCall<Batch>,
  entities: object,
): Promise<EvaluationReply> {
  try {
    return await evaluateEntities(deps, request, checked(request, entities));
  } catch (error) {
    if (!(error instanceof ProblemError) || error.code !== 'invalid_body') throw error;
    return { decision: false, context: { error: { status: 400, message: error.message } } };
  }
}

type SearchTerms = Pick<Entities, 'subject' | 'resource'>;

const searchActions = route<EvaluationDeps, SearchTerms>({
  method: 'POST',
  url: '/access/v1/search/action',
  access: 'agent',
  bodyMax: payloadBodyMax,
  operation: {
    id: 'searchActions',
    summary: 'The actions that the agent could be granted for a type of resource',
    description:
      'The names of actions `TYPE.NAME` that could be granted for some payload, also after approval. Subject and properties are unknown. Nothing is recorded.',
    body: {
      description: 'Unknown fields are ignored.',
      schema: {
        type: 'object',
        required: ['subject', 'resource'],
        properties: {
          subject: entitySchemas.subject,
          resource: entitySchemas.resource,
          context: entitySchemas.context,
          page: { type: 'object' },
        },
      },
      examples: { record: { subject: entitiesExample.subject, resource: entitiesExample.resource } },
    },
    replies: {
      200: {
        description: 'All actions',
        schema: objectSchema({
          results: { type: 'array', items: objectSchema({ name: { type: 'string' } }) },
        }),
        example: { results: [{ name: 'read' }] },
        headers: [...limitHeaders],
      },
    },
  },
  handle: async ({ policies }, call) => {
    const facts = agentFacts(callerIn(call).agent);
    const current = policies.current();
    const prefix = `${call.body.resource.type}.`;
    const keys = [...current.actions()].filter((key) => key.startsWith(prefix));
    const possible = keys.filter((key) => current.possibility(key, facts) !== possibilities[0]);
    return { results: possible.map((key) => ({ name: key.slice(prefix.length) })) };
  },
});

const getDecisionPointMetadata = route<EvaluationDeps>({
  method: 'GET',
  url: '/.well-known/authzen-configuration',
  access: 'public',
  operation: {
    id: 'getDecisionPointMetadata',
    summary: 'The AuthZEN endpoints',
    replies: {
      200: {
        description: 'The addresses of the available endpoints',
        schema: objectSchema(
          {
            policy_decision_point: { type: 'string' },
            access_evaluation_endpoint: { type: 'string' },
            access_evaluations_endpoint: { type: 'string' },
            search_action_endpoint: { type: 'string' },
            access_request_endpoint: { type: 'string' },
            capabilities: { type: 'array', items: { type: 'string' } },
            supported_obligations: { type: 'array', items: { type: 'string' } },
          },
          { jwks_uri: { type: 'string' } },
        ),
        example: metadataOf('https://writ.example.com', true),
      },
    },
  },
  handle: async ({ origin, receipts }) => metadataOf(origin, receipts.isOn),
});

/** The metadata of the decision point; it names the public keys only when receipts are signed. */
function metadataOf(origin: string, areReceiptsOn: boolean) {
  return {
    policy_decision_point: origin,
    access_evaluation_endpoint: `${origin}/access/v1/evaluation`,
    access_evaluations_endpoint: `${origin}/access/v1/evaluations`,
    search_action_endpoint: `${origin}/access/v1/search/action`,
    access_request_endpoint: `${origin}/access/v1/requests`,
    capabilities: ['urn:openid:authzen:capability:access-request'],
    supported_obligations: ['step-up'],
    ...(areReceiptsOn ? { jwks_uri: `${origin}/.well-known/jwks.json` } : {}),
  };
}

export const evaluationRoutes: readonly Route<EvaluationDeps>[] = [
  evaluateAccess,
  evaluateAccesses,
  searchActions,
  getDecisionPointMetadata,
];
