// `Prefer: attach`: an agent that asks the same again gets its existing request, while that waits or is
// approved. An approved request is taken with the answer. INVARIANT: of all calls that come for one approval,
// one proceeds: it takes the approval by a conditional write, on the agent and the switches as they are at
// that moment.

import type { JsonObject } from '../../language/model/json.ts';
import type { RequestHistory } from '../store/contract/store.ts';
import type { OnBehalf } from '../users/on-behalf.ts';
import { changeRequest, type DecisionsDeps, type Seen } from './approvals/change-request.ts';
import { overAs } from './approvals/decide-now.ts';
import type { Asker } from './identify-again.ts';
import { hasAsked } from './record/asked-by.ts';
import type { ReceiptBases } from './record/receipt-basis.ts';
import { eventOf, type RequestState, requestStateOf, type TakenDetail } from './record/request-state.ts';
import type { HideSecrets } from './record/secrets.ts';
import { userFactsOf } from './record/user-facts.ts';
import { requestDigest } from './record/vote-scope.ts';

interface Attaching extends Asker {
  readonly actionKey: string;
  /** The payload as sent. */
  readonly payload: JsonObject;
  readonly onBehalf?: OnBehalf;
  readonly idempotencyKey: string | null;
  readonly receiptFor?: string | null;
  /** The id of the request that the caller has waited for; no other request will do in its place. */
  readonly awaitedId?: string;
}

interface AttachDeps extends DecisionsDeps {
  readonly hideSecrets: HideSecrets;
  readonly receiptBases: ReceiptBases;
}

/** Requests that are looked at: more than an agent can have waiting, plus requests approved meanwhile. */
const heldMax = 100;

type Found = RequestState | 'basis-changed' | null;

/** The request that the agent may go on with; null when there is none and a new one has to be made. */
export async function attach(deps: AttachDeps, asking: Attaching): Promise<Found> {
  if (asking.awaitedId !== undefined) return await takeAwaited(deps, asking, asking.awaitedId);
  const held = (await heldOf(deps, asking)).map(requestStateOf);
  const own = held.find((state) => isTakenBy(state, asking));
  if (own !== undefined) return asTaken(own);
  // Approved requests come before requests that wait.
  for (const { record } of held.filter(({ status }) => status === 'approved')) {
    const taken = await take(deps, asking, record.id);
    if (taken !== null) return taken;
  }
  return held.find(({ status }) => status === 'pending') ?? null;
}

/** The awaited request itself, whatever its state: another call may have taken it. */
async function takeAwaited(deps: AttachDeps, asking: Attaching, id: string): Promise<Found> {
  const taken = await take(deps, asking, id);
  if (taken !== null) return taken;
  const history = await deps.store.requests.history(id);
  if (history === null) return null;
  const state = requestStateOf(history);
  if (!hasAsked(asking, state.record)) return null;
  return isTakenBy(state, asking) ? asTaken(state) : state;
}

/**
 * Takes the grant and returns it in its approved state; null when another call has taken it, or when it is
 * over.
 */
async function take(deps: AttachDeps, asking: Attaching, requestId: string): Promise<Found> {
  let before: RequestState | null = null;
  const changed = await changeRequest(deps, {
    id: requestId,
    asker: null,
    judge: async (seen) => {
      before = seen.state;
      return takenEvents(deps, asking, seen);
    },
    // The meters have counted the request since it was approved.
    follow: () => undefined,
  });
  if (changed.kind === 'changed') return before;
  const isBasis =
    changed.kind === 'stopped' || (changed.kind === 'conflict' && changed.detail === otherAgent);
  return isBasis ? 'basis-changed' : null;
}

const otherAgent = 'the agent, its keys or the enforcement point have changed';

function takenEvents(deps: AttachDeps, asking: Attaching, { state, agent, point, stopped, nowMs }: Seen) {
  const { key } = asking;
  const isCurrent =
    hasAsked(asking, state.record) &&
    agent.version === asking.agent.version &&
    point?.version === asking.point?.version;
  if (!isCurrent || (key.notAfterMs !== null && key.notAfterMs <= nowMs))
    return { kind: 'conflict', detail: otherAgent } as const;
  if (stopped !== null) return { kind: 'stopped', detail: stopped } as const;
  const over = overAs(state, 'take', nowMs);
  if (over !== null) return over;
  const receipt = deps.receiptBases.wantedBy({ ...asking, requestId: state.record.id });
  const detail: TakenDetail = { taker: takerOf(asking), ...receipt };
  const { decidedAtMs, expiresAtMs } = state;
  const after = { status: 'consumed', decidedAtMs, expiresAtMs } as const;
  return [eventOf('taken', { who: `agent ${agent.id}`, atMs: nowMs, state: after }, detail)];
}

/** Requests of exactly this agent, action, payload and person that are not over. */
async function heldOf(deps: AttachDeps, asking: Attaching): Promise<readonly RequestHistory[]> {
  const { agent, actionKey, isSigned } = asking;
  const nowMs = Math.trunc(deps.clock());
  const shape = deps.policies().shapeOf(actionKey);
  const payload = deps.hideSecrets(asking.payload, { shape, isWellShaped: true });
  const digest = requestDigest({
    agentId: agent.id,
    actionKey,
    payload,
    request: userFactsOf(asking.onBehalf),
  });
  const taker = takerOf(asking);
  const query = { agentId: agent.id, actionKey, taker, nowMs, countMax: heldMax };
  const found = await deps.store.requests.heldOf(query);
  return found.filter((history) => {
    const { record, expiresAtMs } = requestStateOf(history);
    // A request that was approved for an enforcement point is not for the agent itself.
    if (!hasAsked(asking, record)) return false;
    // A caller that has only the key cannot join a request that was signed with the signing secret.
    const isSignedAlike = isSigned || !record.isSigned;
    return isSignedAlike && expiresAtMs > nowMs && requestDigest(record) === digest;
  });
}

/** A call repeated under its idempotency key is the same call, and goes on with the grant that it took. */
function isTakenBy({ taken, wasExecuted }: RequestState, asking: Attaching): boolean {
  const taker = takerOf(asking);
  return taken !== null && wasExecuted === null && taker !== null && taken.taker === taker;
}

function takerOf({ agent, idempotencyKey }: Attaching): string | null {
  return idempotencyKey === null ? null : `${agent.id} ${idempotencyKey}`;
}

/** A taken request, as it stands for the caller that has taken it. */
function asTaken(state: RequestState): RequestState {
  return { ...state, status: 'approved' };
}
