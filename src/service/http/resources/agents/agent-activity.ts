// Shows what an agent does: how often it asked lately and with what result, and what is usual in the payloads
// that it was granted. INVARIANT: what is usual is shown only to those who may see the agent's requests, and
// to those who are asked to approve a request for the same action.

import type { Json, JsonObject } from '../../../../language/model/json.ts';
import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import { isControlOwner } from '../../../agents/agent-facts.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { pathStep, textLengthMax } from '../../../requests/confusables.ts';
import { createCell, refusalsByCode } from '../../../statistics/cell.ts';
import type { Statistics } from '../../../statistics/statistics.ts';
import { hourMs } from '../../../statistics/times.ts';
import type { AgentRow } from '../../../store/contract/records.ts';
import { anyRequest, type Store } from '../../../store/contract/store.ts';
import { notFound } from '../../auth/auth-refusals.ts';
import type { RateLimit } from '../../auth/rate-limit.ts';
import { callerOf } from '../../auth/request-rights.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { refusalCounts, refusalsExample, refusalsSchema } from '../../contract/refusal-problems.ts';
import { idParameter, objectSchema, time, timeOrNull } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';
import type { DaysOf } from './agent-activity-view.ts';
import { agentOf } from './agent-filter.ts';
import { agentExample } from './agent-view.ts';
import { grantedMax, lastGranted } from './last-granted.ts';

// Turns the payloads of many requests into a payload profile: for each field, the range of its numbers or its
// most frequent values. INVARIANT: the profile is small, whatever the number and content of the payloads.

export type ProfileField =
  | {
      readonly path: string;
      readonly kind: 'number';
      readonly min: number;
      readonly p50: number;
      readonly max: number;
    }
  | {
      readonly path: string;
      readonly kind: 'text' | 'other';
      /** How many different values the field has. */
      readonly distinct: number;
      /** The most frequent values first. */
      readonly common: readonly { readonly value: Json; readonly count: number }[];
    };

export const fieldsMax = 100;
const commonMax = 5;

/**
 * The fields in the order in which they are met; fields of a list's elements are taken together, as
 * `items[].price`.
 */
export function profileFields(payloads: readonly JsonObject[]): readonly ProfileField[] {
  const values = new Map<string, Scalar[]>();
  for (const payload of payloads) collect(payload, '', values);
  return [...values].map(([path, fieldValues]) => fieldOf(path, fieldValues));
}

type Scalar = string | number | boolean | null;

function collect(value: Json, path: string, values: Map<string, Scalar[]>): void {
  if (Array.isArray(value)) {
    for (const element of value) collect(element, `${path}[]`, values);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) collect(inner, pathStep(path, name), values);
  } else {
    const cached = values.get(path);
    if (cached !== undefined) cached.push(value as Scalar);
    else if (values.size < fieldsMax) values.set(path, [value as Scalar]);
  }
}

function fieldOf(path: string, values: readonly Scalar[]): ProfileField {
  if (values.every((value) => typeof value === 'number')) {
    const sorted = values.toSorted((a, b) => a - b);
    const at = (index: number): number => sorted[index] ?? 0;
    const middle = Math.ceil(sorted.length / 2) - 1;
    return { path, kind: 'number', min: at(0), p50: at(middle), max: at(sorted.length - 1) };
  }
  const counts = new Map<Scalar, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  // Of values that are equally frequent, the one that was met first comes first.
  const frequent = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, commonMax);
  return {
    path,
    kind: values.every((value) => typeof value === 'string') ? 'text' : 'other',
    distinct: counts.size,
    common: frequent.map(([value, count]) => ({
      value: typeof value === 'string' ? cut(value) : value,
      count,
    })),
  };
}

function cut(text: string): string {
  return text.length <= textLengthMax ? text : `${text.slice(0, textLengthMax - 1)}…`;
}

interface AgentActivityDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  /** The rate of agents that have no rate of their own. */
  readonly rate: RateLimit;
  readonly daysOf: DaysOf;
  readonly statistics: Pick<Statistics, 'read'>;
  /** How many requests of one agent may wait for people at the same time. */
  readonly openRequestsMax: number;
}

const id = idParameter('The id in the list.', agentExample.id);
const count: JsonSchema = { type: 'integer', minimum: 0 };
const atLeastOne: JsonSchema = { type: 'integer', minimum: 1 };

const activitySchema = objectSchema({
  last_used_at: {
    ...timeOrNull,
    description: 'The last use of any key, to the minute; null before the first use.',
  },
  days: {
    type: 'array',
    description: 'Oldest first.',
    items: objectSchema({
      at: time,
      allow: count,
      deny: count,
      escalate: count,
      reauth: count,
      refused: count,
    }),
  },
  refusals: {
    ...refusalsSchema,
    description:
      'Refusals of the last 24 hours per error code, most frequent first, including those that are not recorded (429, 5xx).',
  },
  open_requests: { ...count, description: 'Pending requests.' },
  open_requests_max: {
    ...atLeastOne,
    description:
      'The maximum number of pending requests (`requests.open_max`). Requests that need an approval are refused beyond it.',
  },
  rate: objectSchema({ per_minute: atLeastOne, burst: atLeastOne, is_own: { type: 'boolean' } }),
});

const activityExample = {
  last_used_at: '2026-03-02T10:05:00.000Z',
  days: [{ at: '2026-03-02T00:00:00.000Z', allow: 41, deny: 2, escalate: 1, reauth: 0, refused: 0 }],
  refusals: refusalsExample,
  open_requests: 1,
  open_requests_max: 20,
  rate: { per_minute: 600, burst: 100, is_own: false },
};

const payloadProfileSchema = objectSchema({
  count: { ...count, maximum: grantedMax },
  from: timeOrNull,
  to: timeOrNull,
  fields: {
    type: 'array',
    maxItems: fieldsMax,
    items: objectSchema(
      { path: { type: 'string' }, kind: { type: 'string', enum: ['number', 'text', 'other'] } },
      {
        min: { type: 'number' },
        p50: { type: 'number' },
        max: { type: 'number' },
        distinct: count,
        common: {
          type: 'array',
          maxItems: commonMax,
          items: objectSchema({
            value: { description: 'The string; long strings are shortened.' },
            count: atLeastOne,
          }),
        },
      },
    ),
  },
});

const payloadProfileExample = {
  count: 212,
  from: '2026-02-02T10:00:00.000Z',
  to: '2026-03-02T10:00:00.000Z',
  fields: [
    { path: 'amount', kind: 'number', min: 12, p50: 240, max: 980 },
    { path: 'vendor', kind: 'text', distinct: 9, common: [{ value: 'Staples', count: 120 }] },
  ],
};

const getAgentActivity = route<AgentActivityDeps>({
  method: 'GET',
  url: '/v1/agents/:id/activity',
  access: 'agents.view',
  operation: {
    id: 'getAgentActivity',
    summary: "The results of an agent's requests in the last 14 days, and its limits",
    description:
      'Days are in UTC. `refused` counts the recorded requests that were refused before any policy.',
    parameters: [id],
    replies: {
      200: { description: 'The activity', schema: activitySchema, example: activityExample },
    },
    problems: ['not_found'],
  },
  handle: async ({ store, rate, daysOf, signInDeps, statistics, openRequestsMax }, call) => {
    const nowMs = Math.trunc(signInDeps.directory.clock());
    const agent = await agentOf(store, call);
    const keys = await store.agents.keys(agent.id);
    const usedAtMs = Math.max(0, ...keys.map(({ lastUsedAtMs }) => lastUsedAtMs ?? 0));
    const days = await daysOf(agent.id, nowMs);
    return {
      last_used_at: isoTimeOrNull(usedAtMs === 0 ? null : usedAtMs),
      days: days.map(({ atMs, ...counts }) => ({ at: isoTime(atMs), ...counts })),
      refusals: await refusalsOf(statistics, agent.id, nowMs),
      open_requests: await store.requests.countOpen(agent.id, nowMs),
      open_requests_max: openRequestsMax,
      rate: {
        per_minute: agent.ratePerMinute ?? rate.perMinute,
        burst: agent.burst ?? rate.burst,
        is_own: agent.ratePerMinute !== null || agent.burst !== null,
      },
    };
  },
});

const getPayloadProfile = route<AgentActivityDeps>({
  method: 'GET',
  url: '/v1/agents/:id/payload-profile',
  access: 'requests.view',
  operation: {
    id: 'getPayloadProfile',
    summary: 'The payload profile of an agent and an action: the usual values in granted requests',
    description: `For each field of the recorded payloads in the last ${grantedMax} granted requests: the range of numbers, and the most frequent other values. At most ${fieldsMax} fields. List elements share one field, such as \`items[].price\`.`,
    parameters: [
      id,
      {
        name: 'action',
        in: 'query',
        isRequired: true,
        schema: { type: 'string' },
        description: 'The complete key of the action.',
        example: 'payment.create',
      },
    ],
    replies: {
      200: {
        description: 'The payload profile',
        schema: payloadProfileSchema,
        example: payloadProfileExample,
      },
    },
    problems: ['not_found'],
  },
  handle: async ({ store, signInDeps }, call) => {
    const agent = await agentToCompare(store, call, Math.trunc(signInDeps.directory.clock()));
    const actionKey = call.query.action;
    if (actionKey === undefined) throw new ProblemError('invalid_query', '`action` is missing');
    const requests = await lastGranted(store, agent.id, actionKey);
    // The text was written by `requestRow`, so it is valid JSON.
    const payloads = requests.map(({ payloadJson }) => JSON.parse(payloadJson) as JsonObject);
    return {
      count: requests.length,
      from: isoTimeOrNull(requests.at(-1)?.createdAtMs ?? null),
      to: isoTimeOrNull(requests[0]?.createdAtMs ?? null),
      fields: profileFields(payloads),
    };
  },
});

export const agentActivityRoutes: readonly Route<AgentActivityDeps>[] = [getAgentActivity, getPayloadProfile];

/** The agent's refusals of the last 24 hours, by error code. */
async function refusalsOf(statistics: Pick<Statistics, 'read'>, agentId: string, nowMs: number) {
  const day = createCell();
  await statistics.read({ fromMs: nowMs - 24 * hourMs, untilMs: nowMs + 1 }, ({ addTo }) => addTo(day));
  return refusalCounts(refusalsByCode(day, agentId));
}

/**
 * The agent, when the caller may see its requests or is asked to approve one for the action; else throws a
 * ProblemError (404).
 */
async function agentToCompare(store: Store, call: ManagedCall<unknown>, nowMs: number): Promise<AgentRow> {
  const { id = '' } = call.params;
  const agent = await store.agents.find(id);
  if (agent === null || agent.id !== id) throw notFound('agent');
  // A control owner may look, by whichever role they may see requests at all.
  const actor = actorOf(call);
  if (call.scope.all || isControlOwner(actor.person, agent.controlOwner)) return agent;
  const { action: actionKey = '' } = call.query;
  const requests = await store.requests.list({
    ...anyRequest,
    agentId: id,
    actionKey,
    status: 'pending',
    nowMs,
    countMax: 1,
    after: null,
    seenBy: {
      owner: null,
      asked: { groups: callerOf(actor).view.groups, owner: null },
      giver: null,
    },
  });
  if (requests.items.length === 0) throw notFound('agent');
  return agent;
}
