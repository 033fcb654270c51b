// Continues an earlier request with a new call: the call joins the wait, takes the approval, or gets the
// grant again. INVARIANT: a call that the policies refuse by its own facts is granted nothing, whatever was
// granted before. Of all calls for one approval, one proceeds: it takes the approval by a conditional write
// on the present state of the agent, the switches, the people and the rows.

import type { JsonObject } from '../../language/model/json.ts';
import { type Facts, nothingSatisfied } from '../../language/model/request.ts';
import type { OnBehalf } from '../users/on-behalf.ts';
import {
  changeRequest,
  type Events,
  type RefusedChange,
  type RequestChangeDeps,
  type RequestSnapshot,
  readRequest,
} from './approvals/change-request.ts';
import { type DecidedCall, decideCall } from './approvals/decide-call.ts';
import { closedReason } from './approvals/grant-context.ts';
import type { AuthenticatedCaller } from './identify-again.ts';
import { metered } from './metering/metering.ts';
import { statusAt } from './record/lifecycle.ts';
import type { ReceiptBases } from './record/receipt-basis.ts';
import type { RequestRecord } from './record/record.ts';
import {
  eventOf,
  isOwnRequest,
  isSameChain,
  type RequestState,
  type TakenDetail,
} from './record/request-state.ts';
import type { HideSecrets } from './record/secrets.ts';
import { requestDigest } from './record/vote-scope.ts';
import { requestedFacts, userFactsOf } from './request-facts.ts';

/** A call that comes for a request made before. */
export interface RepeatedCall extends AuthenticatedCaller {
  readonly actionKey: string;
  /** The payload as sent. */
  readonly payload: JsonObject;
  readonly session: string | null;
  readonly clientAddress: string;
  readonly onBehalf?: OnBehalf;
  readonly idempotencyKey: string | null;
  readonly receiptFor?: string | null;
}

export interface ResumeDeps extends RequestChangeDeps {
  readonly hideSecrets: HideSecrets;
  readonly receiptBases: ReceiptBases;
}

/** What a call gets of a request; null when there is no such request, or when it is not the same one. */
export type ResumeResult =
  /** The call may proceed, under the request in this state. */
  | { readonly kind: 'granted'; readonly state: RequestState }
  | {
      readonly kind: 'waiting';
      readonly state: RequestState;
      /** Whether the call, by its own facts, needs nobody, so that a new request would be granted at once. */
      readonly needsNobody: boolean;
    }
  /** The request is over, or another call has taken its grant. */
  | { readonly kind: 'over'; readonly state: RequestState }
  | RefusedCall
  | 'precondition-failed'
  | null;

/** The request is granted, or waits, but not for this call; `reason` is one sentence. */
export interface RefusedCall {
  readonly kind: 'refused';
  readonly state: RequestState;
  readonly reason: string;
  readonly matchedPolicy: string;
}

/** Goes on with a request, and takes its approval if it is approved. */
export async function resume(deps: ResumeDeps, asking: RepeatedCall, id: string): Promise<ResumeResult> {
  // Meters are noted and known before they are read: an unknown one could refuse the call.
  await metered(deps.metering, deps.policies);
  await deps.metering.settled();
  const read = await readRequest(deps, {
    id,
    asker: null,
    call: factsOf(deps, asking),
    workload: asking.workload,
  });
  if (read === null || !sameRequestTest(deps, asking)(read.snapshot.state.record)) return null;
  const { snapshot } = read;
  switch (statusAt(snapshot.state, snapshot.nowMs)) {
    case 'approved':
      return await take(deps, asking, id);
    case 'pending':
      return joined(deps, asking, snapshot);
    case 'auto_approved':
      return againGranted(deps, asking, snapshot);
    case 'consumed':
      return isConsumedBy(snapshot.state, asking) && snapshot.nowMs < snapshot.state.expiresAtMs
        ? againGranted(deps, asking, { ...snapshot, state: asTaken(snapshot.state) })
        : { kind: 'over', state: snapshot.state };
    case 'rejected':
    case 'expired':
    case 'withdrawn':
      return { kind: 'over', state: snapshot.state };
  }
}

/** Joins a wait that asks people for all that the call needs of them. */
function joined(deps: ResumeDeps, asking: RepeatedCall, snapshot: RequestSnapshot): ResumeResult {
  const { state } = snapshot;
  const { decision, satisfied, countsAlike, asksMore } = decided(deps, asking, snapshot);
  const isRefused = decision.outcome === 'DENY';
  const isOther = isRefused || !countsAlike || asksMore;
  if (isOther) return refusedCall(state, { decision, countsAlike });
  const isAlone = satisfied.escalate.length === 0 && satisfied.reauth.length === 0;
  return { kind: 'waiting', state, needsNobody: decision.outcome === 'ALLOW' && isAlone };
}

/** A grant that the call, or one under the same idempotency key, has got already. */
function againGranted(deps: ResumeDeps, asking: RepeatedCall, seen: RequestSnapshot): ResumeResult {
  if (!isCurrent(asking, seen) || seen.stopped !== null) return 'precondition-failed';
  const call = decided(deps, asking, seen);
  return isGrant(call) ? { kind: 'granted', state: seen.state } : refusedCall(seen.state, call);
}

/** Takes the approval, and returns the request in its approved state. */
async function take(deps: ResumeDeps, asking: RepeatedCall, requestId: string): Promise<ResumeResult> {
  let taken: ResumeResult = null;
  const changed = await changeRequest(deps, {
    id: requestId,
    asker: null,
    call: factsOf(deps, asking),
    workload: asking.workload,
    handler: async (seen) => {
      taken = { kind: 'granted', state: seen.state };
      const judged = handleTaking(deps, asking, seen);
      if ('kind' in judged && judged.kind === 'refused') {
        taken = judged;
        return 'nothing';
      }
      return judged as Events | RefusedChange;
    },
    // The meters have counted the request since it was approved.
    afterCommit: () => undefined,
  });
  if (changed.kind === 'changed') return taken;
  const isPreconditionFailed =
    changed.kind === 'stopped' || (changed.kind === 'conflict' && changed.detail === otherAgent);
  if (isPreconditionFailed) return 'precondition-failed';
  // Another call was faster, or the grant has ended.
  const now = await readRequest(deps, { id: requestId, asker: null });
  if (now === null) return null;
  const { state } = now.snapshot;
  return isConsumedBy(state, asking) ? { kind: 'granted', state: asTaken(state) } : { kind: 'over', state };
}

const otherAgent = 'the agent, its keys or the enforcement point have changed';

function handleTaking(
  deps: ResumeDeps,
  asking: RepeatedCall,
  seen: RequestSnapshot,
): Events | RefusedChange | RefusedCall {
  const { state, agent, stopped, nowMs } = seen;
  if (!isCurrent(asking, seen)) return { kind: 'conflict', detail: otherAgent };
  if (stopped !== null) return { kind: 'stopped', detail: stopped };
  const over = closedReason(state, 'take', nowMs);
  if (over !== null) return over;
  const call = decided(deps, asking, seen);
  if (!isGrant(call)) return refusedCall(state, call);
  const receipt = deps.receiptBases.requestedBy({ ...asking, requestId: state.record.id });
  const detail: TakenDetail = {
    taker: consumerOf(asking),
    call: {
      request: factsOf(deps, asking).request,
      keyId: asking.key.id,
      decision: call.decision,
      satisfied: call.satisfied,
      meters: call.meters,
      ...(seen.rows && { rows: seen.rows.rows.given }),
      policySet: deps.policies().digest,
    },
    ...receipt,
  };
  const { decidedAtMs, expiresAtMs } = state;
  const after = { status: 'consumed', decidedAtMs, expiresAtMs } as const;
  return [eventOf('taken', { who: `agent ${agent.id}`, atMs: nowMs, state: after }, detail)];
}

/** Whether agent, key or identity, and enforcement point are as they were when the caller was identified. */
function isCurrent({ agent, point, key, workload }: RepeatedCall, seen: RequestSnapshot): boolean {
  return (
    seen.agent.version === agent.version &&
    seen.point?.version === point?.version &&
    seen.workload?.version === workload?.version &&
    (key.notAfterMs === null || key.notAfterMs > seen.nowMs)
  );
}

function decided(
  { policies, metering }: ResumeDeps,
  asking: RepeatedCall,
  seen: RequestSnapshot,
): DecidedCall {
  const active = policies();
  return decideCall({ active, metering }, factsOf({ clock: () => seen.nowMs }, asking), seen);
}

function factsOf({ clock }: Pick<ResumeDeps, 'clock'>, asking: RepeatedCall): Facts {
  return requestedFacts(asking, Math.trunc(clock()), nothingSatisfied);
}

function isGrant({ decision, countsAlike }: DecidedCall): boolean {
  return decision.outcome === 'ALLOW' && countsAlike;
}

function refusedCall(
  state: RequestState,
  { decision, countsAlike }: Pick<DecidedCall, 'decision' | 'countsAlike'>,
): RefusedCall {
  const { outcome, reason, matchedPolicy } = decision;
  const why =
    outcome === 'DENY'
      ? reason
      : countsAlike
        ? `This call needs more than was approved: ${reason}`
        : 'Meters count this call elsewhere than the request that was made, such as in another session';
  return { kind: 'refused', state, reason: why, matchedPolicy };
}

/**
 * Whether a request is the one that the call asks for: of this caller, for the same action, payload and
 * person, and signed only if the call is. A caller that has only the key cannot join a request that was signed
 * with the signing secret.
 */
export function sameRequestTest(
  { policies, hideSecrets }: Pick<ResumeDeps, 'policies' | 'hideSecrets'>,
  asking: RepeatedCall,
): (record: RequestRecord) => boolean {
  const { agent, actionKey, isSigned, onBehalf } = asking;
  const shape = policies().shapeOf(actionKey);
  const payload = hideSecrets(asking.payload, { shape, isWellShaped: true });
  const digest = requestDigest({ agentId: agent.id, actionKey, payload, request: userFactsOf(onBehalf) });
  return (record) =>
    // A request that was approved for an enforcement point is not for the agent itself.
    isOwnRequest(asking, record) &&
    isSameChain(asking.chain, record.chain) &&
    (isSigned || !record.isSigned) &&
    requestDigest(record) === digest;
}

/** A call repeated under its idempotency key is the same call, and goes on with the grant that it took. */
export function isConsumedBy({ taken, wasExecuted }: RequestState, asking: RepeatedCall): boolean {
  const taker = consumerOf(asking);
  return taken !== null && wasExecuted === null && taker !== null && taken.taker === taker;
}

export function consumerOf({
  agent,
  idempotencyKey,
}: Pick<RepeatedCall, 'agent' | 'idempotencyKey'>): string | null {
  return idempotencyKey === null ? null : `${agent.id} ${idempotencyKey}`;
}

/** A taken request, as it stands for the caller that has taken it. */
function asTaken(state: RequestState): RequestState {
  return { ...state, status: 'approved' };
}
