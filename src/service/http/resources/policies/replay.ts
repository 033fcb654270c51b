// /v1/policies/replay: the active policies, with files laid over them, tried on recorded requests. INVARIANT:
// the answer shows only what the caller may see of requests anyway, checked once more when it comes; nothing
// is recorded or granted.

import { Readable } from 'node:stream';
import type { TextFile } from '../../../../analysis/questions.ts';
import type { ReplayNews, Replays } from '../../../../analysis/replay/replays.ts';
import { grantOf, type OperationName } from '../../../people/operations.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Store } from '../../../store/contract/store.ts';
import { notAllowed } from '../../auth/auth-refusals.ts';
import { stillIn } from '../../auth/identify-person.ts';
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

/**
 * The schemas of a replay, which tries files on recorded requests: lines of progress, and the answer as `writ
 * replay --json` prints it.
 */
const daysDefault = 7;
const daysMax = 90;

const replayBodySchema = objectSchema(
  { files: filesSchema },
  {
    days: {
      type: 'integer',
      minimum: 1,
      maximum: daysMax,
      description: `Requests of so many days back from now; ${daysDefault} unless said otherwise.`,
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
  busiest: { ...bothSides(count), description: 'Of requests that were made in the same hour, the most.' },
  hours: bothSides({ type: 'number' }),
});

const countedFindingSchema = objectSchema({
  ...findingParts,
  log: objectSchema({
    id: { ...text, description: 'Its place, from 1.' },
    requests: count,
    agents: count,
    people: { ...arrayOf(peopleSchema), description: 'What these requests ask of people.' },
  }),
});

const waitsSchema = objectSchema({
  granted: count,
  refused: count,
  expired: count,
  open: count,
  unknown: { ...count, description: 'Somebody is asked who was not asked, or more people than were.' },
});

const exampleSchema = objectSchema({
  request_id: text,
  at: time,
  agent: text,
  action: text,
  before: decidedAs,
  now: decidedAs,
  finding: { ...textOrNull, description: 'The `log.id` of the finding that it meets.' },
  incomplete_meters: { ...arrayOf(text), description: 'Those that it reads as recorded.' },
});

const replaySchema = objectSchema({
  policies: objectSchema({ path: text, digest: text }),
  reading: { type: 'string', enum: ['as recorded', 'in order'] },
  since: timeOrNull,
  requests: count,
  from: timeOrNull,
  until: timeOrNull,
  matrix: { ...byOutcome(byOutcome(count)), description: 'By decision as recorded, then by decision now.' },
  withheld: {
    ...count,
    description: 'In no cell: digests stand in the record for what the payload check or rules read.',
  },
  changes: objectSchema({ outcome: count, asked: count, rule: count }),
  people: {
    ...arrayOf(peopleSchema),
    description: 'A vote is one answer of one person; a step-up counts as one.',
  },
  minutes_per_vote: objectSchema({ minutes: count, measured: { type: 'boolean' } }),
  waits: orNull(waitsSchema, 'How the waits end; null as recorded.'),
  other_shape: counts('By action, requests refused for their shape that were not.'),
  undeclared: counts('By action that is no longer declared.'),
  unknown_facts: counts('By fact that the rules read, requests that lack it.'),
  readings_as_recorded: count,
  incomplete_meters: {
    ...arrayOf(objectSchema({ meter: text, since: time, requests: count })),
    description:
      'Meters that lack what a grant adds to them, as its record hides it: so many requests read them as recorded.',
  },
  changed_on_incomplete: { ...count, description: 'Of the changed requests, those that read such a meter.' },
  decided_by: counts('By the digest of the policies that decided.'),
  against: objectSchema({ ...sideParts, requests: count }),
  no_diff_reason: { type: 'null' },
  findings: { ...arrayOf(countedFindingSchema), description: 'The loosest first.' },
  limits: limitsSchema,
  without_finding: { ...count, description: 'Changed requests that meet no finding.' },
  people_without_finding: {
    ...arrayOf(peopleSchema),
    description: 'What requests under no finding ask of people, unchanged ones included.',
  },
  unfiled: { ...count, description: 'Of which it cannot be told: digests stand for what rules read.' },
  repeated: count,
  unread: objectSchema({ count, first: arrayOf(text) }),
  examples: { ...arrayOf(exampleSchema), description: 'Ten of each kind of change at most.' },
});

const answerSchema = objectSchema({
  diagnostics: diagnosticsSchema,
  replay: orNull(replaySchema, 'As `writ replay --json` prints it. Null where the policies have errors.'),
  requests: triedExamplesSchema,
});

const replayLineSchema: JsonSchema = {
  ...objectSchema(
    {},
    {
      progress: { type: 'number', minimum: 0, maximum: 1, description: 'How much of the records is read.' },
      answer: answerSchema,
      problem: { ...problemSchema, description: 'Why there is no answer.' },
    },
  ),
  description: 'A line, which has one of these. The last one has an answer or a problem.',
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
    summary:
      'What the active policies, with files laid over them, would have decided of the requests that were recorded',
    description:
      'JSON Lines: how far it is, then the answer. Closing the connection ends it. One replay of a person runs at a time, and few altogether. Nothing is recorded.',
    body: {
      description: 'Files by their path relative to the policy directory, and how far to go back.',
      schema: replayBodySchema,
      examples: replayExamples,
    },
    replies: {
      200: {
        description: 'How far it is, and what came of it',
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
    const news = startReplay(replays, ask, actorOf(call).person.id);
    const lines = Readable.from(linesOf(news, signInDeps, call), { objectMode: false });
    // When the caller goes away, the thread ends, whatever it is doing.
    call.reply.raw.once('close', () => news.destroy());
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
  news: AsyncIterable<ReplayNews>,
  deps: SignInDeps,
  { request }: ManagedCall<unknown>,
): AsyncGenerator<string> {
  try {
    for await (const one of news) {
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
  const actor = await stillIn(deps, request);
  if (actor === null || grantOf(actor.roles, access) !== 'yes') throw notAllowed();
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
