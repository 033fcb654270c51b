// The schemas of a comparison of two policy sets, as `writ diff --format json` prints it, with the examples
// that can be tried.

import type { JsonSchema } from '../../contract/operation.ts';
import { chatRisk, objectSchema, textOrNull } from '../../contract/schemas.ts';
import { viewDecisions } from '../requests/request-view.ts';
import { diagnosticsSchema, filesSchema, givenSchema } from './playground-view.ts';

export const compareBodySchema = objectSchema({ files: filesSchema });

export const compareExamples = {
  file: { files: [{ path: 'payments/limits.policy', text: '# A file as it is being written\n' }] },
} as const;

const word: JsonSchema = { type: 'string' };
const words: JsonSchema = { type: 'array', items: word };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const seconds: JsonSchema = { type: ['integer', 'null'], minimum: 0 };
const decision: JsonSchema = { type: 'string', enum: viewDecisions };
const readings: JsonSchema = {
  type: ['object', 'null'],
  additionalProperties: true,
  description: 'Readings of the old side, if meters with other definitions are read.',
};

export function arrayOf(item: JsonSchema): JsonSchema {
  return { type: 'array', items: item };
}

export function orNull(schema: JsonSchema, description?: string): JsonSchema {
  return { ...schema, type: ['object', 'null'], ...(description === undefined ? {} : { description }) };
}

/** What people must do first; null for other decisions than ESCALATE and REAUTH_REQUIRED. */
export const requiresSchema = orNull(
  objectSchema({
    approvals: arrayOf({
      ...objectSchema({
        group: word,
        needs: count,
        withinSeconds: count,
        except: arrayOf(word),
        anyOf: arrayOf({ type: 'object', additionalProperties: word }),
      }),
      required: ['group', 'needs', 'withinSeconds'],
    }),
    reauth: orNull(objectSchema({ withinSeconds: seconds })),
  }),
);

const decidedSchema = objectSchema(
  {
    decision,
    by: { type: 'string', description: '`policy/rule`, or the gate.' },
    valid_for_seconds: seconds,
    requires: requiresSchema,
  },
  {
    standing: {
      ...arrayOf(word),
      description:
        'What approvals may serve later, by the rules that ask; absent if they serve the request only.',
    },
  },
);

const locationSchema = orNull(objectSchema({ file: word, line: { type: 'integer', minimum: 1 } }));

const causeSchema = objectSchema({
  rule: { ...textOrNull, description: 'Null if the action itself or its payload is the cause.' },
  change: { type: 'string', enum: ['changed', 'new', 'gone', 'renamed'] },
  location: locationSchema,
  side: { type: 'string', enum: ['old', 'new'] },
  reads: { ...words, description: 'Changed definitions that the rule reads.' },
});

const exampleSchema = objectSchema({
  request: { type: 'object', additionalProperties: true, description: 'As `writ decide` takes it.' },
  old_meters: readings,
  old: decidedSchema,
  new: decidedSchema,
  near: orNull(
    objectSchema({
      name: { ...textOrNull, description: 'Null for the request that a suggestion is for.' },
      changed: words,
    }),
    'The test case or request that the example was derived from.',
  ),
});

export const findingParts = {
  direction: { type: 'string', enum: ['loosened', 'stricter', 'reworded', 'undecided'] },
  tier: { type: 'integer', minimum: 0, description: 'The most serious finding has the lowest number.' },
  difference: { type: 'string', enum: ['outcome', 'people', 'time', 'rule'] },
  from: decision,
  to: decision,
  actions: words,
  when: { ...words, description: 'Conditions, all of which are true; empty if every request changes.' },
  causes: arrayOf(causeSchema),
  example: orNull(exampleSchema, 'Null where no request was found: it is undecided.'),
  guessed: { ...words, description: 'Conditions that are assumed, if there is no example.' },
} as const;

const findingSchema = objectSchema({
  ...findingParts,
  log: { type: 'null', description: 'The number of requests in a log, from `writ diff --log`.' },
});

const verdict: JsonSchema = {
  type: ['string', 'null'],
  enum: ['proved', 'refuted', 'undecided', null],
  description: 'Null if the side does not have the guarantee.',
};

export const sideParts = { name: word, digest: word } as const;
const sideSchema = objectSchema(sideParts);

export const limitsSchema: JsonSchema = {
  ...arrayOf(
    objectSchema({
      action: word,
      limits: {
        type: 'array',
        items: {
          type: 'string',
          enum: ['too many findings', 'long lists', 'huge payloads', 'too much search'],
        },
      },
    }),
  ),
  description: 'Why the findings may be incomplete. If empty, it is proved that nothing else changes.',
};

const remarkSchema = objectSchema({
  kind: { type: 'string', enum: ['reason', 'risk', 'shadow'] },
  change: { type: 'string', enum: ['new', 'gone', 'changed'] },
  rule: word,
  location: locationSchema,
  side: { type: 'string', enum: ['old', 'new'] },
  points: orNull(objectSchema({ old: { type: 'number' }, new: { type: 'number' } })),
});

export const comparisonSchema = objectSchema({
  old: sideSchema,
  new: sideSchema,
  loosened: count,
  stricter: count,
  reworded: count,
  undecided: count,
  findings: { ...arrayOf(findingSchema), description: 'Loosest first.' },
  remarks: {
    ...arrayOf(remarkSchema),
    description: 'Rule changes that change no decision; found by comparing rules, not proved.',
  },
  limits: limitsSchema,
  actions: words,
  meters: { ...words, description: 'Meters with different definitions on the two sides.' },
  chat_limits: {
    ...arrayOf(
      objectSchema({
        group: word,
        direction: { type: 'string', enum: ['loosened', 'stricter'] },
        old: chatRisk,
        new: chatRisk,
      }),
    ),
    description:
      'Approval groups that may decide by chat up to another risk; counted as loosened or stricter.',
  },
  guarantees: arrayOf(objectSchema({ name: word, text: word, old: verdict, new: verdict })),
  horizon: objectSchema({ from: word, to: word }),
  log: { type: 'null', description: 'The log that `writ diff --log` reads.' },
});

export const triedExamplesSchema: JsonSchema = {
  ...arrayOf(orNull(givenSchema)),
  description:
    'The example of each finding, as a request for `POST /v1/policies/try`. Null if there is no example, or if pending requests are part of a meter reading.',
};

export const compareReplySchema = objectSchema({
  diagnostics: diagnosticsSchema,
  diff: orNull(
    comparisonSchema,
    'The output of `writ diff --format json` from the active policies (`active`) to the set with the files (`files`). Null if the policies have errors.',
  ),
  requests: triedExamplesSchema,
});

const exampleRequest = {
  action_key: 'payment.create',
  payload: { amount: 500.01, currency: 'USD', vendor: 'Staples' },
  agent: { risk_tier: 'low' },
  at: '2026-03-02T10:00:00.000Z',
  meters: { spent_24h: '0 USD' },
} as const;

export const compareReplyExample = {
  diagnostics: [],
  diff: {
    old: {
      name: 'active',
      digest: 'sha256:0f343b0931126a20f133d67c2b018a3b1b8a1c1f5c6d4b8a0f0f5e7e0c2d9e11',
    },
    new: { name: 'files', digest: 'sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03' },
    loosened: 1,
    stricter: 0,
    reworded: 0,
    undecided: 0,
    findings: [
      {
        direction: 'loosened',
        tier: 2,
        difference: 'outcome',
        from: 'DENY',
        to: 'ESCALATE',
        actions: ['payment.create'],
        when: ['payload.amount > 500 USD and <= 600 USD'],
        causes: [
          {
            rule: 'vendor_payments/large_payment',
            change: 'changed',
            location: { file: 'payments.policy', line: 24 },
            side: 'new',
            reads: [],
          },
        ],
        example: {
          request: {
            action: 'payment.create',
            payload: exampleRequest.payload,
            agent: exampleRequest.agent,
            request: {},
            now: exampleRequest.at,
            meters: { spent_24h: [0, 0] },
            satisfied: { escalate: [], reauth: [] },
          },
          old_meters: null,
          old: { decision: 'DENY', by: 'default_deny', valid_for_seconds: null, requires: null },
          new: {
            decision: 'ESCALATE',
            by: 'vendor_payments/large_payment',
            valid_for_seconds: null,
            requires: { approvals: [{ group: 'finance', needs: 1, withinSeconds: 14_400 }], reauth: null },
          },
          near: null,
        },
        guessed: [],
        log: null,
      },
    ],
    remarks: [],
    limits: [],
    actions: ['payment.create'],
    meters: [],
    chat_limits: [],
    guarantees: [
      {
        name: 'payment_ceiling',
        text: 'never allow when payload.amount > 10_000 USD',
        old: 'proved',
        new: 'proved',
      },
    ],
    horizon: { from: '2026-01-01', to: '2036-01-01' },
    log: null,
  },
  requests: [exampleRequest],
} as const;
