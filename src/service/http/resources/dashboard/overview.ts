// /v1/overview: numbers about the requests of a stretch of time.

import { setTimeout } from 'node:timers/promises';
import { isoTime } from '../../../../language/value/iso-time.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { type Outcomes, type Overview, overviewRange, readOverview } from '../../../statistics/overview.ts';
import type { Statistics } from '../../../statistics/statistics.ts';
import { hourMs, minuteMs } from '../../../statistics/times.ts';
import type { JsonSchema, Parameter } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { refusalCounts, refusalsExample, refusalsSchema } from '../../contract/refusal-problems.ts';
import { objectSchema, text, time } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';

interface OverviewDeps {
  readonly signInDeps: SignInDeps;
  readonly statistics: Pick<Statistics, 'read' | 'pending' | 'caughtUp'>;
}

const bucketsMax = 200;
const bucketsDefault = 48;
const rangeMs = 24 * hourMs;
/** How long an answer waits after a start for requests that are still being counted from the records. */
const caughtUpWaitMs = 5_000;

const parameters: readonly Parameter[] = [
  {
    name: 'from',
    in: 'query',
    isRequired: false,
    description: 'The start of the period; default: one day before `to`.',
    schema: time,
    example: '2026-03-02T00:00:00Z',
  },
  {
    name: 'to',
    in: 'query',
    isRequired: false,
    description: 'The end of the period; default: now.',
    schema: time,
    example: '2026-03-03T00:00:00Z',
  },
  {
    name: 'buckets',
    in: 'query',
    isRequired: false,
    description: 'The maximum number of buckets, each of whole minutes.',
    schema: { type: 'integer', minimum: 1, maximum: bucketsMax, default: bucketsDefault },
    example: '48',
  },
];

const timeForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

const count: JsonSchema = { type: 'integer', minimum: 0 };
const number: JsonSchema = { type: ['number', 'null'] };
const outcomes = { allow: count, deny: count, escalate: count, reauth: count };

const overviewSchema = objectSchema({
  from: time,
  to: time,
  bucket_seconds: { type: 'integer', minimum: minuteMs / 1000 },
  buckets: listOf({ at: time, ...outcomes, refused: count }),
  latency: listOf({ at: time, p50_us: number, p90_us: number, p99_us: number }),
  total_latency: {
    ...objectSchema({ p50_us: number, p90_us: number, p99_us: number }),
    description: 'For the whole period; null without decisions.',
  },
  policies: listOf({ name: { ...text(200), type: ['string', 'null'] }, ...outcomes }),
  risk: listOf({ from: count, to: count, count }),
  escalations: objectSchema({
    opened: count,
    approved: count,
    rejected: count,
    expired: count,
    expired_step_ups: { ...count, description: 'Expired requests that needed a step-up.' },
    pending: count,
    time_to_approve_seconds: objectSchema({ p50: number, p90: number }),
  }),
  refusals: {
    ...refusalsSchema,
    description: 'Per error code, most frequent first, including refusals that are not recorded (429, 5xx).',
  },
  total: count,
});

const someOutcomes: Outcomes = { allow: 812, deny: 31, escalate: 12, reauth: 2 };

const overviewExample = {
  from: '2026-03-02T10:00:00.000Z',
  to: '2026-03-02T10:30:00.000Z',
  bucket_seconds: 1_800,
  buckets: [{ at: '2026-03-02T10:00:00.000Z', ...someOutcomes, refused: 4 }],
  latency: [{ at: '2026-03-02T10:00:00.000Z', p50_us: 6, p90_us: 11, p99_us: 38.5 }],
  total_latency: { p50_us: 6, p90_us: 11, p99_us: 38.5 },
  policies: [{ name: 'payments', ...someOutcomes }],
  risk: [{ from: 0, to: 9, count: 857 }],
  escalations: {
    opened: 14,
    approved: 9,
    rejected: 2,
    expired: 0,
    expired_step_ups: 0,
    pending: 3,
    time_to_approve_seconds: { p50: 240, p90: 1_504 },
  },
  refusals: refusalsExample,
  total: 861,
};

const getOverview = route<OverviewDeps>({
  method: 'GET',
  url: '/v1/overview',
  access: 'overview.view',
  operation: {
    id: 'getOverview',
    summary: 'Decisions over time, with latency, deciding policies, risk scores and escalations',
    description:
      'Statistics are kept per minute for two days and per hour for ninety days. If the period includes hourly data, `from`, `to` and `bucket_seconds` are whole hours. The relative error of a quantile is less than 1/32.',
    parameters,
    replies: { 200: { description: 'The statistics', schema: overviewSchema, example: overviewExample } },
  },
  handle: async ({ statistics, signInDeps }, { query }) => {
    const nowMs = signInDeps.directory.clock();
    const untilMs = readTime('to', query.to) ?? nowMs;
    const fromMs = readTime('from', query.from) ?? untilMs - rangeMs;
    if (fromMs >= untilMs) throw new ProblemError('invalid_query', '`from` must be a time before `to`');
    const options = { bucketsMax: readBuckets(query.buckets), nowMs };
    const range = overviewRange({ fromMs, untilMs }, options);
    await Promise.race([statistics.caughtUp(), setTimeout(caughtUpWaitMs, null, { ref: false })]);
    const { buckets, latency, latencyOfAll, escalations, refusals, ...rest } = await readOverview(
      statistics,
      range,
    );
    const { timeToApprove, expiredStepUps, ...counts } = escalations;
    return {
      from: isoTime(range.fromMs),
      to: isoTime(range.untilMs),
      bucket_seconds: range.bucketMs / 1000,
      buckets: buckets.map(({ atMs, ...bucket }) => ({ at: isoTime(atMs), ...bucket })),
      latency: latency.map(({ atMs, ...quantiles }) => ({
        at: isoTime(atMs),
        ...inMicroseconds(quantiles),
      })),
      total_latency: inMicroseconds(latencyOfAll),
      ...rest,
      refusals: refusalCounts(refusals),
      escalations: {
        ...counts,
        expired_step_ups: expiredStepUps,
        pending: await statistics.pending(),
        time_to_approve_seconds: { p50: seconds(timeToApprove.p50), p90: seconds(timeToApprove.p90) },
      },
    };
  },
});

export const overviewRoutes: readonly Route<OverviewDeps>[] = [getOverview];

function inMicroseconds({ p50, p90, p99 }: Overview['latencyOfAll']) {
  return { p50_us: p50, p90_us: p90, p99_us: p99 };
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}

/**
 * The time in a query parameter, in milliseconds since 1970; null when the parameter is absent. Throws a
 * ProblemError when it is no time.
 */
function readTime(name: string, value: string | undefined): number | null {
  if (value === undefined) return null;
  const ms = timeForm.test(value) ? Date.parse(value) : Number.NaN;
  // The last day whose year has four digits is the latest time allowed.
  if (ms >= 0 && ms <= Date.UTC(9999, 11, 31)) return ms;
  throw new ProblemError(
    'invalid_query',
    `\`${name}\` must be a date or a time since 1970 such as 2026-03-02T10:00:00Z`,
  );
}

function readBuckets(value = String(bucketsDefault)): number {
  const count = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (count >= 1 && count <= bucketsMax) return count;
  throw new ProblemError('invalid_query', `\`buckets\` must be a whole number from 1 to ${bucketsMax}`);
}

function listOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'array', items: objectSchema(properties) };
}
