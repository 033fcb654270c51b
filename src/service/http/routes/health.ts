// GET /healthz: the process runs. GET /readyz: it can decide and record; its body says how the policies stand, with
// the diagnostics of a set that did not take over, and without any path of this machine.

import type { FastifyInstance } from 'fastify';
import type { PolicyHost, PolicyState } from '../../policies/policy-host.ts';
import type { Store } from '../../store/contract/store.ts';
import type { DescribedRoute, Operation } from '../contract/operation.ts';

export interface HealthRouteOptions {
  readonly store: Pick<Store, 'isWritable'>;
  readonly policies: Pick<PolicyHost, 'state' | 'isReady'>;
  readonly shutdown: AbortSignal;
}

export async function healthRoutes(app: FastifyInstance, options: HealthRouteOptions): Promise<void> {
  const { store, policies, shutdown } = options;

  app.get(getHealth.url, async () => ({ status: 'ok' }));

  app.get(getReadiness.url, async (_request, reply) => {
    const isWritable = store.isWritable();
    const isReady = isWritable && policies.isReady() && !shutdown.aborted;
    reply.code(isReady ? 200 : 503);
    return {
      status: isReady ? 'ready' : shutdown.aborted ? 'stopping' : 'not-ready',
      store: { status: isWritable ? 'writable' : 'not-writable' },
      policies: policyReport(policies.state()),
    };
  });
}

/** Stale policies do not make the service unready: the last good set decides. */
export function policyReport(state: PolicyState) {
  const { status, directory, digest, commit, loadedAt, actions, rules, failure } = state;
  return {
    status,
    digest,
    commit,
    loaded_at: loadedAt,
    actions,
    rules,
    failure: failure === null ? null : failureReport(failure, directory),
  };
}

function failureReport(
  { at, cause, summary, diagnostics }: NonNullable<PolicyState['failure']>,
  directory: string,
) {
  // What concerns the whole directory names it, for people at a terminal.
  const shown = diagnostics.map((one) => ({ ...one, message: one.message.replaceAll(directory, '.') }));
  return { at, cause, message: summary, diagnostics: shown };
}

const positionSchema = {
  type: ['object', 'null'],
  description: 'From 1, the column in code points; null where the file has no text.',
  required: ['line', 'column'],
  properties: { line: { type: 'integer' }, column: { type: 'integer' } },
} as const;

const diagnosticSchema = {
  type: 'object',
  additionalProperties: true,
  required: ['code', 'severity', 'message', 'file', 'start', 'end', 'help'],
  properties: {
    code: { type: 'string' },
    severity: { type: 'string', enum: ['error', 'warning'] },
    message: { type: 'string' },
    file: { type: 'string', description: 'Relative to the policy directory; empty for all of it.' },
    start: positionSchema,
    end: { ...positionSchema, description: 'One past the last character.' },
    help: { type: ['string', 'null'] },
  },
} as const;

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

/** How the policies stand; the management API shows the same. */
export const policyReportSchema = {
  type: 'object',
  required: ['status', 'digest', 'commit', 'loaded_at', 'actions', 'rules', 'failure'],
  properties: {
    status: { type: 'string', enum: ['current', 'stale'] },
    digest: { type: 'string' },
    commit: { type: ['string', 'null'] },
    loaded_at: { type: 'string', format: 'date-time' },
    actions: { type: 'integer' },
    rules: { type: 'integer' },
    failure: {
      type: ['object', 'null'],
      description: 'Why what stands in the policy directory did not take over.',
      required: ['at', 'cause', 'message', 'diagnostics'],
      properties: {
        at: { type: 'string', format: 'date-time' },
        cause: {
          type: 'string',
          enum: ['policies', 'unsettled', 'compiler'],
          description:
            'They have errors; they keep changing; or the compiler hung, ran out of memory, crashed or could not be started.',
        },
        message: { type: 'string' },
        diagnostics: { type: 'array', description: 'The first hundred.', items: diagnosticSchema },
      },
    },
  },
} as const;

const readySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['status', 'store', 'policies'],
  properties: {
    status: { type: 'string', enum: ['ready', 'not-ready', 'stopping'] },
    store: {
      type: 'object',
      required: ['status'],
      properties: { status: { type: 'string', enum: ['writable', 'not-writable'] } },
    },
    policies: policyReportSchema,
  },
} as const;

export const policyReportExample = {
  status: 'current',
  digest: '9f86d081884c7d65',
  commit: null,
  loaded_at: '2026-05-19T12:00:00.000Z',
  actions: 4,
  rules: 5,
  failure: null,
} as const;

const readyExample = {
  status: 'ready',
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
      example: { ...readyExample, status: 'not-ready', store: { status: 'not-writable' } },
    },
  },
  problems: ['internal_error'],
};

export const getHealth: DescribedRoute = { method: 'GET', url: '/healthz', operation: healthOperation };

export const getReadiness: DescribedRoute = { method: 'GET', url: '/readyz', operation: readyOperation };
