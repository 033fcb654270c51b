// `Prefer: attach`: a repeated call of an agent continues its existing request while that is pending or
// approved. INVARIANT: an approval serves a call only if the call, decided by itself, needs nothing but that
// approval. Otherwise the call is a new request, and the approval stays valid for its own.

import type { RequestHistory } from '../store/contract/store.ts';
import { type RequestState, requestStateOf } from './record/request-state.ts';
import { requestDigest } from './record/vote-scope.ts';
import { userFactsOf } from './request-facts.ts';
import {
  consumerOf,
  isConsumedBy,
  type RepeatedCall,
  type ResumeDeps,
  type ResumeResult,
  resume,
  sameRequestTest,
} from './resume.ts';

interface AttachOptions extends RepeatedCall {
  /** The id of the request that the caller has waited for; no other request will do in its place. */
  readonly awaitedId?: string;
}

/** Requests that are looked at: more than an agent can have waiting, plus requests approved meanwhile. */
const heldMax = 100;

/** The request that the agent may go on with; null when there is none and a new one has to be made. */
export async function attach(deps: ResumeDeps, asking: AttachOptions): Promise<ResumeResult> {
  if (asking.awaitedId !== undefined) return await resume(deps, asking, asking.awaitedId);
  for (const { record } of inOrder((await heldOf(deps, asking)).map(requestStateOf), asking)) {
    const resumed = await resume(deps, asking, record.id);
    if (resumed === 'precondition-failed' || resumed?.kind === 'granted') return resumed;
    // A call that would be granted by itself, such as one in another session, waits for nobody.
    if (resumed?.kind === 'waiting' && !resumed.needsNobody) return resumed;
  }
  return null;
}

/** What the call has taken already comes first, then approved requests, then those that wait. */
function inOrder(held: readonly RequestState[], asking: AttachOptions): readonly RequestState[] {
  const isOwn = (state: RequestState) => isConsumedBy(state, asking);
  return [
    ...held.filter(isOwn),
    ...held.filter(({ status }) => status === 'approved'),
    ...held.filter(({ status }) => status === 'pending'),
  ];
}

/** Requests of exactly this agent, action, payload and person that are not over. */
async function heldOf(deps: ResumeDeps, asking: AttachOptions): Promise<readonly RequestHistory[]> {
  const { agent, actionKey } = asking;
  const nowMs = Math.trunc(deps.clock());
  const taker = consumerOf(asking);
  const query = { agentId: agent.id, actionKey, taker, nowMs, countMax: heldMax };
  const histories = await deps.store.requests.heldOf(query);
  const isSame = sameRequestTest(deps, asking);
  return histories.filter((history) => {
    const { record, expiresAtMs } = requestStateOf(history);
    return expiresAtMs > nowMs && isSame(record);
  });
}

/**
 * Calls for the same thing run one after the other, so that the second finds the request that the first has
 * made.
 */
export function attachKey({ agent, actionKey, payload, onBehalf }: RepeatedCall): string {
  return requestDigest({ agentId: agent.id, actionKey, payload, request: userFactsOf(onBehalf) });
}
