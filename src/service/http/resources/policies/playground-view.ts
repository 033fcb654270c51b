// The schemas of the playground's questions and answers, and a function that puts a person's question and
// returns the answer or throws a problem.

import type { Playground, PlaygroundRefusal } from '../../../../analysis/playground.ts';
import type {
  PlaygroundAnswers,
  PlaygroundInputs,
  Question,
} from '../../../../analysis/playground-questions.ts';
import type { RecordedRequest } from '../../../../analysis/records/recorded-request.ts';
import type { HostedPolicies } from '../../../policies/policy-host.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { type ProblemCode, ProblemError } from '../../contract/problem.ts';
import { objectSchema, text, textList, textOrNull } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall } from '../../routing/route.ts';
import { findVisible } from '../requests/approval-result.ts';
import { detailSchema, viewDecisions } from '../requests/request-view.ts';

export const playgroundProblems = [
  'playground_busy',
  'playground_failed',
] as const satisfies readonly ProblemCode[];

/**
 * Puts a question of the caller about the active policies. Throws a ProblemError when the playground refuses
 * it.
 */
export async function askPlayground<Q extends Question>(
  playground: Playground,
  question: Q,
  input: PlaygroundInputs[Q],
  { call, active }: { readonly call: ManagedCall<unknown>; readonly active: Pick<HostedPolicies, 'texts'> },
): Promise<PlaygroundAnswers[Q]> {
  const by = { person: actorOf(call).person.id, texts: active.texts };
  try {
    return await playground.ask(question, input, by);
  } catch (error) {
    throw isRefusal(error) ? refusalProblem(error) : error;
  }
}

export function isRefusal(error: unknown): error is PlaygroundRefusal {
  return error instanceof Error && error.name === 'PlaygroundRefusal';
}

export function refusalProblem({ kind, message }: PlaygroundRefusal): ProblemError {
  return kind === 'busy'
    ? new ProblemError('playground_busy', message, { headers: { 'retry-after': '1' } })
    : new ProblemError('playground_failed', message);
}

export interface RecordedDecision {
  readonly recorded: RecordedRequest;
  /** The digest of the policy set that first decided the request. */
  readonly digest: string;
}

/** What a request was first decided on; null when it does not exist or the caller may not see it. */
export async function recordedFor(
  requestChanges: Pick<RequestChanges, 'snapshot'>,
  call: ManagedCall<unknown>,
  id: string,
): Promise<RecordedDecision | null> {
  const seen = await findVisible(requestChanges, call, id);
  if (seen === null) return null;
  const { record } = seen.state;
  const { actionKey, payload, agent, request, createdAtMs, meters, rows, satisfied, policySet } = record;
  const plain = { actionKey, payload, agent, request, createdAtMs, meters, satisfied };
  return { recorded: rows === undefined ? plain : { ...plain, rows }, digest: policySet.digest };
}

const shortText = text(200);
const line: JsonSchema = { type: 'integer', minimum: 1 };
const pathSchema: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 300,
  description: 'The path relative to the policy directory, with forward slashes.',
};

export const givenSchema: JsonSchema = {
  ...objectSchema(
    { action_key: { ...shortText, minLength: 1 }, payload: { type: 'object', additionalProperties: true } },
    {
      agent: objectSchema(
        {},
        {
          id: shortText,
          name: shortText,
          control_owner: shortText,
          tags: textList,
          risk_tier: { type: 'string', enum: ['low', 'medium', 'high', 'critical'] },
        },
      ),
      at: { ...text(50), description: 'RFC 3339; default: now.' },
      session: shortText,
      point: shortText,
      chain: {
        ...textList,
        description: 'The names of the delegations by which a sub-agent asks, the agent’s own first.',
      },
      address: text(100),
      signed: { type: 'boolean' },
      user: objectSchema({}, { id: shortText, email: shortText, roles: textList, groups: textList }),
      meters: {
        type: 'object',
        additionalProperties: true,
        description: 'Meter readings by name: `10`, `"100 USD"`.',
      },
      tables: {
        type: 'object',
        additionalProperties: true,
        description: 'Rows of pushed tables, by table and key. If given, the tables have no other rows.',
      },
    },
  ),
  description: 'Missing facts are unknown to the policies.',
};

export const filesSchema: JsonSchema = {
  type: 'array',
  maxItems: 50,
  description: 'Files that replace or extend the active policies.',
  items: objectSchema({ path: pathSchema, text: { type: 'string' } }),
};

export const tryBodySchema = objectSchema(
  {},
  {
    files: filesSchema,
    request: givenSchema,
    request_id: { ...text(100), description: 'A recorded request, with the facts of its record.' },
  },
);

export const tryExamples = {
  given: {
    files: [{ path: 'payments/limits.policy', text: '# A file as it is being written\n' }],
    request: {
      action_key: 'payment.create',
      payload: { amount: 1200, currency: 'USD', vendor: 'Staples' },
      agent: { risk_tier: 'low' },
      at: '2026-03-02T10:00:00Z',
      meters: { spent_24h: '900 USD' },
    },
  },
} as const;

const placeSchemas = { line, column: line, end_line: line, end_column: line } as const;

const diagnosticSchema = objectSchema(
  {
    file: { type: 'string' },
    code: { type: 'string' },
    message: { type: 'string' },
    help: textOrNull,
    severity: { type: 'string', enum: ['error', 'warning'] },
    ...placeSchemas,
  },
  {
    fix: objectSchema({
      title: { type: 'string' },
      edits: {
        type: 'array',
        items: objectSchema({ file: { type: 'string' }, text: { type: 'string' }, ...placeSchemas }),
      },
    }),
  },
);

const { properties: detail } = detailSchema;

const decidedSchema: JsonSchema = {
  ...objectSchema({
    decision: { type: 'string', enum: viewDecisions },
    reason: detail.reason,
    matched_policy: detail.matched_policy,
    rule: textOrNull,
    risk_score: detail.risk_score,
    status: { type: 'string', enum: ['auto_approved', 'rejected', 'pending'] },
    message: { type: 'string' },
    requires: detail.requires,
    trace: detail.trace,
    trace_omitted: detail.trace_omitted,
    change: textOrNull,
  }),
  type: ['object', 'null'],
  description: 'Null if the policies have errors or the request is invalid.',
};

const claimSchema = objectSchema({
  guarantee: { type: 'string' },
  clause: { type: 'string' },
  file: { type: 'string' },
  ...placeSchemas,
  result: { type: 'string', enum: ['proved', 'refuted', 'undecided'] },
  reason: textOrNull,
  refuted_by: {
    ...objectSchema({
      decision: { type: 'string', enum: viewDecisions },
      by: { type: 'string' },
      satisfied: {
        ...objectSchema({ escalate: textList, reauth: textList }),
        description: 'Rules whose requirements are already satisfied.',
      },
      request: { ...givenSchema, type: ['object', 'null'], description: 'A request for the playground.' },
    }),
    type: ['object', 'null'],
  },
});

export const diagnosticsSchema: JsonSchema = {
  type: 'array',
  description: 'The first hundred diagnostics of the policies.',
  items: diagnosticSchema,
};

export const tryReplySchema = objectSchema({
  diagnostics: diagnosticsSchema,
  issues: {
    type: 'array',
    description: 'The errors in the request.',
    items: objectSchema({ pointer: { type: 'string' }, message: { type: 'string' }, help: textOrNull }),
  },
  digested: {
    type: 'array',
    items: { type: 'string' },
    description: 'Locations in a recorded payload where a digest replaces a secret.',
  },
  decision: decidedSchema,
  guarantees: {
    type: ['array', 'null'],
    description:
      'The clauses of all guarantees; null if the policies have errors or too many rules for a quick proof.',
    items: claimSchema,
  },
});

export const tryReplyExample = {
  guarantees: [
    {
      guarantee: 'payment_ceiling',
      clause: 'never allow when payload.amount > 10_000 USD',
      file: 'payments.policy',
      line: 40,
      column: 3,
      end_line: 40,
      end_column: 47,
      result: 'proved',
      reason: null,
      refuted_by: null,
    },
  ],
  diagnostics: [],
  issues: [],
  digested: [],
  decision: {
    decision: 'ESCALATE',
    reason: 'Payments over 1000 USD need two people from finance',
    matched_policy: 'vendor_payments',
    rule: 'vendor_payments/large_payment',
    risk_score: 30,
    status: 'pending',
    message: 'It would wait for 2 approvals by finance within 4h.',
    requires: { approvals: [{ group: 'finance', needs: 2, given: 0 }], step_up: false, invalidated: [] },
    trace: [{ rule: 'vendor_payments/large_payment', effect: 'escalate', truth: 'true' }],
    trace_omitted: 0,
    change: 'ALLOW if payload.amount <= 1000 USD',
  },
} as const;

const texts: JsonSchema = { type: 'array', items: { type: 'string' } };
const entries = (fields: readonly string[]): JsonSchema => ({
  type: 'array',
  items: objectSchema(Object.fromEntries(fields.map((field) => [field, { type: 'string' }]))),
});

export const firstRequestSchema = objectSchema({
  request: {
    ...givenSchema,
    type: ['object', 'null'],
    description: 'A request for the playground; null if none was found.',
  },
});

export const firstRequestExample = { request: tryExamples.given.request };

export const vocabularySchema = objectSchema({
  keywords: texts,
  functions: entries(['name', 'signature', 'doc']),
  attributes: entries(['path', 'type', 'doc']),
  names: objectSchema({
    lists: texts,
    tables: texts,
    meters: texts,
    lets: texts,
    hours: texts,
    groups: texts,
    approvers: texts,
    policies: texts,
    types: texts,
    guarantees: texts,
  }),
  actions: {
    type: 'array',
    items: objectSchema({ key: { type: 'string' }, groups: texts, fields: entries(['path', 'type']) }),
  },
  tables: {
    type: 'array',
    items: objectSchema({ name: { type: 'string' }, columns: entries(['path', 'type']) }),
  },
  places: {
    type: 'array',
    items: objectSchema({
      kind: { type: 'string', enum: ['record', 'row'] },
      name: { type: 'string' },
      of: { type: 'string', description: 'The path of the record, or the table of the row.' },
    }),
    description: 'The lets that name a record or a row.',
  },
});

export const vocabularyExample = {
  keywords: ['allow', 'deny'],
  functions: [{ name: 'lower', signature: 'lower(string): string', doc: 'lower case, without locale' }],
  attributes: [{ path: 'agent.id', type: 'string', doc: 'the id under which the agent is registered' }],
  names: {
    lists: ['blocked_vendors'],
    tables: ['orders'],
    meters: ['spent_24h'],
    lets: ['order'],
    hours: [],
    groups: [],
    approvers: ['finance', 'owner'],
    policies: ['vendor_payments'],
    types: [],
    guarantees: [],
  },
  actions: [
    { key: 'payment.create', groups: ['money_out'], fields: [{ path: 'payload.vendor', type: 'string' }] },
  ],
  tables: [{ name: 'orders', columns: [{ path: 'owner', type: 'string' }] }],
  places: [{ kind: 'row', name: 'order', of: 'orders' }],
} as const;
