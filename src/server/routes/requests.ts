// /v1/requests: how requests stand, for the agents that made them and for people by their roles; and the word of what
// became of a grant. `Prefer: wait=N` holds the answer while a request is pending. INVARIANT: a request that is not for
// whoever asks and none at all look the same.

import type { FastifyInstance } from 'fastify';
import { isControlOwner } from '../../agents/control-owner.ts';
import { recordName } from '../../people/person.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import type { Authorizer } from '../../requests/authorize.ts';
import type { Decisions } from '../../requests/decisions.ts';
import { requestDetail, requestSummary } from '../../requests/reply.ts';
import { type Standing, standingOf } from '../../requests/standing.ts';
import { requestStatuses } from '../../store/records.ts';
import type { RequestFilter, Store } from '../../store/store.ts';
import { detailOf, groupsOf, requestNotFound } from '../decided-view.ts';
import type { Identify } from '../identify.ts';
import { actorOf, type Call, manage } from '../manage.ts';
import type { Parameter } from '../operation.ts';
import { cursorOf, pageParameters, pageReply, readPage } from '../page.ts';
import { ProblemError } from '../problem.ts';
import {
  detailExample,
  detailSchema,
  summaryExample,
  summarySchema,
  viewDecisions,
} from '../request-view.ts';
import { idParameter, objectSchema } from '../schemas.ts';
import { preferHeader, waitAsAsked } from '../wait.ts';

export interface RequestRouteOptions {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  readonly identify: Identify;
  readonly authorizer: Authorizer;
  readonly decisions: Decisions;
  /** Ends every wait, so that the service can stop. */
  readonly stopping: AbortSignal;
}

export const requestId = idParameter('The `request_id` of the reply.', detailExample.request_id);

export async function requestRoutes(app: FastifyInstance, options: RequestRouteOptions): Promise<void> {
  const { signInDeps: deps, store, identify, authorizer, decisions, stopping } = options;
  const { clock } = deps.directory;

  /** The request as the caller may see it; null where it is none, or not for them. */
  async function look(call: Call<unknown>) {
    const id = call.params.id ?? '';
    if (call.agent !== null) return await authorizer.find(id, call.agent.id);
    const history = await store.requests.history(id);
    const standing = history === null ? null : standingOf(history);
    return standing !== null && (await isFor(store, call, standing))
      ? requestDetail(standing, clock())
      : null;
  }

  manage(app, deps, {
    ...{ method: 'GET', url: '/v1/requests', access: 'requests.view' },
    operation: {
      id: 'listRequests',
      summary: 'Requests, the latest first',
      description:
        'A page looks through a fixed number of requests, so where filters fit few it may hold fewer than `limit`, or none, and `next_cursor` goes on.',
      parameters: [...pageParameters, ...filters],
      replies: { 200: pageReply('A page of requests', summarySchema, summaryExample) },
    },
    handle: async (call) => {
      const { countMax, after } = readPage(call.query);
      const asked = readFilter(call.query, Math.trunc(clock()));
      const agentId = asked.agentId === null ? null : await agentIdOf(store, asked.agentId);
      const place = after === null ? null : { sequence: after.createdAtMs };
      const page = { ...asked, agentId, seenBy: seenBy(call), countMax, after: place };
      const { found, next } = await store.requests.list(page);
      return {
        items: found.map((history) => requestSummary(standingOf(history), clock())),
        next_cursor: next === null ? null : cursorOf({ createdAtMs: next.sequence, id: 'record' }),
      };
    },
  });

  manage(app, deps, {
    ...{ method: 'GET', url: '/v1/requests/:id', access: 'requests.view', identify },
    operation: {
      id: 'getRequest',
      summary: 'How a request stands now, and why',
      description:
        'For the agent that made it, with its key, and for people. A request that is for somebody else and none at all look the same.',
      parameters: [requestId, preferHeader],
      replies: {
        200: {
          ...{ description: 'The request', schema: detailSchema, example: detailExample },
          headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires', 'Preference-Applied'],
        },
      },
      problems: ['request_not_found'],
    },
    handle: async (call) => {
      const found = await look(call);
      if (found === null) throw requestNotFound();
      const { request, reply } = call;
      return await waitAsAsked(found, { request, reply }, { look: () => look(call), stopping });
    },
  });

  manage<{ executed: boolean }>(app, deps, {
    ...{ method: 'POST', url: '/v1/requests/:id/outcome', access: 'requests.report', identify },
    operation: {
      id: 'reportOutcome',
      summary: 'Says what became of a grant, which ends it',
      description:
        'By the agent that made the request, or a person. That a grant was used may be said late; that it will not be, only before `expires_at`. The same word again changes nothing.',
      parameters: [requestId],
      body: {
        description: 'Whether the action was carried out.',
        schema: objectSchema({ executed: { type: 'boolean' } }),
        examples: { done: { executed: true } },
      },
      replies: {
        200: {
          ...{ description: 'The request', schema: detailSchema, example: detailExample },
          headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'],
        },
      },
      problems: ['request_not_found', 'conflict'],
    },
    handle: async (call) => {
      const { executed } = call.body;
      const id = call.params.id ?? '';
      const history = await store.requests.history(id);
      if (history === null || !(await isFor(store, call, standingOf(history)))) throw requestNotFound();
      const who = call.agent === null ? recordName(actorOf(call).person) : `agent ${call.agent.id}`;
      return detailOf(await decisions.report(id, { executed, who }), clock());
    },
  });
}

/** Whether a request is for the caller, by what the table grants. */
export async function isFor(store: Store, call: Call<unknown>, standing: Standing): Promise<boolean> {
  const { record, decisions } = standing;
  if (call.agent !== null) return call.agent.id === record.agentId;
  if (call.grant === 'yes') return true;
  const groups = groupsOf(actorOf(call));
  const asked = decisions.flatMap(({ requires }) => requires?.approvals.map(({ group }) => group) ?? []);
  return asked.some((group) => groups.includes(group)) || (await isOwnersCall(store, call, record.agentId));
}

/** Whether an owner asks about what their own agent has asked. */
export async function isOwnersCall(store: Store, call: Call<unknown>, agentId: string): Promise<boolean> {
  const { person, roles } = actorOf(call);
  const agent = roles.includes('owner') ? await store.agents.find(agentId) : null;
  return agent !== null && isControlOwner(person, agent.controlOwner);
}

function seenBy(call: Call<unknown>): RequestFilter['seenBy'] {
  if (call.grant === 'yes') return null;
  const { person, roles } = actorOf(call);
  return {
    owner: roles.includes('owner') ? { id: person.id, email: person.email } : null,
    groups: groupsOf(actorOf(call)),
  };
}

/** An agent is named by id or name; one that is not there has made no request. */
async function agentIdOf({ agents }: Store, named: string): Promise<string> {
  return (await agents.find(named))?.id ?? named;
}

function readFilter(query: Readonly<Record<string, string>>, nowMs: number): Omit<RequestFilter, 'seenBy'> {
  return {
    agentId: query.agent ?? null,
    actionKey: query.action ?? null,
    status: requestStatuses.find((status) => status === query.status) ?? null,
    outcome: query.decision ?? null,
    policy: query.policy ?? null,
    riskMin: query.risk_min === undefined ? null : readRisk(query.risk_min),
    fromMs: query.from === undefined ? null : readTime('from', query.from),
    untilMs: query.to === undefined ? null : readTime('to', query.to),
    nowMs,
  };
}

function readRisk(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text);
  throw new ProblemError('invalid_query', '`risk_min` is a whole number from 0 to 100');
}

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

function readTime(name: string, text: string): number {
  const ms = timeForm.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new ProblemError('invalid_query', `\`${name}\` is a time such as 2026-03-02T10:00:00Z`);
}

function filter(name: string, description: string, example: string, values?: readonly string[]): Parameter {
  const schema = values === undefined ? { type: 'string' } : { type: 'string', enum: values };
  return { name, in: 'query', isRequired: false, description, schema, example };
}

const filters: readonly Parameter[] = [
  filter('decision', 'The first decision, before people had their say.', 'ESCALATE', viewDecisions),
  filter('status', 'How it stands now.', 'pending', requestStatuses),
  filter('agent', 'The id or name of the agent.', 'buyer-1'),
  filter('action', 'The whole key of the action.', 'payment.create'),
  filter('policy', 'The policy of the first decision.', 'vendor_payments'),
  filter('from', 'Made at this time or later; RFC 3339.', '2026-03-02T10:00:00Z'),
  filter('to', 'Made at this time or earlier; RFC 3339.', '2026-03-03T10:00:00Z'),
  filter('risk_min', 'The least risk of the first decision, 0 to 100.', '50'),
];
