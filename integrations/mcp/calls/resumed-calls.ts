// Resumes granted calls in which the server asks for more, in the stateless era. The client's next try
// belongs to the same grant: it is not decided again, and each state is good for one try.

import { randomUUID } from 'node:crypto';
import type { AllowedDecision } from '../../typescript/client.ts';
import type { JsonObject, RpcRequest, RpcResponse } from '../protocol/messages.ts';
import type { Caller, Gate } from './gate.ts';

export interface ResumedCall {
  readonly request: RpcRequest;
  readonly grant: AllowedDecision;
}

/** The call under its earlier grant; null when the request does not go on with a granted call. */
export function resumed({ states, turns }: Gate, caller: Caller, request: RpcRequest): ResumedCall | null {
  const { method, params = {} } = request;
  const { requestState: sealed, ...rest } = params;
  if (typeof sealed !== 'string') return null;
  const state = states.open(sealed, { caller: caller.id, method, params });
  if (state?.kind !== 'granted' || !turns.take(state.turn)) return null;
  const ownParams: JsonObject = state.state === null ? rest : { ...rest, requestState: state.state };
  const { requestId, resultFields } = state;
  const grant: AllowedDecision = {
    kind: 'allowed',
    requestId,
    expiresAt: new Date(),
    ...(resultFields === null ? {} : { resultFields }),
  };
  return { request: { ...request, params: ownParams }, grant };
}

interface ElicitedCall extends ResumedCall {
  readonly response: RpcResponse;
}

/** The server's question, with a state that brings the client's answer back under the same grant. */
export function withGrantState({ states }: Gate, caller: Caller, call: ElicitedCall): RpcResponse {
  const { request, grant, response } = call;
  const { method, params = {} } = request;
  const { requestState: given = null, ...result } = response.result ?? {};
  const state = typeof given === 'string' ? given : null;
  const { requestId, resultFields = null } = grant;
  const carried = { kind: 'granted', requestId, resultFields, turn: randomUUID(), state } as const;
  const requestState = states.seal(carried, { caller: caller.id, method, params });
  return { ...response, result: { ...result, requestState } };
}
