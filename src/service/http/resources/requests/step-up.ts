// Step-up: an agent's control owner proves then and there to be present, by a passkey, or by password and
// one-time code, for one request or for the agent. INVARIANT: nobody else is even asked for credentials, and
// a passkey's answer counts only for that person and that request or agent.

import { isoTime } from '../../../../language/value/iso-time.ts';
import { isControlOwner } from '../../../agents/agent-facts.ts';
import { isNew, type ProofFactors, reauthenticate } from '../../../people/identity-proof.ts';
import { passkeyRequestOptions } from '../../../people/passkeys.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { StandingApprovals } from '../../../requests/standing/standing-approvals.ts';
import type { AgentRow } from '../../../store/contract/records.ts';
import type { Store } from '../../../store/contract/store.ts';
import { notAllowed, notFound } from '../../auth/auth-refusals.ts';
import { refusalOfProof } from '../../auth/credentials.ts';
import { proofFields } from '../../auth/proof.ts';
import { callerOf } from '../../auth/request-rights.ts';
import type { OperationReply } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { idParameter, objectSchema, time } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { detailOf, refused, requestNotFound } from './approval-result.ts';
import { detailExample, detailSchema } from './request-view.ts';
import { requestId } from './requests.ts';
import type { Reviews } from './reviews.ts';

interface StepUpDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  readonly requestChanges: RequestChanges;
  readonly reviews: Reviews;
  readonly standingApprovals: StandingApprovals;
}

const body = {
  description: "`password` and `code`, or `passkey`: the browser's response to the options.",
  schema: objectSchema({}, proofFields),
  examples: {
    codes: { password: 'correct horse battery', code: '287082' },
    passkey: { passkey: { id: 'AbC', type: 'public-key' } },
  },
};

const problems = [
  'wrong_credentials',
  'code_needed',
  'code_used',
  'second_factor_missing',
  'second_factor_new',
  'too_many_attempts',
] as const;

const agentId = idParameter('The id in the list.', '5f0c9f6e-9c1b-4c3e-9d43-0a4c2f0f6f3a');

const webAuthnReply: OperationReply = {
  description: 'The options, as WebAuthn defines them',
  schema: { type: 'object', additionalProperties: true },
  example: { challenge: 'AbC' },
};

const getRequestStepUpChallenge = route<StepUpDeps>({
  method: 'POST',
  url: '/v1/requests/:id/step-up/options',
  access: 'agents.step-up',
  operation: {
    id: 'getRequestStepUpChallenge',
    summary: 'The options for `navigator.credentials.get` to step up for the request',
    parameters: [requestId],
    replies: { 200: webAuthnReply },
    problems: ['request_not_found'],
  },
  handle: async (deps, call) => {
    await agentOfRequest(deps, call);
    return await passkeyRequestOptions(deps.signInDeps, purposeOf(call, 'request'));
  },
});

const stepUpForRequest = route<StepUpDeps, ProofFactors>({
  method: 'POST',
  url: '/v1/requests/:id/step-up',
  access: 'agents.step-up',
  operation: {
    id: 'stepUpForRequest',
    summary: "Steps up for a request as the agent's control owner; the request is then decided again",
    parameters: [requestId],
    body,
    replies: {
      200: { description: 'The current state of the request', schema: detailSchema, example: detailExample },
    },
    problems: [...problems, 'request_not_found', 'conflict', 'stopped'],
  },
  handle: async (deps, call) => {
    await agentOfRequest(deps, call);
    const passkey = await check(deps, call, purposeOf(call, 'request'));
    const person = { ...callerOf(actorOf(call)), passkey };
    const stepped = await deps.requestChanges.stepUp(call.params.id ?? '', person);
    return await detailOf(deps, call, stepped);
  },
});

const getAgentStepUpChallenge = route<StepUpDeps>({
  method: 'POST',
  url: '/v1/agents/:id/step-up/options',
  access: 'agents.step-up',
  operation: {
    id: 'getAgentStepUpChallenge',
    summary: 'The options for `navigator.credentials.get` to step up for the agent',
    parameters: [agentId],
    replies: { 200: webAuthnReply },
    problems: ['not_found'],
  },
  handle: async (deps, call) => {
    await agentNamed(deps, call);
    return await passkeyRequestOptions(deps.signInDeps, purposeOf(call, 'agent'));
  },
});

const stepUpForAgent = route<StepUpDeps, ProofFactors>({
  method: 'POST',
  url: '/v1/agents/:id/step-up',
  access: 'agents.step-up',
  operation: {
    id: 'stepUpForAgent',
    summary: 'Steps up for an agent as its control owner',
    description: 'Satisfies rules that require a step-up `within` a period, for that period.',
    parameters: [agentId],
    body,
    replies: {
      200: {
        description: 'Saved',
        schema: objectSchema({ at: time }),
        example: { at: '2026-03-02T10:00:00.000Z' },
      },
    },
    problems: [...problems, 'not_found'],
  },
  handle: async (deps, call) => {
    const { id } = await agentNamed(deps, call);
    await check(deps, call, purposeOf(call, 'agent'));
    const result = await deps.requestChanges.stepUpAgent(id, callerOf(actorOf(call)));
    if (result.kind === 'unknown') throw notFound('agent');
    if (result.kind !== 'stepped-up') throw refused(result);
    return { at: isoTime(result.atMs) };
  },
});

export const stepUpRoutes: readonly Route<StepUpDeps>[] = [
  getRequestStepUpChallenge,
  stepUpForRequest,
  getAgentStepUpChallenge,
  stepUpForAgent,
];

/**
 * The agent of the request; throws a ProblemError when the request is unknown, or the caller is not the
 * agent's control owner.
 */
async function agentOfRequest({ store }: StepUpDeps, call: ManagedCall<unknown>): Promise<AgentRow> {
  const row = await store.requests.find(call.params.id ?? '');
  const agent = row === null ? null : await store.agents.find(row.agentId);
  if (agent === null) throw requestNotFound();
  return ownedBy(call, agent);
}

async function agentNamed({ store }: StepUpDeps, call: ManagedCall<unknown>): Promise<AgentRow> {
  const id = call.params.id ?? '';
  const agent = await store.agents.find(id);
  if (agent?.id !== id) throw notFound('agent');
  return ownedBy(call, agent);
}

/**
 * Throws a ProblemError unless the caller has proved, here and now, who they are. Returns the name of the
 * passkey that was used; null for any other proof.
 */
async function check(
  { signInDeps: deps }: StepUpDeps,
  call: ManagedCall<ProofFactors>,
  purpose: string,
): Promise<string | null> {
  const { request, session, body: shown } = call;
  const address = request.clientAddress;
  const showing = { shown, purpose, address, session, takesRecoveryCode: false };
  const result = await reauthenticate(deps, actorOf(call).person, showing);
  if (result.kind === 'nothing-shown') {
    const detail = 'send `password` and `code`, or `passkey`';
    throw new ProblemError('invalid_body', detail, { errors: [{ pointer: '', detail }] });
  }
  if (result.kind !== 'right') throw refusalOfProof(result);
  // A password alone may have been stolen with the session, and a thief may have set up a new factor with
  // both.
  if (result.factorSinceMs === null) {
    throw new ProblemError('second_factor_missing', 'set up one-time codes or a passkey first');
  }
  if (isNew(deps, result.factorSinceMs)) {
    const from = isoTime(result.factorSinceMs + deps.newFactorMs);
    throw new ProblemError('second_factor_new', `it can be used to step up from ${from} on`);
  }
  return result.passkey;
}

function ownedBy(call: ManagedCall<unknown>, agent: AgentRow): AgentRow {
  if (isControlOwner(actorOf(call).person, agent.controlOwner)) return agent;
  throw notAllowed('only the control owner of the agent can step up for it');
}

/** The purpose of a passkey question; the answer counts for no other purpose, and for no other person. */
function purposeOf(call: ManagedCall<unknown>, kind: 'request' | 'agent'): string {
  return `step up for ${kind} ${call.params.id} by ${actorOf(call).person.id}`;
}
