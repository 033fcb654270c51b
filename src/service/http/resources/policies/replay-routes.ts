// /v1/policies/replay: the active policies, with files laid over them, tried on recorded requests. INVARIANT:
// the answer shows only what the caller may see of requests anyway, checked once more when it comes; nothing
// is recorded or granted.

import { Readable } from 'node:stream';
import type { TextFile } from '../../../../analysis/playground-questions.ts';
import type { ReplayEvent, Replays } from '../../../../analysis/replay/replays.ts';
import { grantOf, type OperationName } from '../../../people/operations.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Store } from '../../../store/contract/store.ts';
import { notAllowed } from '../../auth/auth-refusals.ts';
import { currentActor } from '../../auth/identify-person.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { ProblemError, problemBody, problemSchema } from '../../contract/problem.ts';
import { objectSchema, textOrNull, time, timeOrNull } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { viewDecisions } from '../requests/request-view.ts';
import {
  arrayOf,
  compareExamples,
  compareReplyExample,
  findingParts,
  limitsSchema,
  orNull,
  sideParts,
  triedExamplesSchema,
} from './diff-view.ts';
import { filesBodyMax, refusePaths } from './playground.ts';
import {
  diagnosticsSchema,
  filesSchema,
  isRefusal,
  playgroundProblems,
  refusalProblem,
} from './playground-view.ts';

// The schemas of a replay, which tries files on recorded requests: lines of progress, and the answer as `writ
// replay --json` prints it.

const daysDefault = 7;
const daysMax = 90;

const replayBodySchema = objectSchema(
  { files: filesSchema },
  {
    days: {
      type: 'integer',
      minimum: 1,
      maximum: daysMax,
      description: `Replays the requests of this number of days; default: ${daysDefault}.`,
    },
  },
);

const replayExamples = { file: { ...compareExamples.file, days: daysDefault } } as const;

const text: JsonSchema = { type: 'string' };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const decision: JsonSchema = { type: 'string', enum: viewDecisions };
const byOutcome = (item: JsonSchema): JsonSchema =>
  objectSchema(Object.fromEntries(viewDecisions.map((outcome) => [outcome, item])));
const bothSides = (item: JsonSchema): JsonSchema => objectSchema({ before: item, now: item });
const decidedAs = objectSchema({ outcome: decision, by: text });

function counts(description: string): JsonSchema {
  return { type: 'object', additionalProperties: count, description };
}

const peopleSchema = objectSchema({
  group: text,
  votes: bothSides(count),
  day: bothSides(objectSchema({ median: { type: 'number' }, worst: count })),
  busiest: { ...bothSides(count), description: 'The maximum number of requests in one hour.' },
  hours: bothSides({ type: 'number' }),
});

const countedFindingSchema = objectSchema({
  ...findingParts,
  log: objectSchema({
    id: { ...text, description: 'The position, starting at 1.' },
    requests: count,
    agents: count,
    people: { ...arrayOf(peopleSchema), description: 'The work of people for these requests.' },
  }),
});

const waitsSchema = objectSchema({
  granted: count,
  refused: count,
  expired: count,
  open: count,
  unknown: { ...count, description: 'Other people are asked, or more people than before.' },
});

const exampleSchema = objectSchema({
  request_id: text,
  at: time,
  agent: text,
  action: text,
  before: decidedAs,
  now: decidedAs,
  asks: {
    ...arrayOf(text),
    description:
      'If the outcome is the same: the changes of the required approvals, such as `asks finance as well`.',
  },
  finding: { ...textOrNull, description: 'The `log.id` of the finding that it belongs to.' },
  incomplete_meters: {
    ...arrayOf(text),
    description: 'Incomplete meters that the request reads; their recorded readings are used.',
  },
});

const replaySchema = objectSchema({
  policies: objectSchema({ path: text, digest: text }),
  reading: { type: 'string', enum: ['as recorded', 'in order'] },
  since: timeOrNull,
  requests: count,
  from: timeOrNull,
  until: timeOrNull,
  matrix: { ...byOutcome(byOutcome(count)), description: 'By recorded decision, then by new decision.' },
  withheld: {
    ...count,
    description:
      'Requests in no cell, because the record has digests for values that the payload check or the rules read.',
  },
  changes: objectSchema({ outcome: count, asked: count, rule: count }),
  people: {
    ...arrayOf(peopleSchema),
    description: 'A vote is one answer by one person; a step-up counts as a vote.',
  },
  minutes_per_vote: objectSchema({ minutes: count, measured: { type: 'boolean' } }),
  waits: orNull(waitsSchema, 'How pending requests end; null: as recorded.'),
  other_shape: counts('Per action: requests that are newly refused for their shape.'),
  undeclared: counts('Per action that is no longer declared.'),
  unknown_facts: counts('Per fact that the rules read: requests without this fact.'),
  readings_as_recorded: count,
  incomplete_meters: {
    ...arrayOf(objectSchema({ meter: text, since: time, requests: count })),
    description:
      'Meters whose amounts are hidden in records, with the number of requests that use the recorded reading instead.',
  },
  changed_on_incomplete: { ...count, description: 'Changed requests that read such a meter.' },
  decided_by: counts('Per digest of the deciding policies.'),
  against: objectSchema({ ...sideParts, requests: count }),
  no_diff_reason: { type: 'null' },
  findings: { ...arrayOf(countedFindingSchema), description: 'Loosest first.' },
  limits: limitsSchema,
  without_finding: { ...count, description: 'Changed requests that match no finding.' },
  people_without_finding: {
    ...arrayOf(peopleSchema),
    description: 'The work of people for requests that match no finding, including unchanged requests.',
  },
  unfiled: {
    ...count,
    description: 'Requests that cannot be decided, because digests replace values that rules read.',
  },
  repeated: count,
  unread: objectSchema({ count, first: arrayOf(text) }),
  examples: { ...arrayOf(exampleSchema), description: 'At most ten of each kind of change.' },
});

const answerSchema = objectSchema({
  diagnostics: diagnosticsSchema,
  replay: orNull(replaySchema, 'The output of `writ replay --json`. Null if the policies have errors.'),
  requests: triedExamplesSchema,
});

const replayLineSchema: JsonSchema = {
  ...objectSchema(
    {},
    {
      progress: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description: 'The share of the records that has been read.',
      },
      answer: answerSchema,
      problem: { ...problemSchema, description: 'Why there is no result.' },
    },
  ),
  description: 'Each line has one of these fields. The last line has a result or a problem.',
};

const [finding] = compareReplyExample.diff.findings;
const none = { ALLOW: 0, ESCALATE: 0, REAUTH_REQUIRED: 0, DENY: 0 } as const;

const replayLineExample = {
  answer: {
    diagnostics: [],
    replay: {
      policies: { path: 'files', digest: compareReplyExample.diff.new.digest },
      reading: 'in order',
      since: '2026-02-23T10:00:00.000Z',
      requests: 120,
      from: '2026-02-23T10:04:11.000Z',
      until: '2026-03-02T09:58:02.000Z',
      matrix: {
        ALLOW: { ...none, ALLOW: 100 },
        ESCALATE: { ...none, ESCALATE: 17 },
        REAUTH_REQUIRED: none,
        DENY: { ...none, ESCALATE: 2, DENY: 1 },
      },
      withheld: 0,
      changes: { outcome: 2, asked: 0, rule: 0 },
      people: [
        {
          group: 'finance',
          votes: { before: 17, now: 19 },
          day: { before: { median: 2, worst: 5 }, now: { median: 2.5, worst: 6 } },
          busiest: { before: 2, now: 3 },
          hours: { before: 0.9, now: 1 },
        },
      ],
      minutes_per_vote: { minutes: 3, measured: false },
      waits: { granted: 15, refused: 1, expired: 1, open: 0, unknown: 2 },
      other_shape: {},
      undeclared: {},
      unknown_facts: {},
      readings_as_recorded: 0,
      incomplete_meters: [],
      changed_on_incomplete: 0,
      decided_by: { [compareReplyExample.diff.old.digest]: 120 },
      against: { ...compareReplyExample.diff.old, requests: 120 },
      no_diff_reason: null,
      findings: [
        {
          ...finding,
          log: {
            id: '1',
            requests: 2,
            agents: 1,
            people: [
              {
                group: 'finance',
                votes: { before: 0, now: 2 },
                day: { before: { median: 0, worst: 0 }, now: { median: 0, worst: 1 } },
                busiest: { before: 0, now: 1 },
                hours: { before: 0, now: 0.1 },
              },
            ],
          },
        },
      ],
      limits: [],
      without_finding: 0,
      people_without_finding: [
        {
          group: 'finance',
          votes: { before: 17, now: 17 },
          day: { before: { median: 2, worst: 5 }, now: { median: 2, worst: 5 } },
          busiest: { before: 2, now: 2 },
          hours: { before: 0.9, now: 0.9 },
        },
      ],
      unfiled: 0,
      repeated: 0,
      unread: { count: 0, first: [] },
      examples: [
        {
          request_id: 'a1f5c6d0-3f3b-4d0e-9d7e-7c0c2f1b9a55',
          at: '2026-02-27T15:20:00.000Z',
          agent: 'buyer',
          action: 'payment.create',
          before: { outcome: 'DENY', by: 'default_deny' },
          now: { outcome: 'ESCALATE', by: 'vendor_payments/large_payment' },
          asks: [],
          finding: '1',
          incomplete_meters: [],
        },
      ],
    },
    requests: compareReplyExample.requests,
  },
} as const;

interface ReplayDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly replays: Replays;
  readonly store: Pick<Store, 'records'>;
}

interface ReplayBody {
  readonly files: readonly TextFile[];
  readonly days?: number;
}

const access: OperationName = 'policies.replay';
const dayMs = 24 * 60 * 60 * 1000;

const replayPolicies = route<ReplayDeps, ReplayBody>({
  method: 'POST',
  url: '/v1/policies/replay',
  access,
  bodyMax: filesBodyMax,
  operation: {
    id: 'replayPolicies',
    summary: 'Replays recorded requests with the active policies and changed files',
    description:
      'JSON Lines: progress, then the result. Closing the connection ends the replay. Each person can run one replay at a time, and the total is limited. Nothing is recorded.',
    body: {
      description: 'Files, with paths relative to the policy directory, and the number of days.',
      schema: replayBodySchema,
      examples: replayExamples,
    },
    replies: {
      200: {
        description: 'The progress, and the result',
        contentType: 'application/jsonl',
        headers: ['X-Accel-Buffering'],
        schema: replayLineSchema,
        example: replayLineExample,
      },
    },
    problems: [...playgroundProblems],
  },
  handle: async ({ policies, replays, store, signInDeps }, call) => {
    const { files, days = daysDefault } = call.body;
    refusePaths(files);
    const sinceMs = Math.trunc(signInDeps.directory.clock()) - days * dayMs;
    const { texts } = policies.current();
    const ask = { texts, files, records: store.records, sinceMs };
    const events = startReplay(replays, ask, actorOf(call).person.id);
    const lines = Readable.from(linesOf(events, signInDeps, call), { objectMode: false });
    // When the caller goes away, the thread ends, whatever it is doing.
    call.reply.raw.once('close', () => events.destroy());
    const { reply } = call;
    // No other request follows on the connection, which would hold up a stop if it stayed open.
    reply
      .type('application/jsonl; charset=utf-8')
      .header('x-accel-buffering', 'no')
      .header('connection', 'close');
    return lines;
  },
});

export const replayRoutes: readonly Route<ReplayDeps>[] = [replayPolicies];

function startReplay(replays: Replays, ...[ask, person]: Parameters<Replays['start']>) {
  try {
    return replays.start(ask, person);
  } catch (error) {
    throw isRefusal(error) ? refusalProblem(error) : error;
  }
}

async function* linesOf(
  events: AsyncIterable<ReplayEvent>,
  deps: SignInDeps,
  { request }: ManagedCall<unknown>,
): AsyncGenerator<string> {
  try {
    for await (const one of events) {
      // The replay may have taken minutes, so the caller's rights are checked again.
      if ('answer' in one) await requireStillAllowed(deps, request);
      yield jsonLine(one);
    }
  } catch (error) {
    const problem = isRefusal(error) ? refusalProblem(error) : error;
    if (!(problem instanceof ProblemError)) throw error;
    yield jsonLine({ problem: problemBody(problem, request.id) });
  }
}

async function requireStillAllowed(
  deps: SignInDeps,
  request: ManagedCall<unknown>['request'],
): Promise<void> {
  const actor = await currentActor(deps, request);
  if (actor === null || grantOf(actor.roles, access) !== 'yes') throw notAllowed();
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
