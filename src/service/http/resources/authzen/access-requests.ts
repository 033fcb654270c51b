// Access requests of AuthZEN (Access Request and Approval Profile, draft 1): a denial that people could lift
// becomes a wait, and its approval is shown with the next evaluation. INVARIANT: an access request is for
// exactly what was evaluated, by the caller that evaluated it, within ten minutes; no reply tells who
// approves, or why.

import type { FastifyRequest } from 'fastify';
import { isoTime } from '../../../../language/value/iso-time.ts';
import { requestableMs } from '../../../requests/record/evaluation.ts';
import { statusAt } from '../../../requests/record/lifecycle.ts';
import { isOwnRequest, type RequestState } from '../../../requests/record/request-state.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { RequestStatus } from '../../../store/contract/records.ts';
import type { OperationReply } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { idParameter, objectSchema, time } from '../../contract/schemas.ts';
import { callerIn, type ManagedCall, payloadBodyMax, type Route, route } from '../../routing/route.ts';
import { recordRefused } from '../requests/record-refused.ts';
import { type Entities, entitiesDigest, entitiesExample, entitySchemas } from './entities.ts';
import { callOf, decideEntities, type EvaluateDeps, stateOf } from './evaluate.ts';

interface AccessRequestDeps extends EvaluateDeps {
  readonly requestChanges: RequestChanges;
}

interface AccessRequest extends Entities {
  readonly denial: { readonly evaluation_id?: string; readonly expires_at: string };
}

const taskStatuses = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const;

const statusOf = {
  pending: 'pending',
  auto_approved: 'approved',
  approved: 'approved',
  // The request was approved, and the approval has been used.
  consumed: 'approved',
  rejected: 'denied',
  expired: 'expired',
  withdrawn: 'cancelled',
} as const satisfies Record<RequestStatus, (typeof taskStatuses)[number]>;

const link = { type: 'string' } as const;

const taskReply: OperationReply = {
  description: 'The status of the access request',
  schema: objectSchema(
    {
      task: objectSchema(
        {
          id: { type: 'string' },
          status: { type: 'string', enum: taskStatuses },
          status_endpoint: link,
          links: objectSchema({ ticket: link }, { cancel: link }),
        },
        {
          expires_at: time,
          progress: objectSchema({
            current_step: { type: 'integer', minimum: 1 },
            total_steps: { type: 'integer', minimum: 1 },
            step_name: { type: 'string' },
          }),
        },
      ),
    },
    {
      result: objectSchema({
        mode: { type: 'string', enum: ['reevaluate'] },
        approval: objectSchema({ id: { type: 'string' }, approved_until: time }, { approved_at: time }),
      }),
    },
  ),
  example: {
    task: {
      id: '019a0000-0000-7000-8000-000000000000',
      status: 'pending',
      status_endpoint: 'https://writ.example.com/access/v1/requests/019a0000-0000-7000-8000-000000000000',
      links: { ticket: 'https://writ.example.com/requests/019a0000-0000-7000-8000-000000000000' },
      expires_at: '2026-05-19T16:00:00.000Z',
      progress: { current_step: 1, total_steps: 2, step_name: 'finance' },
    },
  },
  headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'],
};

const madeReply = { ...taskReply, headers: [...(taskReply.headers ?? []), 'Location'] } as const;

const taskId = idParameter('The `task.id` of the access request.', '019a0000-0000-7000-8000-000000000000');

const requestAccess = route<AccessRequestDeps, AccessRequest>({
  method: 'POST',
  url: '/access/v1/requests',
  access: 'agent',
  bodyMax: payloadBodyMax,
  operation: {
    id: 'requestAccess',
    summary: 'Requests approval for a denied evaluation (draft)',
    description:
      'Access Request and Approval Profile, draft 1. Subject, resource, action and context must equal those of the evaluation. People decide it like any request; `GET` returns its status. Without an `Idempotency-Key`, repeating the same denial returns the same access request. An approval is valid for one evaluation, which carries it as `context.approval`.',
    body: {
      description: 'Unknown fields are ignored.',
      schema: {
        type: 'object',
        required: ['subject', 'action', 'resource', 'denial'],
        properties: {
          ...entitySchemas,
          denial: {
            type: 'object',
            required: ['expires_at'],
            properties: { evaluation_id: { type: 'string' }, expires_at: time },
          },
        },
      },
      examples: {
        denied: {
          ...entitiesExample,
          context: { business_justification: 'Renewal' },
          denial: {
            evaluation_id: '019a0000-0000-7000-8000-000000000000',
            expires_at: '2026-05-19T12:10:00.000Z',
          },
        },
      },
    },
    replies: { 201: madeReply, 202: { ...madeReply, description: 'Created; people are asked' } },
    problems: [
      'not_requestable',
      'invalid_denial_binding',
      'expired_denial',
      'duplicate_request',
      'invalid_header',
      'invalid_signature',
      'stopped',
      'too_many_in_flight',
      'too_many_open_requests',
    ],
  },
  handle: async (deps, call) => {
    const { denial } = call.body;
    const deniedId = denial.evaluation_id;
    if (deniedId === undefined)
      throw new ProblemError('invalid_denial_binding', '`denial.evaluation_id` is missing');
    checkBinding(deps, call, await stateOf(deps, deniedId));
    const repeated = withKey(deps, call.request, deniedId);
    try {
      const { view } = await decideEntities(deps, repeated, call.body, { deniedId });
      const state = await stateOf(deps, view.request_id);
      if (state === null) throw new Error('the decided request is not on record');
      const task = taskOf(deps, state);
      call.reply.code(task.task.status === 'pending' ? 202 : 201);
      call.reply.header('location', task.task.status_endpoint);
      return task;
    } catch (error) {
      const problem = await recordRefused(deps, repeated, error);
      if (problem.code !== 'idempotency_mismatch') throw problem;
      throw new ProblemError('duplicate_request', 'this key was used with another access request');
    }
  },
});

const getTask = route<AccessRequestDeps>({
  method: 'GET',
  url: '/access/v1/requests/:id',
  access: 'agent',
  operation: {
    id: 'getTask',
    summary: 'The status of an access request (draft)',
    parameters: [taskId],
    replies: { 200: taskReply },
    problems: ['unknown_task'],
  },
  handle: async (deps, call) => taskOf(deps, await ownTask(deps, call)),
});

const cancelTask = route<AccessRequestDeps>({
  method: 'POST',
  url: '/access/v1/requests/:id/cancel',
  access: 'agent',
  operation: {
    id: 'cancelTask',
    summary: 'Cancels an access request (draft)',
    parameters: [taskId],
    replies: { 200: taskReply },
    problems: ['unknown_task', 'invalid_task_state'],
  },
  handle: async (deps, call) => {
    const { record } = await ownTask(deps, call);
    const changed = await deps.requestChanges.withdraw(record.id, callerIn(call));
    if (changed.kind === 'conflict') throw new ProblemError('invalid_task_state', changed.detail);
    if (changed.kind !== 'changed') throw unknownTask();
    return taskOf(deps, changed.state);
  },
});

export const accessRequestRoutes: readonly Route<AccessRequestDeps>[] = [requestAccess, getTask, cancelTask];

/**
 * Throws a ProblemError unless the denial is this caller's, could be lifted by people, is for these entities,
 * and is recent enough.
 */
function checkBinding(
  { keyedDigest, clock }: AccessRequestDeps,
  call: ManagedCall<AccessRequest>,
  denied: RequestState | null,
): void {
  const evaluation = denied?.record.evaluation;
  if (denied === null || evaluation === undefined || !isOwnRequest(callerIn(call), denied.record))
    throw new ProblemError(
      'invalid_denial_binding',
      '`denial.evaluation_id` is not the id of one of your evaluations',
    );
  const { decision, record } = denied;
  const isRequestable = evaluation.deniedId === null && decision.outcome !== 'DENY';
  if (!isRequestable || decision.outcome === 'ALLOW')
    throw new ProblemError('not_requestable', 'people cannot grant the evaluated request');
  if (evaluation.entities !== keyedDigest(entitiesDigest(call.body)))
    throw new ProblemError('invalid_denial_binding', 'the entities differ from the evaluation');
  const endsAtMs = record.createdAtMs + requestableMs;
  if (call.body.denial.expires_at !== isoTime(endsAtMs))
    throw new ProblemError('invalid_denial_binding', '`denial.expires_at` differs from the evaluation');
  if (clock() >= endsAtMs) throw new ProblemError('expired_denial', 'the denial is too old: evaluate again');
}

/**
 * The call with the caller's idempotency key, or else a key of its denial: without a key, the same denial
 * again is the same access request.
 */
function withKey(deps: AccessRequestDeps, request: FastifyRequest, deniedId: string) {
  const call = callOf(deps, request);
  const key = request.headers['idempotency-key'] ?? `denial ${deniedId}`;
  return { ...call, headers: { ...call.headers, 'idempotency-key': key } };
}

async function ownTask(deps: AccessRequestDeps, call: ManagedCall<unknown>): Promise<RequestState> {
  const state = await stateOf(deps, call.params.id ?? '');
  if (
    state === null ||
    !isOwnRequest(callerIn(call), state.record) ||
    state.record.evaluation?.deniedId == null
  )
    throw unknownTask();
  return state;
}

function unknownTask(): ProblemError {
  return new ProblemError('unknown_task', 'no such access request, or you may not see it');
}

/**
 * Progress with a step for each group, after one for a step-up. It never names the people that the request
 * waits for.
 */
function progressOf({ record, decision }: RequestState) {
  const steps = stepsOf(decision);
  const total_steps = Math.max(stepsOf(record.decision).length, steps.length, 1);
  const current_step = total_steps - Math.max(steps.length, 1) + 1;
  return { current_step, total_steps, step_name: steps[0] ?? 'approval' };
}

function stepsOf({ requires }: RequestState['decision']): readonly string[] {
  if (requires === null) return [];
  const groups = requires.approvals.map(({ group }) => group);
  return requires.reauth === null ? groups : ['reauth', ...groups];
}

function taskOf({ origin, clock }: AccessRequestDeps, state: RequestState) {
  const { record, decidedAtMs, expiresAtMs } = state;
  const status = statusOf[statusAt(state, clock())];
  const status_endpoint = `${origin}/access/v1/requests/${record.id}`;
  const until = isoTime(expiresAtMs);
  const cancel = status === 'pending' ? { cancel: `${status_endpoint}/cancel` } : {};
  const task = {
    id: record.id,
    status,
    status_endpoint,
    links: { ticket: `${origin}/requests/${record.id}`, ...cancel },
    ...(status === 'pending' ? { expires_at: until, progress: progressOf(state) } : {}),
  };
  if (status !== 'approved') return { task };
  const at = decidedAtMs === null ? {} : { approved_at: isoTime(decidedAtMs) };
  const approval = { id: record.id, approved_until: until, ...at };
  return { task, result: { mode: 'reevaluate' as const, approval } };
}
