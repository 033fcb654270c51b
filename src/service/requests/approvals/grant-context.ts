// The conditions under which a vote or a step-up may grant a request, and the event of a second decision.
// INVARIANT: a request is never granted if it is decided, over or stopped, or if its agent is not active.

import { noChains } from '../../agents/delegations/chain-decider.ts';
import type { RequestStatus } from '../../store/contract/records.ts';
import { metered } from '../metering/metering.ts';
import { type LifecycleEvent, nextStatus, statusAt } from '../record/lifecycle.ts';
import { eventOf, type RequestState } from '../record/request-state.ts';
import type { Events, RefusedChange, RequestChangeDeps, RequestSnapshot } from './change-request.ts';
import { type DecisionContext, type RepeatedDecision, stateAgain } from './decide-again.ts';

/** What today's decision is made from, if the request may still be granted; otherwise the reason why not. */
export async function grantContext(
  { policies, metering, chains = noChains }: RequestChangeDeps,
  { state, agent, lastStepUp, standing, rows, stopped, nowMs }: RequestSnapshot,
  event: LifecycleEvent,
): Promise<DecisionContext | RefusedChange> {
  const over = closedReason(state, event, nowMs);
  if (over !== null) return over;
  if (agent.status !== 'active') return { kind: 'conflict', detail: `the agent is ${agent.status}` };
  if (stopped !== null) return { kind: 'stopped', detail: stopped };
  // Wait for a meter's past that is still being read. Until it is read the meter is unknown, and that could
  // refuse the request for good.
  await metered(metering, policies);
  await metering.settled();
  if (state.record.chain !== undefined) await chains.ready();
  return { active: policies(), chains, agent, lastStepUp, standing, rows, nowMs, metering };
}

export function decidedEvent(
  state: RequestState,
  event: LifecycleEvent,
  { again, nowMs }: { readonly again: RepeatedDecision; readonly nowMs: number },
): Events[number] {
  const { firing: _, asking: __, ...detail } = again;
  const next = stateAgain(state, event, { decision: again.decision, nowMs });
  return eventOf('decided', { who: 'system', atMs: nowMs, state: next }, detail);
}

/** Why the event can no longer happen to the request; null when it can. */
export function closedReason(
  state: RequestState,
  event: LifecycleEvent,
  nowMs: number,
): RefusedChange | null {
  const status = statusAt(state, nowMs);
  if (nextStatus(status, event) !== null) return null;
  return { kind: 'conflict', detail: closedTexts[status] };
}

const closedTexts: Readonly<Record<RequestStatus, string>> = {
  pending: 'this request waits for people',
  auto_approved: 'this request has been granted',
  approved: 'this request has been approved',
  rejected: 'this request has been refused',
  expired: 'this request has expired',
  consumed: 'this grant has been used',
  withdrawn: 'this request has been withdrawn',
};
