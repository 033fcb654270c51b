// GET /v1/policies/summary and /v1/policies/summary/diff: what a set does in plain sentences, for people who
// read no policies, and in which sentences two sets differ.

import type { Playground } from '../../../../analysis/playground.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHistory } from '../../../policies/policy-history.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Parameter } from '../../contract/operation.ts';
import { cursorOf, pageParameters, readPage } from '../../contract/page.ts';
import { ProblemError } from '../../contract/problem.ts';
import { objectSchema, textList, textOrNull } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';
import { askPlayground, playgroundProblems } from './playground-view.ts';
import { setParameters, setsOf } from './policy-history-view.ts';

// The schemas of plain sentences about policies, as clients see them.

const locationFields = {
  file: { type: 'string', description: 'The path relative to the policy directory.' },
  line: { type: 'integer', minimum: 1 },
} as const;

const sentenceKinds = ['passes', 'asks', 'refuses', 'rest', 'risk'] as const;

const plainSummarySchema = objectSchema({
  actions: {
    type: 'array',
    items: objectSchema({
      actions: { ...textList, description: 'The actions with the same sentences.' },
      title: textOrNull,
      sentences: {
        type: 'array',
        items: objectSchema({
          kind: { type: 'string', enum: sentenceKinds },
          text: { type: 'string' },
          rule: { ...textOrNull, description: '`policy/rule`; null for a sentence without a rule.' },
          ...locationFields,
          unproved_reason: {
            ...textOrNull,
            description: 'Why the sentence is not proved; null if it is.',
          },
        }),
      },
    }),
  },
  words: {
    type: 'array',
    description: 'The meanings of the names in the sentences.',
    items: objectSchema({ name: { type: 'string' }, text: { type: 'string' }, ...locationFields }),
  },
  next_cursor: textOrNull,
});

const plainSummaryExample = {
  actions: [
    {
      actions: ['payment.create'],
      title: 'Pay [amount] to [vendor]',
      sentences: [
        {
          kind: 'passes',
          text: 'Passes at once if the vendor is in ‘vendors’.',
          rule: 'vendor_payments/known',
          file: 'payments/payments.policy',
          line: 20,
          unproved_reason: null,
        },
      ],
    },
  ],
  words: [{ name: 'vendors', text: '"Staples"', file: 'payments/payments.policy', line: 3 }],
  next_cursor: null,
} as const;

const sentencesSchema = objectSchema({
  items: {
    type: 'array',
    items: objectSchema({
      subject: { type: 'string', description: 'An action, or a name in quotes whose meaning differs.' },
      removed: textList,
      added: textList,
    }),
  },
  is_complete: {
    type: 'boolean',
    description: 'Whether all actions were processed in time, in two sets without errors.',
  },
});

const sentencesExample = {
  items: [
    {
      subject: 'payment.create',
      removed: ['Passes at once if the amount is at most 50 USD.'],
      added: ['Passes at once if the amount is at most 70 USD.'],
    },
  ],
  is_complete: true,
} as const;

interface SummaryDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly policyHistory: Pick<PolicyHistory, 'texts'>;
  readonly playground: Playground;
}

const actionsMax = 20;

const getPolicySummary = route<SummaryDeps>({
  method: 'GET',
  url: '/v1/policies/summary',
  access: 'policies.try',
  operation: {
    id: 'getPolicySummary',
    summary: 'A summary of the active policies in plain sentences, each proved',
    description:
      'Each page has the actions that can be proved within about two seconds, in the order of their keys. A cursor is valid for one policy set.',
    parameters: pageParameters.filter(({ name }) => name === 'cursor'),
    replies: {
      200: { description: 'The sentences', schema: plainSummarySchema, example: plainSummaryExample },
    },
    problems: playgroundProblems,
  },
  handle: async ({ policies, playground }, call) => {
    const active = policies.current();
    const after = readPage({ ...call.query, limit: '1' }).after?.id ?? null;
    const { next, ...part } = await askPlayground(playground, 'summary', { after }, { call, active });
    return { ...part, next_cursor: next === null ? null : cursorOf({ createdAtMs: 0, id: next }) };
  },
});

const actionsParameter: Parameter = {
  name: 'actions',
  in: 'query',
  isRequired: true,
  example: 'payment.create,payment.cancel',
  description: `Action keys, separated by commas; at most ${actionsMax} are used.`,
  schema: { type: 'string' },
  bytesMax: 8_192,
};

const diffPolicySummaries = route<SummaryDeps>({
  method: 'GET',
  url: '/v1/policies/summary/diff',
  access: 'policies.try',
  operation: {
    id: 'diffPolicySummaries',
    summary: 'The diff between the summaries of two policy sets for some actions',
    description: 'Only proved sentences are included.',
    parameters: [...setParameters, actionsParameter],
    replies: { 200: { description: 'The sentences', schema: sentencesSchema, example: sentencesExample } },
    problems: ['not_found', ...playgroundProblems],
  },
  handle: async (deps, call) => {
    const { actions = '' } = call.query;
    const named = actions.split(',').filter((key) => key !== '');
    if (named.length === 0) throw new ProblemError('invalid_query', '`actions` is missing');
    const active = deps.policies.current();
    const sets = { ...(await setsOf(deps, call.query)), actions: named.slice(0, actionsMax) };
    const changes = await askPlayground(deps.playground, 'changed sentences', sets, { call, active });
    return { ...changes, is_complete: changes.is_complete && named.length <= actionsMax };
  },
});

export const policySummaryRoutes: readonly Route<SummaryDeps>[] = [getPolicySummary, diffPolicySummaries];
