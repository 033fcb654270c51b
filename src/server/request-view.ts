// The schemas of a request as clients see it: the eight fields of a reply, and the detail behind them. Routes answer
// by them and the OpenAPI document shows them.

import type { JsonSchema } from './operation.ts';

const viewProperties = {
  request_id: { type: 'string', format: 'uuid', description: 'UUID version 7.' },
  decision: { type: 'string', enum: ['ALLOW', 'DENY', 'ESCALATE', 'REAUTH_REQUIRED'] },
  reason: { type: 'string', description: "The deciding rule's words, with its values filled in." },
  matched_policy: {
    type: 'string',
    description: "The deciding rule's policy, or `default_deny`, `invalid_payload`, `undeclared_action`.",
  },
  risk_score: { type: 'integer', minimum: 0, maximum: 100 },
  status: { type: 'string', enum: ['auto_approved', 'rejected', 'pending'] },
  message: { type: 'string', description: 'What the client is to do now.' },
  expires_at: { type: 'string', format: 'date-time', description: 'RFC 3339, UTC.' },
} as const;

/** The reply to `POST /v1/authorize`: exactly these eight fields. */
export const viewSchema = {
  type: 'object',
  additionalProperties: false,
  required: Object.keys(viewProperties),
  properties: viewProperties,
} as const satisfies JsonSchema;

const objectSchema = { type: 'object', additionalProperties: true } as const;

/** The reply to `GET /v1/requests/{id}`. */
export const detailSchema = {
  type: 'object',
  additionalProperties: false,
  required: [
    ...Object.keys(viewProperties),
    ...['action_key', 'payload', 'agent', 'approvals', 'trace', 'policy_set', 'created_at', 'decided_at'],
  ],
  properties: {
    ...viewProperties,
    status: {
      type: 'string',
      enum: ['auto_approved', 'rejected', 'pending', 'approved', 'expired', 'consumed'],
    },
    action_key: { type: 'string' },
    payload: { ...objectSchema, description: 'As it was sent; secrets are keyed digests.' },
    agent: { ...objectSchema, description: 'The agent as it was when it asked.' },
    approvals: { type: 'array', items: objectSchema },
    trace: {
      type: 'array',
      description: 'Each rule, how its condition came out, and the values it read.',
      items: objectSchema,
    },
    policy_set: {
      type: 'object',
      required: ['digest', 'commit'],
      properties: { digest: { type: 'string' }, commit: { type: ['string', 'null'] } },
    },
    created_at: { type: 'string', format: 'date-time' },
    decided_at: {
      type: ['string', 'null'],
      description: 'RFC 3339, UTC; null while the request is pending.',
    },
  },
} as const satisfies JsonSchema;

export const viewExample = {
  request_id: '019a0000-0000-7000-8000-000000000000',
  decision: 'ESCALATE',
  reason: 'Payments over 1,000 USD need two people from finance',
  matched_policy: 'vendor_payments',
  risk_score: 30,
  status: 'pending',
  message:
    'Wait and look this request up again: it needs 2 approvals by finance before 2026-05-19T16:00:00.000Z.',
  expires_at: '2026-05-19T16:00:00.000Z',
} as const;

export const detailExample = {
  ...viewExample,
  action_key: 'payment.create',
  payload: { amount: 1200, currency: 'USD', vendor: 'Staples' },
  agent: { id: '5f0c9f6e-9c1b-4c3e-9d43-0a4c2f0f6f3a', name: 'buyer-1', risk_tier: 'low' },
  approvals: [],
  trace: [{ rule: 'vendor_payments/large_payment', effect: 'escalate', truth: 'true' }],
  policy_set: { digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', commit: null },
  created_at: '2026-05-19T12:00:00.000Z',
  decided_at: null,
} as const;
