// /v1/requests/{id}/explain: the rule behind a decision, with its text from the file, and the smallest change
// that would have changed the decision; and /suggestions: changes of the policies that would allow the request. INVARIANT: the reply is the same for a request that the caller may
// not see and for a request that does not exist.

import { objectSchema, textOrNull } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';
import { requestNotFound } from '../requests/approval-result.ts';
import { viewDecisions } from '../requests/request-view.ts';
import { requestId } from '../requests/requests.ts';
import { comparisonSchema, requiresSchema } from './diff-view.ts';
import type { PlaygroundDeps } from './playground.ts';
import { askPlayground, playgroundProblems, recordedFor } from './playground-view.ts';

const truths = ['true', 'false', 'unknown'] as const;

const lineSchema = { type: 'integer', minimum: 1 } as const;

const explainSchema = objectSchema({
  decision: {
    type: 'string',
    enum: viewDecisions,
    description: 'The decision of the active policies.',
  },
  change: textOrNull,
  is_same_set: {
    type: 'boolean',
    description: 'Whether the active policy set is the one that decided the request first.',
  },
  rule: {
    ...objectSchema({
      policy: { type: 'string' },
      id: { type: 'string' },
      file: { type: 'string' },
      line: lineSchema,
      end_line: lineSchema,
      text: { type: 'string' },
    }),
    type: ['object', 'null'],
    description: 'Null if no rule decides.',
  },
  conditions: {
    type: 'array',
    description:
      'The rules of the action, true rules first, with their conditions line by line. `depth` is the nesting level; `truth` is null for a value. At most 200 rules with 60 lines each.',
    items: objectSchema({
      rule: { type: 'string' },
      truth: { type: 'string', enum: truths },
      lines: {
        type: 'array',
        items: objectSchema({
          depth: { type: 'integer', minimum: 0 },
          text: { type: 'string' },
          value: { type: 'string' },
          truth: { type: ['string', 'null'], enum: [...truths, null] },
        }),
      },
    }),
  },
});

const explainExample = {
  decision: 'ESCALATE',
  change: 'ALLOW if payload.amount <= 1000 USD',
  is_same_set: true,
  rule: {
    policy: 'vendor_payments',
    id: 'vendor_payments/large_payment',
    file: 'payments/payments.policy',
    line: 20,
    end_line: 22,
    text: 'escalate large_payment to finance needs 2\n    when payload.amount > 1000 USD',
  },
  conditions: [
    {
      rule: 'vendor_payments/large_payment',
      truth: 'true',
      lines: [
        { depth: 0, text: 'payload.amount > 1000 USD', value: 'true', truth: 'true' },
        { depth: 1, text: 'payload.amount', value: '1200 USD', truth: null },
      ],
    },
  ],
};

const explainRequest = route<PlaygroundDeps>({
  method: 'GET',
  url: '/v1/requests/:id/explain',
  access: 'requests.view',
  operation: {
    id: 'explainRequest',
    summary: 'The rule that decides a request, and the smallest change that changes the decision',
    description: 'Decides the request again from its recorded facts with the active policies.',
    parameters: [requestId],
    replies: { 200: { description: 'The explanation', schema: explainSchema, example: explainExample } },
    problems: [...playgroundProblems, 'request_not_found'],
  },
  handle: async ({ policies, requestChanges, playground }, call) => {
    const active = policies.current();
    const record = await recordedFor(requestChanges, call, call.params.id ?? '');
    if (record === null) throw requestNotFound();
    const explained = await askPlayground(playground, 'explain', record.recorded, { call, active });
    return { ...explained, is_same_set: record.digest === active.digest };
  },
});

const words = { type: 'array', items: { type: 'string' } } as const;

const suggestedDecision = objectSchema({
  decision: { type: 'string', enum: viewDecisions },
  by: { type: 'string', description: '`policy/rule`, or the gate.' },
  reason: { type: 'string' },
  requires: requiresSchema,
});

const suggestionsSchema = objectSchema({
  decision: suggestedDecision,
  goal: {
    type: ['string', 'null'],
    enum: ['ALLOW', 'ESCALATE', null],
    description:
      'What suggestions lead to, even if there are none; null if guarantees leave nothing to suggest, or if the request is allowed already.',
  },
  forbidden_by: {
    type: 'array',
    description: 'The claims of guarantees that forbid to allow the request at once.',
    items: objectSchema({ guarantee: { type: 'string' }, text: { type: 'string' } }),
  },
  suggestions: {
    type: 'array',
    description: 'At most three; the one that allows the least else is the first.',
    items: objectSchema({
      kind: { type: 'string', enum: ['rule', 'exception', 'list', 'bound'] },
      text: { type: 'string' },
      patch: { type: 'string', description: 'A unified diff for `git apply` in the policy directory.' },
      decision: suggestedDecision,
      milder: {
        ...objectSchema({ count: { type: 'integer', minimum: 0 }, of: { type: 'integer', minimum: 0 } }),
        description: 'Of generated requests that resemble this one, how many get a milder decision.',
      },
      diff: {
        ...comparisonSchema,
        description: 'All decisions that change, as `writ diff --format json` prints them.',
      },
      sentences: {
        type: 'array',
        items: objectSchema({ subject: { type: 'string' }, removed: words, added: words }),
      },
    }),
  },
});

const suggestionsExample = {
  decision: { decision: 'DENY', by: 'default_deny', reason: 'No policy allows this', requires: null },
  goal: 'ALLOW',
  forbidden_by: [],
  suggestions: [],
};

const suggestChanges = route<PlaygroundDeps>({
  method: 'GET',
  url: '/v1/requests/:id/suggestions',
  access: 'requests.view',
  operation: {
    id: 'suggestChanges',
    summary: 'The smallest changes of the policies that would allow a request',
    description:
      'Decides the request again from its recorded facts with the active policies, and looks for changes that would allow it. Each change is compiled, compared and proved; none changes what a guarantee says. Nothing is written. This may take up to 30 seconds.',
    parameters: [requestId],
    replies: {
      200: { description: 'The suggestions', schema: suggestionsSchema, example: suggestionsExample },
    },
    problems: [...playgroundProblems, 'request_not_found'],
  },
  handle: async ({ policies, requestChanges, playground }, call) => {
    const active = policies.current();
    const record = await recordedFor(requestChanges, call, call.params.id ?? '');
    if (record === null) throw requestNotFound();
    return await askPlayground(playground, 'suggest', record.recorded, { call, active });
  },
});

export const explainRoutes: readonly Route<PlaygroundDeps>[] = [explainRequest, suggestChanges];
