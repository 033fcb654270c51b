// GET /healthz: whether the process runs. GET /readyz: whether it can decide and record; the body also shows
// how the policies stand, with the diagnostics of a set that did not take over, and without any path of this
// machine.

import type { FastifyInstance } from 'fastify';
import { isoTime } from '../../../../language/value/iso-time.ts';
import type { PolicyGaps } from '../../../alerts/policy-gaps.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Metering, MissingMeter } from '../../../requests/metering/metering.ts';
import type { Store } from '../../../store/contract/store.ts';
import type { DescribedRoute, Operation } from '../../contract/operation.ts';
import { policyReport, policyReportExample, policyReportSchema } from '../policies/policy-report.ts';

export interface HealthRouteOptions {
  readonly store: Pick<Store, 'isWritable' | 'fault'>;
  readonly policies: Pick<PolicyHost, 'state' | 'isReady' | 'current'>;
  readonly policyGaps: Pick<PolicyGaps, 'current'>;
  readonly metering: Pick<Metering, 'missing' | 'hasBegun'>;
  readonly shutdown: AbortSignal;
}

const notWritable = 'records cannot be written; nothing is granted in the meantime';

export async function healthRoutes(app: FastifyInstance, options: HealthRouteOptions): Promise<void> {
  const { store, policies, policyGaps, metering, shutdown } = options;

  app.get(getHealth.url, async () => ({ status: 'ok' }));

  app.get(getReadiness.url, async (_request, reply) => {
    const isWritable = store.isWritable();
    const missing = missingMeters(policies.current(), metering);
    const reasons: readonly (string | false | null)[] = [
      shutdown.aborted && 'the service is stopping',
      !isWritable && (store.fault() ?? notWritable),
      !policies.isReady() && otherPolicies,
      // A meter whose past cannot be had does not keep the service from what no meter guards.
      !metering.hasBegun() && beginning(missing),
    ];
    const why = reasons.find((reason) => typeof reason === 'string') ?? null;
    reply.code(why === null ? 200 : 503);
    return {
      status: why === null ? 'ready' : shutdown.aborted ? 'stopping' : 'not-ready',
      reason: why,
      store: { status: isWritable ? 'writable' : 'not-writable' },
      meters: { missing },
      policies: policyReport(policies.state(), policyGaps.current()),
    };
  });
}

const otherPolicies = 'the other replicas use a policy set that this replica has not loaded yet';

interface MissingMeterView {
  readonly name: string;
  readonly since: string;
  readonly reason: MissingMeter['why'];
  readonly until: string | null;
}

/** The meters that are unknown because their past is, by name. */
function missingMeters(
  active: ReturnType<PolicyHost['current']>,
  metering: Pick<Metering, 'missing'>,
): readonly MissingMeterView[] {
  const missing = new Map(metering.missing(active).map((one) => [one.definition, one]));
  if (missing.size === 0) return [];
  return active.about().meters.flatMap(({ name, definition }) => {
    const meter = missing.get(definition);
    if (meter === undefined) return [];
    const { sinceMs, why, untilMs } = meter;
    return [
      {
        name,
        since: boundedTime(sinceMs),
        reason: why,
        until: untilMs === null ? null : boundedTime(untilMs),
      },
    ];
  });
}

/** Null when no past is being read. */
function beginning(missing: readonly MissingMeterView[]): string | null {
  const [first, ...others] = missing.filter(({ reason }) => reason === 'reading');
  if (first === undefined) return null;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `the history of meters is being read since ${first.since}: \`${first.name}\`${more}`;
}

/** A time beyond the last JavaScript date is shown as that date. */
function boundedTime(ms: number): string {
  return isoTime(Math.min(Math.trunc(ms), 8.64e15));
}

const healthOperation: Operation = {
  id: 'getHealth',
  summary: 'Whether the process is running',
  security: null,
  replies: {
    200: {
      description: 'The process is running',
      schema: {
        type: 'object',
        required: ['status'],
        properties: { status: { type: 'string', enum: ['ok'] } },
      },
      example: { status: 'ok' },
    },
  },
  problems: ['internal_error'],
};

const readySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['status', 'reason', 'store', 'meters', 'policies'],
  properties: {
    status: { type: 'string', enum: ['ready', 'not-ready', 'stopping'] },
    reason: { type: ['string', 'null'], description: 'Why the service is not ready; null if it is.' },
    store: {
      type: 'object',
      required: ['status'],
      properties: { status: { type: 'string', enum: ['writable', 'not-writable'] } },
    },
    meters: {
      type: 'object',
      required: ['missing'],
      properties: {
        missing: {
          type: 'array',
          description: 'Meters without a known history; requests that depend on them are refused.',
          items: {
            type: 'object',
            required: ['name', 'since', 'reason', 'until'],
            properties: {
              name: { type: 'string' },
              since: { type: 'string', format: 'date-time' },
              reason: {
                type: 'string',
                enum: ['reading', 'unreadable', 'incomplete'],
                description:
                  '`reading`: the history is being read. `unreadable`: the last attempt failed, see the log. `incomplete`: records that the meter counts are missing.',
              },
              until: {
                type: ['string', 'null'],
                format: 'date-time',
                description: 'When the missing records no longer count.',
              },
            },
          },
        },
      },
    },
    policies: policyReportSchema,
  },
} as const;

const readyExample = {
  status: 'ready',
  reason: null,
  store: { status: 'writable' },
  meters: { missing: [] },
  policies: policyReportExample,
} as const;

const readyOperation: Operation = {
  id: 'getReadiness',
  summary: 'Whether the service can decide and record requests, and the state of its policies',
  security: null,
  replies: {
    200: { description: 'The service is ready', schema: readySchema, example: readyExample },
    503: {
      description:
        'The service cannot record requests, is still reading the history of its meters, or is stopping',
      schema: readySchema,
      example: {
        ...readyExample,
        status: 'not-ready',
        reason: notWritable,
        store: { status: 'not-writable' },
      },
    },
  },
  problems: ['internal_error'],
};

export const getHealth: DescribedRoute = { method: 'GET', url: '/healthz', operation: healthOperation };

export const getReadiness: DescribedRoute = { method: 'GET', url: '/readyz', operation: readyOperation };
