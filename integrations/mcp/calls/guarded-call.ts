// Handles one request that has to be decided, from its decision to its answer. INVARIANT: the request is
// forwarded once, under a grant that was just given for it; in every other case it is answered in the proxy,
// and the server never sees it.

import type { AllowedDecision, Decision, DeniedDecision, PendingDecision } from '../../typescript/client.ts';
import { refusal } from '../../typescript/decision.ts';
import type { Abilities } from '../protocol/eras.ts';
import {
  errorAnswer,
  errorCodes,
  type Id,
  type JsonObject,
  member,
  type RpcRequest,
  type RpcResponse,
} from '../protocol/messages.ts';
import type { Caller, Gate } from './gate.ts';
import { deniedAnswer, unavailableAnswer, waitingAnswer } from './refusals.ts';
import { newTaskView, type OpenTask, settleTask } from './tasks.ts';

export interface DecidedCall {
  readonly request: RpcRequest;
  readonly action: string;
  readonly payload: JsonObject;
  readonly abilities: Abilities;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** The token of the person on whose behalf the client asks. */
  readonly onBehalfOf: string | undefined;
}

/** The operations of a conversation that a call needs. */
export interface CallSurroundings {
  readonly gate: Gate;
  readonly caller: Caller;
  answer(response: RpcResponse): void;
  /** Sends the request to the server, whose response goes to the client. Throws when nothing was sent. */
  forward(request: RpcRequest, grant: AllowedDecision): void;
  /** Sends the request to the server, for a task, and resolves to the response. */
  ask(request: RpcRequest, grant: AllowedDecision): Promise<RpcResponse>;
  askClient(method: string, params: JsonObject, relatedTo: Id): Promise<RpcResponse>;
  notify(method: string, params: JsonObject, relatedTo: Id): void;
}

export async function guardCall(call: DecidedCall, around: CallSurroundings): Promise<void> {
  const { request, abilities } = call;
  try {
    const isBack = await isWaitedFor(call, around);
    if (isBack === null) return;
    const first = await decide(call, around, isBack ? around.gate.settings.holdMs : 0);
    if (first.kind !== 'waiting') return settle(call, around, first);
    if (abilities.takesTasks && request.method === 'tools/call') return beginTask(call, around, first);
    if (abilities.era === 'stateless' && abilities.opensUrls && canAskBack.has(request.method))
      return around.answer(askBack(call, around, first));
    settle(call, around, isBack ? first : await hold(call, around, first));
  } catch (error) {
    if (call.signal.aborted) return;
    around.answer(unavailableAnswer(request, messageOf(error)));
  }
}

/** Methods whose result may ask the client for something, in the stateless era. */
const canAskBack: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

function decide(
  { request, action, payload, signal, onBehalfOf }: DecidedCall,
  { caller }: CallSurroundings,
  waitMs: number,
): Promise<Decision> {
  const traceparent = traceparentOf(request);
  return caller.authority.decide(action, payload, { waitMs, signal, onBehalfOf, traceparent });
}

/** The span of the call, where the protocol puts it. */
function traceparentOf({ params }: RpcRequest): string | undefined {
  const given = member(params, '_meta', 'traceparent');
  return typeof given === 'string' ? given : undefined;
}

function settle(call: DecidedCall, around: CallSurroundings, decision: Decision): void {
  const { request, abilities, signal } = call;
  switch (decision.kind) {
    case 'allowed':
      // A client that has left cannot get the result, so the call is not carried out.
      if (signal.aborted) void around.caller.authority.report(decision.requestId, false);
      else send(call, around, decision);
      return;
    case 'denied':
      around.answer(refusalOf(call, around, decision));
      return;
    case 'waiting':
      around.answer(waitingAnswer(request, abilities.era, decision, around.gate.settings));
  }
}

function send({ request }: DecidedCall, around: CallSurroundings, grant: AllowedDecision): void {
  try {
    around.forward(request, grant);
  } catch (error) {
    void around.caller.authority.report(grant.requestId, false);
    around.answer(
      errorAnswer(request.id, errorCodes.internal, `the server was not called: ${messageOf(error)}`),
    );
  }
}

/** Codes of the service for a payload that it does not take. */
const faultsOfPayload: ReadonlySet<string> = new Set(['body_too_large', 'invalid_json', 'invalid_envelope']);
/** Codes of the service for refusals that are decisions, although no request is on record. */
const decisionsWithoutRecord: ReadonlySet<string> = new Set(['stopped', 'agent_disabled', 'agent_revoked']);

function refusalOf(
  { request, abilities }: DecidedCall,
  { gate }: CallSurroundings,
  denied: DeniedDecision,
): RpcResponse {
  const { policy, reason, requestId } = denied;
  if (requestId === null && faultsOfPayload.has(policy))
    return errorAnswer(request.id, errorCodes.invalidParams, `the arguments cannot be decided: ${reason}`);
  if (
    policy === 'unreadable' ||
    policy === 'no_receipt' ||
    (requestId === null && !decisionsWithoutRecord.has(policy))
  )
    return unavailableAnswer(request, `${policy}: ${reason}`);
  return deniedAnswer(request, abilities.era, denied, gate.settings);
}

/** Whether the client comes back for a call that waits; null when the request has been answered. */
async function isWaitedFor(
  { request, abilities }: DecidedCall,
  around: CallSurroundings,
): Promise<boolean | null> {
  const { gate, caller, answer } = around;
  const { method, params = {} } = request;
  // Without a state there is nothing to go on with, so the call is decided as a new one.
  if (params.requestState === undefined) return false;
  const scope = { caller: caller.id, method, params };
  const state = typeof params.requestState === 'string' ? gate.states.open(params.requestState, scope) : null;
  if (state?.kind !== 'wait') {
    answer(
      errorAnswer(
        request.id,
        errorCodes.invalidParams,
        '`requestState` is not of this call, or too old: call without it',
      ),
    );
    return null;
  }
  if (member(params.inputResponses, 'decision', 'action') !== 'decline') return true;
  await caller.authority.withdraw(state.requestId);
  answer(deniedAnswer(request, abilities.era, declined(state.requestId), gate.settings));
  return null;
}

function declined(requestId: string): DeniedDecision {
  return refusal('withdrawn', 'the wait for people was given up', requestId);
}

function askBack(
  { request }: DecidedCall,
  { gate, caller }: CallSurroundings,
  waiting: PendingDecision,
): RpcResponse {
  const { method, params = {} } = request;
  const { url } = waiting;
  const elicitation = { mode: 'url', url, message: waiting.message };
  const scope = { caller: caller.id, method, params };
  const result = {
    resultType: 'input_required',
    inputRequests: { decision: { method: 'elicitation/create', params: elicitation } },
    requestState: gate.states.seal({ kind: 'wait', requestId: waiting.requestId }, scope),
  };
  return { jsonrpc: '2.0', id: request.id, result };
}

/** Waits for people while the client waits for the answer. */
async function hold(
  call: DecidedCall,
  around: CallSurroundings,
  waiting: PendingDecision,
): Promise<Decision> {
  const { settings } = around.gate;
  const ends = new AbortController();
  const asking = call.abilities.opensUrls ? showUrl(call, around, waiting, ends) : null;
  const progress = tellProgress(call, around, waiting);
  try {
    const signal = AbortSignal.any([call.signal, ends.signal]);
    const decision = await decide({ ...call, signal }, around, settings.holdMs);
    if (asking !== null && decision.kind !== 'waiting')
      around.notify(
        'notifications/elicitation/complete',
        { elicitationId: waiting.requestId },
        call.request.id,
      );
    return decision;
  } catch (error) {
    if (!ends.signal.aborted || call.signal.aborted) throw error;
    return declined(waiting.requestId);
  } finally {
    clearInterval(progress);
  }
}

/**
 * Shows the client the address of the approval, in the era of sessions. Only declining ends the wait; any
 * other answer of the client means nothing.
 */
async function showUrl(
  { request }: DecidedCall,
  around: CallSurroundings,
  waiting: PendingDecision,
  ends: AbortController,
) {
  const { requestId: elicitationId, url } = waiting;
  const params = { mode: 'url', elicitationId, url, message: waiting.message };
  try {
    const { result } = await around.askClient('elicitation/create', params, request.id);
    if (member(result, 'action') !== 'decline') return;
    await around.caller.authority.withdraw(waiting.requestId);
    ends.abort();
  } catch {
    // The wait goes on even if the address cannot be shown.
  }
}

const progressEveryMs = 10_000;

function tellProgress(
  { request }: DecidedCall,
  around: CallSurroundings,
  waiting: PendingDecision,
): NodeJS.Timeout | undefined {
  const progressToken = member(request.params, '_meta', 'progressToken');
  if (progressToken === undefined) return undefined;
  let progress = 0;
  // Steps so small that any progress that the server reports afterwards is larger.
  const tell = () => {
    progress += 1e-6;
    around.notify(
      'notifications/progress',
      { progressToken, progress, message: waiting.message },
      request.id,
    );
  };
  tell();
  return setInterval(tell, progressEveryMs).unref();
}

function beginTask(call: DecidedCall, around: CallSurroundings, waiting: PendingDecision): void {
  const { gate, caller, answer } = around;
  const { requestId, until } = waiting;
  const begun = {
    requestId,
    caller: caller.id,
    endsMs: until.getTime(),
    statusMessage: waiting.message,
  };
  const openTask = gate.tasks.find(`writ-${requestId}`, caller.id);
  const task = openTask ?? gate.tasks.open(begun);
  if (task === null) {
    answer(waitingAnswer(call.request, call.abilities.era, waiting, gate.settings));
    return;
  }
  answer({ jsonrpc: '2.0', id: call.request.id, result: newTaskView(task) });
  if (openTask === null) void runTask(call, around, task);
}

/** Waits until the request is decided, then calls the server once. */
async function runTask(call: DecidedCall, around: CallSurroundings, task: OpenTask): Promise<void> {
  const { request } = call;
  try {
    const decision = await decide({ ...call, signal: task.stop.signal }, around, task.endsMs - Date.now());
    if (decision.kind === 'allowed' && task.isCancelled)
      void around.caller.authority.report(decision.requestId, false);
    else if (decision.kind === 'allowed') settleTask(task, await around.ask(request, decision));
    else if (decision.kind === 'denied') settleTask(task, refusalOf(call, around, decision));
    else settleTask(task, waitingAnswer(request, call.abilities.era, decision, around.gate.settings));
  } catch (error) {
    if (!task.isCancelled) settleTask(task, unavailableAnswer(request, messageOf(error)));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
