// Turns one AuthZEN question into its decision. The decision is recorded, limited and counted like any other,
// but the question never opens a wait. What people could grant becomes a denial that tells how to ask them.
// INVARIANT: `decision` is true when the service has granted exactly this question, and in no other case; an
// approval is used once, for the entities that it was given for.

import { isDeepStrictEqual } from 'node:util';
import type { FastifyRequest } from 'fastify';
import type { JsonObject } from '../../../../language/model/json.ts';
import { isoTime } from '../../../../language/value/iso-time.ts';
import { chainNames } from '../../../agents/delegations/delegation.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Receipts } from '../../../receipts/issue-receipt.ts';
import { type Evaluation, requestableMs } from '../../../requests/record/evaluation.ts';
import { createRequestId } from '../../../requests/record/id.ts';
import { statusAt } from '../../../requests/record/lifecycle.ts';
import type { RequestView } from '../../../requests/record/reply.ts';
import { isOwnRequest, type RequestState, requestStateOf } from '../../../requests/record/request-state.ts';
import type { Store } from '../../../store/contract/store.ts';
import { ProblemError } from '../../contract/problem.ts';
import type { Answer, AuthorizeCall, AuthorizeHandler } from '../requests/authorize-handler.ts';
import { recordRefused } from '../requests/record-refused.ts';
import { callOfEntities, type Entities, entitiesDigest } from './entities.ts';

export interface EvaluateDeps {
  readonly authorizeHandler: AuthorizeHandler;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly receipts: Pick<Receipts, 'issue' | 'isOn'>;
  readonly store: Store;
  readonly clock: () => number;
  readonly keyedDigest: (sha256: string) => string;
  readonly origin: string;
}

export interface EvaluationReply {
  readonly decision: boolean;
  readonly context?: Readonly<Record<string, unknown>>;
}

const stepUpClass = 'urn:writ:acr:step-up';

/**
 * Decides one AuthZEN question. Throws a ProblemError when the question is refused, except by a kill switch,
 * which gives a denial.
 */
export async function evaluateEntities(
  deps: EvaluateDeps,
  request: FastifyRequest,
  entities: Entities,
): Promise<EvaluationReply> {
  const call = callOf(deps, request);
  const approvalId = approvalIn(entities.context);
  try {
    if (approvalId !== null) return await reevaluate(deps, { call, entities, approvalId });
    const answer = await decideEntities(deps, call, entities);
    return withChain(await evaluatedOf(deps, entities, answer), call);
  } catch (error) {
    const problem = await recordRefused(deps, call, error);
    if (problem.code !== 'stopped') throw problem;
    return denied(problem.message, { reason: 'stopped', next_action: 'none' });
  }
}

/** Shows the delegations by which a sub-agent asks. */
function withChain(reply: EvaluationReply, { identity }: AuthorizeCall): EvaluationReply {
  if (identity.chain === undefined) return reply;
  const subject = { properties: { [chainProperty]: chainNames(identity.chain) } };
  return { ...reply, context: { ...reply.context, subject } };
}

interface EvaluationCall {
  readonly call: AuthorizeCall;
  readonly entities: Entities;
}

export function decideEntities(
  { authorizeHandler, policies, keyedDigest }: EvaluateDeps,
  call: AuthorizeCall,
  entities: Entities,
  { deniedId = null, awaitedId }: { readonly deniedId?: string | null; readonly awaitedId?: string } = {},
): Promise<Answer> {
  checkStatedChain(entities, call);
  const evaluated = callOfEntities(entities, policies.current());
  if (evaluated === null)
    throw new ProblemError('invalid_body', 'resource and action have a property in common');
  const body = Buffer.from(JSON.stringify({ action_key: evaluated.actionKey, payload: evaluated.payload }));
  const evaluation: Evaluation = { entities: keyedDigest(entitiesDigest(entities)), deniedId };
  const taking = awaitedId === undefined ? { isAttaching: false } : { isAttaching: true, awaitedId };
  return authorizeHandler.decide(call, body, { evaluation, ...taking });
}

/** The member of `subject.properties` in which a chain of delegations is stated and shown, by names. */
const chainProperty = 'delegation_chain';

/**
 * The chain is that of the key with which the caller asks. Throws a ProblemError for entities that state another
 * one, since a policy may read what they state.
 */
function checkStatedChain({ subject: { properties = {} } }: Entities, { identity }: AuthorizeCall): void {
  const own = identity.chain === undefined ? [] : chainNames(identity.chain);
  const isOwn =
    !Object.hasOwn(properties, chainProperty) || isDeepStrictEqual(properties[chainProperty], own);
  if (isOwn) return;
  const detail = 'is not the chain of delegations of the key';
  const pointer = `/subject/properties/${chainProperty}`;
  throw new ProblemError('invalid_body', `\`${chainProperty}\` ${detail}`, { errors: [{ pointer, detail }] });
}

/**
 * An evaluation as a call. `Idempotency-Key` is dropped, so each question has a record of its own; of
 * `Prefer`, only the wish for a receipt counts.
 */
export function callOf({ clock }: Pick<EvaluateDeps, 'clock'>, request: FastifyRequest): AuthorizeCall {
  const { identity, headers, url, clientAddress, startedAtMs } = request;
  if (identity === null) throw new Error('the evaluation has no agent');
  const { 'idempotency-key': _, ...own } = headers;
  return { identity, headers: own, url, id: createRequestId(clock()), clientAddress, startedAtMs };
}

async function evaluatedOf(deps: EvaluateDeps, entities: Entities, answer: Answer): Promise<EvaluationReply> {
  const { view, input } = answer;
  if (view.decision === 'ALLOW' && view.status === 'auto_approved') {
    const receipt = await receiptOf(deps, answer);
    const { request_id: evaluation_id, expires_at } = view;
    const proof = receipt === null ? {} : { receipt };
    return { decision: true, context: { evaluation_id, expires_at, ...proof } };
  }
  const state = await stateOf(deps, input.requestId);
  if (state === null || state.decision.outcome === 'DENY') return deniedBy(deps, entities, view);
  return requestable(deps, state, entities);
}

/** The state of a request; null when no request has this id. */
export async function stateOf(
  { store }: Pick<EvaluateDeps, 'store'>,
  id: string,
): Promise<RequestState | null> {
  const history = await store.requests.history(id);
  return history === null ? null : requestStateOf(history);
}

async function receiptOf({ receipts }: EvaluateDeps, { view, input }: Answer): Promise<string | null> {
  if (typeof input.receiptFor !== 'string' || !receipts.isOn) return null;
  const issued = await receipts.issue(view.request_id, input);
  return issued.kind === 'issued' ? issued.receipt : null;
}

const reasons: Readonly<Record<string, string>> = {
  undeclared_action: 'undeclared_action',
  invalid_payload: 'invalid_payload',
};

function deniedBy(
  deps: EvaluateDeps,
  entities: Entities,
  { request_id, matched_policy: policy, reason }: RequestView,
): EvaluationReply {
  const detail = { reason: reasons[policy] ?? 'policy_denied', policy, next_action: 'none' };
  const errors = errorsOf(deps, entities, policy);
  return denied(reason, { evaluation_id: request_id, ...detail, ...(errors.length > 0 ? { errors } : {}) });
}

interface PlacedError {
  /** JSON pointer (RFC 6901) from the root of the evaluation. */
  readonly pointer: string;
  readonly detail: string;
}

/** The errors that the payload check found, each with its place in the entities; no error holds a value. */
function errorsOf({ policies }: EvaluateDeps, entities: Entities, gate: string): readonly PlacedError[] {
  if (gate === 'undeclared_action')
    return [{ pointer: '/action/name', detail: 'no policy declares this action' }];
  const active = policies.current();
  const evaluated = gate === 'invalid_payload' ? callOfEntities(entities, active) : null;
  if (evaluated === null) return [];
  const issues = active.checkPayload(evaluated.actionKey, evaluated.payload) ?? [];
  return issues.map(({ pointer, message: detail }) => ({ pointer: evaluated.pointerOf(pointer), detail }));
}

function denied(message: string, context: Readonly<Record<string, unknown>>): EvaluationReply {
  return { decision: false, context: { message, ...context } };
}

/**
 * A denial that people could turn into a grant. It names the step-up as an obligation only when the caller
 * supports that obligation.
 */
function requestable(
  { origin }: EvaluateDeps,
  { record, decision }: RequestState,
  { context }: Entities,
): EvaluationReply {
  const groups = decision.requires?.approvals.map(({ group }) => group) ?? [];
  const isStepUp = decision.outcome === 'REAUTH_REQUIRED';
  const who = isStepUp ? "the agent's control owner" : groups.join(' and ');
  const title = isStepUp ? `Step-up by ${who}` : `Approval by ${who}`;
  const access_request = {
    endpoint: `${origin}/access/v1/requests`,
    template: isStepUp ? 'reauth' : groups.join('+'),
    expires_at: isoTime(record.createdAtMs + requestableMs),
    display: { title, description: decision.reason },
  };
  const obligations = isStepUp && knowsStepUp(context) ? { obligations: [stepUpObligation] } : {};
  return denied(decision.reason, {
    evaluation_id: record.id,
    evaluated_at: isoTime(record.createdAtMs),
    reason: isStepUp ? 'reauthentication_required' : 'approval_required',
    policy: decision.matchedPolicy,
    // A sub-agent cannot make an access request.
    ...(record.chain === undefined ? { next_action: 'request', access_request } : { next_action: 'none' }),
    ...(isStepUp ? { acr_values: stepUpClass } : {}),
    ...obligations,
  });
}

const stepUpObligation = {
  id: 'reauth',
  type: 'step-up',
  properties: { acr_value: stepUpClass, amr_values: ['pwd', 'otp'] },
} as const;

function knowsStepUp(context: JsonObject | undefined): boolean {
  const obligations = context?.supported_obligations;
  return Array.isArray(obligations) && obligations.includes('step-up');
}

/** The id of the approval that the context shows, empty when malformed; null when the context shows none. */
function approvalIn(context: JsonObject | undefined): string | null {
  const approval = context?.approval;
  if (approval === undefined) return null;
  const { id } = Object(approval) as { readonly id?: unknown };
  return typeof id === 'string' ? id : '';
}

/**
 * Evaluates again with an approval. The approval counts when it is for exactly this caller and these
 * entities, and has not been used.
 */
async function reevaluate(
  deps: EvaluateDeps,
  { call, entities, approvalId }: EvaluationCall & { readonly approvalId: string },
): Promise<EvaluationReply> {
  const { keyedDigest, clock } = deps;
  const state = await stateOf(deps, approvalId);
  if (
    state === null ||
    !isOwnRequest(call.identity, state.record) ||
    state.record.evaluation?.deniedId == null
  )
    return denied('no such approval', { reason: 'approval_unverifiable', next_action: 'none' });
  if (state.record.evaluation.entities !== keyedDigest(entitiesDigest(entities)))
    return denied('the approval is for another request', { reason: 'out_of_scope', next_action: 'none' });
  switch (statusAt(state, clock())) {
    case 'pending':
      return denied('people have not decided yet', {
        reason: 'grant_pending',
        next_action: 'retry',
        retry_after: 5,
      });
    case 'auto_approved':
      return await evaluatedOf(deps, entities, await decideEntities(deps, call, entities));
    case 'approved':
      return await taken(deps, { call, entities, approvalId });
    case 'rejected':
      return denied('the request was rejected', { reason: 'policy_denied', next_action: 'none' });
    case 'consumed':
    case 'expired':
    case 'withdrawn':
      return await askAgain(deps, { call, entities });
  }
}

/**
 * Uses an approval. The active policies are asked first: an approval grants nothing that they deny, and what
 * they allow needs no approval.
 */
async function taken(
  deps: EvaluateDeps,
  { call, entities, approvalId }: EvaluationCall & { readonly approvalId: string },
): Promise<EvaluationReply> {
  const now = await evaluatedOf(deps, entities, await decideEntities(deps, call, entities));
  if (now.context?.access_request === undefined) return now;
  const again = { ...call, id: createRequestId(deps.clock()) };
  const answer = await decideEntities(deps, again, entities, { awaitedId: approvalId });
  const { view } = answer;
  if (view.request_id !== approvalId || view.decision !== 'ALLOW') return expired(now);
  const receipt = await receiptOf(deps, answer);
  const { expires_at } = view;
  const approval = { id: approvalId, approved_until: expires_at };
  const proof = receipt === null ? {} : { receipt };
  return { decision: true, context: { evaluation_id: approvalId, expires_at, approval, ...proof } };
}

/**
 * Answers for an approval that is over. If people would be asked now, the answer tells how to ask for a new
 * approval.
 */
async function askAgain(deps: EvaluateDeps, { call, entities }: EvaluationCall): Promise<EvaluationReply> {
  return expired(await evaluatedOf(deps, entities, await decideEntities(deps, call, entities)));
}

function expired(now: EvaluationReply): EvaluationReply {
  if (now.decision) return now;
  const next_action = now.context?.access_request === undefined ? 'none' : 'request';
  return { decision: false, context: { ...now.context, reason: 'approval_expired', next_action } };
}
