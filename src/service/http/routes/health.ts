// GET /healthz: whether the process runs. GET /readyz: whether it can decide and record; the body also shows
// how the policies stand, with the diagnostics of a set that did not take over, and without any path of this
// machine.

import type { FastifyInstance } from 'fastify';
import type { PolicyGaps } from '../../alerts/policy-gaps.ts';
import type { PolicyHost } from '../../policies/policy-host.ts';
import type { Store } from '../../store/contract/store.ts';
import type { DescribedRoute, Operation } from '../contract/operation.ts';
import { policyReport, policyReportExample, policyReportSchema } from '../views/policy-report.ts';

export interface HealthRouteOptions {
  readonly store: Pick<Store, 'isWritable' | 'fault'>;
  readonly policies: Pick<PolicyHost, 'state' | 'isReady'>;
  readonly policyGaps: Pick<PolicyGaps, 'current'>;
  readonly shutdown: AbortSignal;
}

const notWritable = 'records cannot be written: nothing is granted until they can';

export async function healthRoutes(app: FastifyInstance, options: HealthRouteOptions): Promise<void> {
  const { store, policies, policyGaps, shutdown } = options;

  app.get(getHealth.url, async () => ({ status: 'ok' }));

  app.get(getReadiness.url, async (_request, reply) => {
    const isWritable = store.isWritable();
    const isReady = isWritable && policies.isReady() && !shutdown.aborted;
    reply.code(isReady ? 200 : 503);
    return {
      status: isReady ? 'ready' : shutdown.aborted ? 'stopping' : 'not-ready',
      why: isReady ? null : whyNot(isWritable ? null : (store.fault() ?? notWritable), shutdown.aborted),
      store: { status: isWritable ? 'writable' : 'not-writable' },
      policies: policyReport(policies.state(), policyGaps.current()),
    };
  });
}

/** Why the service is not ready. `fault` is why nothing can be recorded; null when records can be written. */
function whyNot(fault: string | null, isStopping: boolean): string {
  if (isStopping) return 'the service is stopping';
  return fault ?? 'the replicas decide by another policy set, which this one cannot decide by yet';
}

const healthOperation: Operation = {
  id: 'getHealth',
  summary: 'The process runs',
  security: null,
  replies: {
    200: {
      description: 'It runs',
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
  required: ['status', 'why', 'store', 'policies'],
  properties: {
    status: { type: 'string', enum: ['ready', 'not-ready', 'stopping'] },
    why: { type: ['string', 'null'], description: 'What stands in the way; null where nothing does.' },
    store: {
      type: 'object',
      required: ['status'],
      properties: { status: { type: 'string', enum: ['writable', 'not-writable'] } },
    },
    policies: policyReportSchema,
  },
} as const;

const readyExample = {
  status: 'ready',
  why: null,
  store: { status: 'writable' },
  policies: policyReportExample,
} as const;

const readyOperation: Operation = {
  id: 'getReadiness',
  summary: 'The service can decide and record, and how its policies stand',
  security: null,
  replies: {
    200: { description: 'It is ready', schema: readySchema, example: readyExample },
    503: {
      description: 'It cannot record, or is stopping',
      schema: readySchema,
      example: {
        ...readyExample,
        status: 'not-ready',
        why: notWritable,
        store: { status: 'not-writable' },
      },
    },
  },
  problems: ['internal_error'],
};

export const getHealth: DescribedRoute = { method: 'GET', url: '/healthz', operation: healthOperation };

export const getReadiness: DescribedRoute = { method: 'GET', url: '/readyz', operation: readyOperation };
