// The schemas of a request as clients see it: the eight fields of a reply, and the detail behind them. Routes
// answer by these schemas, and the OpenAPI document shows them.

import { commentKinds } from '../../../requests/record/request-state.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { chatAccountOrNull, objectSchema } from '../../contract/schemas.ts';
import { marksShape, noMarks } from './inbox-marks.ts';
import { reviewExample, reviewSchema } from './reviews.ts';
import { offerSchema } from './standing-approvals.ts';

export const viewDecisions = ['ALLOW', 'DENY', 'ESCALATE', 'REAUTH_REQUIRED'] as const;

const viewProperties = {
  request_id: { type: 'string', format: 'uuid', description: 'UUID version 7.' },
  decision: { type: 'string', enum: viewDecisions },
  reason: { type: 'string', description: 'The text of the deciding rule, with values filled in.' },
  matched_policy: {
    type: 'string',
    description:
      'The policy of the deciding rule, or `default_deny`, `invalid_payload` or `undeclared_action`.',
  },
  risk_score: { type: 'integer', minimum: 0, maximum: 100 },
  status: { type: 'string', enum: ['auto_approved', 'rejected', 'pending'] },
  message: { type: 'string', description: 'What the client has to do next.' },
  expires_at: { type: 'string', format: 'date-time', description: 'RFC 3339, UTC.' },
} as const;

const cameBySchema = {
  type: ['object', 'null'],
  description: 'The enforcement point that sent the request; null if the agent sent it.',
  required: ['id', 'name'],
  additionalProperties: false,
  properties: { id: { type: 'string' }, name: { type: 'string' } },
} as const satisfies JsonSchema;

const chainSchema = {
  type: 'array',
  description:
    'The delegations by which a sub-agent asked, the agent’s own first; empty if the agent asked by itself.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'name', 'actions', 'when', 'uses'],
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      actions: { type: 'array', items: { type: 'string' } },
      when: { type: ['string', 'null'] },
      uses: {
        type: ['integer', 'null'],
        description: 'How many requests may come by the delegation; null for any number.',
      },
    },
  },
} as const satisfies JsonSchema;

const titleSchema = {
  type: 'string',
  description:
    'A one-line title; empty if there is none. Texts have the spelling that rules see, followed by the spelling of the agent if it differs.',
} as const;

/** The reply to `POST /v1/authorize`, with exactly these eight fields. */
export const viewSchema = {
  type: 'object',
  additionalProperties: false,
  required: Object.keys(viewProperties),
  properties: viewProperties,
} as const satisfies JsonSchema;

const openSchema = { type: 'object', additionalProperties: true } as const;

export const statusNow = {
  type: 'string',
  enum: ['auto_approved', 'rejected', 'pending', 'approved', 'expired', 'consumed', 'withdrawn'],
} as const;

const time = { type: 'string', format: 'date-time' } as const;

const decidedAt = {
  type: ['string', 'null'],
  description: 'RFC 3339, UTC; null while the request is pending.',
} as const;

const approversSchema = {
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    properties: {
      from: { type: 'string', description: 'The expression that names the approver.' },
      group: { type: 'string' },
      person: { type: 'string' },
      name: { type: 'string' },
      unknown: { type: 'string' },
    },
  },
} as const;

const requiresSchema = {
  type: ['object', 'null'],
  description: 'What people still have to do; null if the request is not pending.',
  required: ['approvals', 'step_up', 'invalidated'],
  additionalProperties: false,
  properties: {
    approvals: {
      type: 'array',
      items: {
        type: 'object',
        required: ['group', 'needs', 'given'],
        additionalProperties: false,
        properties: {
          group: { type: 'string', description: 'A group, or the approvers as the policy names them.' },
          any_of: {
            ...approversSchema,
            description:
              'Who may approve, any of them; absent if one group may. An approver is a group, a person by address or id with their name, or unknown for a reason. For an unknown approver nobody can approve.',
          },
          fallbacks: {
            type: 'array',
            description: 'Who may approve as well from a time on, in order; absent if there are none.',
            items: objectSchema({ asked_at: time, any_of: approversSchema }),
          },
          needs: { type: 'integer', minimum: 1 },
          given: { type: 'integer', minimum: 0 },
        },
      },
    },
    step_up: { type: 'boolean', description: "Whether the agent's control owner has to step up first." },
    invalidated: {
      type: 'array',
      description: 'Approvals that no longer count.',
      items: {
        type: 'object',
        required: ['by', 'group', 'reason'],
        additionalProperties: false,
        properties: {
          by: { type: 'string' },
          group: { type: ['string', 'null'] },
          reason: { type: 'string', description: "A phrase that follows the person's name." },
        },
      },
    },
  },
} as const;

const approvalSchema = {
  type: 'object',
  required: [
    'by',
    'stands_in_for',
    'group',
    'is_approved',
    'comment',
    'at',
    'chat',
    'standing',
    'invalid_reason',
  ],
  additionalProperties: false,
  properties: {
    by: { type: 'string' },
    stands_in_for: {
      type: ['string', 'null'],
      description:
        "The e-mail address of the person in whose place the vote was given; null for the voter's own.",
    },
    group: { type: ['string', 'null'] },
    is_approved: { type: 'boolean' },
    comment: { type: 'string' },
    at: time,
    chat: chatAccountOrNull,
    standing: {
      type: 'array',
      description: 'What later requests the approval serves; empty if it is for this request only.',
      items: objectSchema({
        rule: { type: 'string' },
        until: time,
        times: { type: ['integer', 'null'], description: 'Null for any number of requests.' },
      }),
    },
    invalid_reason: {
      type: ['string', 'null'],
      description:
        'Why the vote no longer counts, as a phrase that follows the name; null if it counts or the request is not pending.',
    },
  },
} as const;

const commentSchema = objectSchema({
  by: { type: 'string' },
  kind: { type: 'string', enum: commentKinds },
  text: { type: 'string' },
  at: time,
  chat: chatAccountOrNull,
});

const stepUpSchema = objectSchema({
  by: { type: 'string' },
  passkey: {
    type: ['string', 'null'],
    description: 'The name of the passkey; null for a password with a one-time code.',
  },
  at: time,
});

const reminderSchema = objectSchema({
  at: time,
  people: { type: 'integer', minimum: 1, description: 'How many people were reminded.' },
  ends_at: time,
  ends_with_fallback: {
    type: 'boolean',
    description: 'Whether others are asked at `ends_at`; otherwise the request expires then.',
  },
});

const allowedActionsProperties = {
  approve: {
    type: 'array',
    description: 'Groups for which the caller can approve.',
    items: { type: 'string' },
  },
  stands_in_for: {
    type: 'array',
    description:
      'Those of the groups for which the caller can approve as a stand-in only, each with the name of the person in whose place.',
    items: objectSchema({ group: { type: 'string' }, name: { type: 'string' } }),
  },
  reject: { type: 'boolean' },
  revoke_approval: { type: 'boolean', description: 'Whether the caller can revoke their approval.' },
  comment: { type: 'boolean', description: 'Whether the caller can comment.' },
  step_up: { type: 'boolean' },
  report: { type: 'boolean', description: 'Whether the caller can report the outcome of the grant.' },
  reason: { type: ['string', 'null'], description: 'Why the caller cannot approve; null if they can.' },
} as const;

const allowedActionsShape = {
  required: Object.keys(allowedActionsProperties),
  additionalProperties: false,
  properties: allowedActionsProperties,
} as const;

const onBehalfSchema = {
  type: ['object', 'null'],
  description:
    'The person for whom the agent acts, according to the token in `X-On-Behalf-Of`; null without a token.',
  required: ['user', 'unknown'],
  additionalProperties: false,
  properties: {
    user: {
      type: ['object', 'null'],
      description: 'The person in the verified token; null if the token could not be verified.',
      additionalProperties: false,
      properties: {
        id: { type: 'string' },
        email: { type: 'string' },
        roles: { type: 'array', items: { type: 'string' } },
        groups: { type: 'array', items: { type: 'string' } },
      },
    },
    unknown: {
      type: ['string', 'null'],
      description: 'Why the person is unknown, in one sentence; null if the person is known.',
    },
  },
} as const;

const planPlaceSchema = {
  type: ['object', 'null'],
  description: 'The plan that the request is a step of; null if it belongs to none.',
  required: ['id', 'goal', 'step', 'steps'],
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    goal: { type: ['string', 'null'] },
    step: { type: 'integer', minimum: 1, description: 'The number of the step.' },
    steps: { type: 'integer', minimum: 1, description: 'The number of steps of the plan.' },
  },
} as const satisfies JsonSchema;

const digestSchema = {
  type: 'string',
  description:
    'SHA-256 of the agent, action, payload and, if known, the id of the person, as canonical JSON (RFC 8785). An approval is valid for this digest only.',
} as const;

const peopleSchema = {
  type: 'array',
  description:
    "The people who have acted on the request, and the agent's control owner, as they are called today; empty for an agent.",
  items: objectSchema({
    id: { type: 'string' },
    name: { type: 'string' },
    email: { type: 'string' },
  }),
} as const;

/** The reply to `GET /v1/requests/{id}`. */
export const detailSchema = {
  type: 'object',
  additionalProperties: false,
  required: [
    ...Object.keys(viewProperties),
    'action_key',
    'title',
    'payload',
    'resolved',
    'agent',
    'point',
    'chain',
    'on_behalf_of',
    'plan',
    'session',
    'digest',
    'approvals',
    'comments',
    'standing_approvals',
    'standing_offers',
    'fallbacks',
    'reminders',
    'step_ups',
    'requires',
    'trace',
    'trace_omitted',
    'policy_set',
    'created_at',
    'decided_at',
    'allowed_actions',
    'people',
    'review',
  ],
  properties: {
    ...viewProperties,
    status: statusNow,
    action_key: { type: 'string' },
    title: titleSchema,
    payload: { ...openSchema, description: 'The payload as sent. Keyed digests replace secrets.' },
    resolved: {
      type: 'array',
      description:
        'Paths, URLs, hosts and e-mail addresses of the payload whose canonical form differs from the value sent. Rules see the canonical form.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['pointer', 'resolved'],
        properties: { pointer: { type: 'string' }, resolved: { type: 'string' } },
      },
    },
    agent: { ...openSchema, description: 'The agent as it was at the time of the request.' },
    point: cameBySchema,
    chain: chainSchema,
    on_behalf_of: onBehalfSchema,
    plan: planPlaceSchema,
    session: {
      type: ['string', 'null'],
      description:
        'The session as rules read it; null if none was sent. A session from an enforcement point starts with `point:<id>/`.',
    },
    digest: digestSchema,
    approvals: { type: 'array', description: 'Votes, oldest first.', items: approvalSchema },
    comments: {
      type: 'array',
      description: 'Comments, oldest first; empty for an agent.',
      items: commentSchema,
    },
    standing_approvals: {
      type: 'array',
      description: 'The standing approvals under which rules are satisfied.',
      items: objectSchema({ rule: { type: 'string' }, id: { type: 'string' } }),
    },
    standing_offers: offerSchema,
    fallbacks: {
      type: 'array',
      description: 'The fallbacks that were asked because nobody had decided in time, oldest first.',
      items: objectSchema({ any_of: approversSchema, at: time }),
    },
    reminders: {
      type: 'array',
      description: 'Reminders that were sent to people, oldest first. Empty for agents.',
      items: reminderSchema,
    },
    step_ups: {
      type: 'array',
      description: 'Step-ups for this request, oldest first.',
      items: stepUpSchema,
    },
    requires: requiresSchema,
    trace: {
      type: 'array',
      description:
        'Each rule with the result of its condition and the values it read. For an action with more than 50 rules, only the rules that took part.',
      items: openSchema,
    },
    trace_omitted: {
      type: 'integer',
      minimum: 0,
      description: 'The number of other rules of the action, none of which took part.',
    },
    policy_set: {
      type: 'object',
      required: ['digest', 'commit'],
      properties: { digest: { type: 'string' }, commit: { type: ['string', 'null'] } },
    },
    created_at: time,
    decided_at: decidedAt,
    allowed_actions: {
      type: ['object', 'null'],
      description: 'What the caller can do with the request; null for an agent.',
      ...allowedActionsShape,
    },
    people: peopleSchema,
    review: {
      ...reviewSchema,
      type: ['object', 'null'],
      description: 'What approvers should know before they decide; null for an agent.',
    },
  },
} as const satisfies JsonSchema;

/** An entry of a list of requests. */
export const summarySchema = {
  type: 'object',
  additionalProperties: false,
  required: [
    ...Object.keys(viewProperties),
    'action_key',
    'title',
    'agent',
    'point',
    'chain',
    'on_behalf_of',
    'plan',
    'requires',
    'created_at',
    'decided_at',
  ],
  properties: {
    ...viewProperties,
    status: statusNow,
    action_key: { type: 'string' },
    title: titleSchema,
    agent: { ...openSchema, description: 'The agent as it was at the time of the request.' },
    point: cameBySchema,
    chain: chainSchema,
    on_behalf_of: onBehalfSchema,
    plan: planPlaceSchema,
    requires: requiresSchema,
    created_at: time,
    decided_at: decidedAt,
  },
} as const satisfies JsonSchema;

/** An entry of the queue of people who approve. */
export const queuedSchema = {
  ...summarySchema,
  required: [
    ...summarySchema.required,
    ...['digest', 'allowed_actions', 'question', 'assigned_to', 'snoozed_until', 'people', 'review'],
  ],
  properties: {
    ...summarySchema.properties,
    question: {
      enum: ['yours', 'others', null],
      description: 'Who has to answer an open question: `yours` if the caller is the control owner.',
    },
    ...marksShape,
    digest: digestSchema,
    people: peopleSchema,
    review: reviewSchema,
    allowed_actions: {
      type: 'object',
      description: 'What the caller can do with the request.',
      ...allowedActionsShape,
    },
  },
} as const satisfies JsonSchema;

export const viewExample = {
  request_id: '019a0000-0000-7000-8000-000000000000',
  decision: 'ESCALATE',
  reason: 'Payments over 1000 USD need two people from finance',
  matched_policy: 'vendor_payments',
  risk_score: 30,
  status: 'pending',
  message:
    'Wait and look this request up again: it needs 1 more approval by finance before 2026-05-19T16:00:00.000Z.',
  expires_at: '2026-05-19T16:00:00.000Z',
} as const;

export const summaryExample = {
  ...viewExample,
  action_key: 'payment.create',
  title: 'Pay 1,200.00 USD to Staples',
  agent: { id: '5f0c9f6e-9c1b-4c3e-9d43-0a4c2f0f6f3a', name: 'buyer-1', risk_tier: 'low' },
  point: null,
  chain: [],
  on_behalf_of: { user: { id: '8f3c', email: 'ann@example.com', groups: ['deployers'] }, unknown: null },
  plan: null,
  requires: { approvals: [{ group: 'finance', needs: 2, given: 1 }], step_up: false, invalidated: [] },
  created_at: '2026-05-19T12:00:00.000Z',
  decided_at: null,
} as const;

const allowedActionsExample = {
  approve: ['finance'],
  stands_in_for: [],
  reject: true,
  revoke_approval: false,
  comment: true,
  step_up: false,
  report: false,
  reason: null,
} as const;

const peopleExample = [{ id: 'b3f1c2d4-0000-4000-8000-000000000000', name: 'Ben', email: 'ben@example.com' }];

export const queuedExample = {
  ...summaryExample,
  ...noMarks,
  digest: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  allowed_actions: allowedActionsExample,
  question: null,
  people: peopleExample,
  review: reviewExample,
};

export const detailExample = {
  ...summaryExample,
  payload: { amount: 1200, currency: 'USD', vendor: 'Staples' },
  resolved: [],
  session: null,
  digest: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  approvals: [
    {
      by: 'ben@example.com (b3f1c2d4-0000-4000-8000-000000000000)',
      stands_in_for: null,
      group: 'finance',
      is_approved: true,
      comment: 'checked with the vendor',
      at: '2026-05-19T12:30:00.000Z',
      chat: null,
      standing: [],
      invalid_reason: null,
    },
  ],
  comments: [],
  standing_approvals: [],
  standing_offers: [],
  fallbacks: [],
  reminders: [],
  step_ups: [],
  trace: [{ rule: 'vendor_payments/large_payment', effect: 'escalate', truth: 'true' }],
  trace_omitted: 0,
  policy_set: { digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', commit: null },
  allowed_actions: allowedActionsExample,
  people: peopleExample,
  review: reviewExample,
} as const;
