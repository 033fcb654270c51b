// Standing approvals: the list of those that people have given, one of them, and its revocation.

import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import type { StandingKey } from '../../../requests/approvals/standing-approval.ts';
import type { StandingOffer } from '../../../requests/approvals/standing-vote.ts';
import type { StandingApprovals, StandingState } from '../../../requests/standing/standing-approvals.ts';
import { notAllowed, notFound } from '../../auth/auth-refusals.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { cursorOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import { idParameter, objectSchema, text, textOrNull, time, timeOrNull } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';

interface StandingDeps {
  readonly standingApprovals: StandingApprovals;
}

const perSchema = {
  type: 'array',
  description: 'The keys with their values; a request is covered only if it has equal values.',
  items: objectSchema({
    key: { ...text(1_000), description: '`session`, `user` or a field such as `payload.vendor`.' },
    value: { type: ['string', 'number', 'boolean'] },
  }),
} as const;

const timesSchema = {
  type: ['integer', 'null'],
  minimum: 1,
  description: 'How many requests it may serve; null for any number.',
} as const;

const standingSchema = objectSchema({
  id: { type: 'string' },
  rule: { type: 'string', description: 'The rule that it satisfies, as `policy/rule`.' },
  agent_id: { type: 'string' },
  agent: { type: 'string', description: "The agent's name." },
  request_id: { type: 'string', description: 'The request that was approved.' },
  action_key: { type: 'string' },
  per: perSchema,
  given_by: { type: 'array', items: { type: 'string' } },
  given_at: time,
  until: time,
  times: timesSchema,
  used: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'How many requests have used it; null if not known yet.',
  },
  ended: {
    ...textOrNull,
    description: 'Why it covers nothing any more, as a phrase; null while it covers requests.',
  },
  revoked_by: textOrNull,
  revoked_at: timeOrNull,
  can_revoke: { type: 'boolean', description: 'Whether the caller can revoke it.' },
});

const standingExample = {
  id: '3d1f0c52-8a07-4b1e-9b7d-2f7a8c6e5d40',
  rule: 'vendor_payments/new_payee',
  agent_id: '5f0c9f6e-9c1b-4c3e-9d43-0a4c2f0f6f3a',
  agent: 'buyer-1',
  request_id: '019a0000-0000-7000-8000-000000000000',
  action_key: 'payment.create',
  per: [
    { key: 'payload.vendor', value: 'Staples' },
    { key: 'session', value: 'session-1' },
  ],
  given_by: ['ben@example.com (b3f1c2d4-0000-4000-8000-000000000000)'],
  given_at: '2026-03-02T10:00:00.000Z',
  until: '2026-03-02T18:00:00.000Z',
  times: 10,
  used: 3,
  ended: null,
  revoked_by: null,
  revoked_at: null,
  can_revoke: true,
};

/** What an approver may choose; part of a request's detail. */
export const offerSchema = {
  type: ['array', 'null'],
  description:
    'What an approver can choose in place of approving once, for each rule with a `standing` clause; null for an agent.',
  items: objectSchema({
    rule: { type: 'string' },
    per: perSchema,
    seconds: { type: 'integer', minimum: 1, description: 'How long it may last from the approval on.' },
    times: timesSchema,
  }),
} as const;

export interface OfferView {
  readonly rule: string;
  readonly per: readonly StandingKey[];
  readonly seconds: number;
  readonly times: number | null;
}

export function offerView({ rule: { rule, standing }, keys }: StandingOffer): OfferView {
  return { rule, per: keys, seconds: standing.seconds, times: standing.times };
}

const standingId = idParameter('The id of the standing approval.', standingExample.id);

const listStandingApprovals = route<StandingDeps>({
  method: 'GET',
  url: '/v1/standing-approvals',
  access: 'requests.view',
  operation: {
    id: 'listStandingApprovals',
    summary: 'Standing approvals, newest first',
    description:
      'Those whose request the caller may see, until their time is over. A page may have fewer items than `limit`.',
    parameters: [
      ...pageParameters,
      {
        name: 'agent',
        in: 'query',
        isRequired: false,
        description: 'Only those of the agent with this id.',
        schema: { type: 'string' },
        example: standingExample.agent_id,
      },
    ],
    replies: { 200: pageReply('A page of standing approvals', standingSchema, standingExample) },
  },
  handle: async ({ standingApprovals }, call) => {
    const { agent: agentId = null } = call.query;
    const page = { ...readPage(call.query), agentId };
    const { items, next } = await standingApprovals.list(callerOf(actorOf(call)), page);
    return { items: items.map(standingView), next_cursor: next === null ? null : cursorOf(next) };
  },
});

const getStandingApproval = route<StandingDeps>({
  method: 'GET',
  url: '/v1/standing-approvals/:id',
  access: 'requests.view',
  operation: {
    id: 'getStandingApproval',
    summary: 'A standing approval',
    parameters: [standingId],
    replies: {
      200: { description: 'The standing approval', schema: standingSchema, example: standingExample },
    },
    problems: ['not_found'],
  },
  handle: async ({ standingApprovals }, call) => {
    const state = await standingApprovals.find(callerOf(actorOf(call)), call.params.id ?? '');
    if (state === null) throw unknownApproval();
    return standingView(state);
  },
});

const revokeStandingApproval = route<StandingDeps>({
  method: 'POST',
  url: '/v1/standing-approvals/:id/revoke',
  access: 'requests.reject',
  operation: {
    id: 'revokeStandingApproval',
    summary: 'Revokes a standing approval',
    description:
      'By whoever gave it, the control owner of the agent, or an admin. After the reply, no request is granted under it. Grants that were given stay.',
    parameters: [standingId],
    replies: {
      200: { description: 'The standing approval', schema: standingSchema, example: standingExample },
    },
    problems: ['not_found'],
  },
  handle: async ({ standingApprovals }, call) => {
    const result = await standingApprovals.revoke(callerOf(actorOf(call)), call.params.id ?? '');
    if (!('kind' in result)) return standingView(result);
    throw result.kind === 'unknown' ? unknownApproval() : notAllowed(result.detail);
  },
});

export const standingApprovalRoutes: readonly Route<StandingDeps>[] = [
  listStandingApprovals,
  getStandingApproval,
  revokeStandingApproval,
];

function unknownApproval() {
  return notFound('standing approval');
}

function standingView({ approval, agent, votes, untilMs, times, used, ended, isRevocable }: StandingState) {
  const { id, rule, requestId, actionKey, per, createdAtMs, revoked } = approval;
  return {
    id,
    rule,
    agent_id: agent.id,
    agent: agent.name,
    request_id: requestId,
    action_key: actionKey,
    per,
    given_by: votes.map(({ who }) => who),
    given_at: isoTime(createdAtMs),
    until: isoTime(untilMs),
    times,
    used,
    ended,
    revoked_by: revoked?.who ?? null,
    revoked_at: isoTimeOrNull(revoked?.atMs ?? null),
    can_revoke: isRevocable,
  };
}
