// `Idempotency-Key`: the same key with the same body is answered with the request that it made, in its
// present state. INVARIANT: a key is never answered with the request of another body, nor of another agent,
// and never with a grant that the policies refuse to the call that repeats it.

import type { VoteEvaluator } from './approvals/effective-votes.ts';
import type { AuthorizeInput, AuthorizeResult } from './authorize.ts';
import type { RequestRecord } from './record/record.ts';
import { refusedView, replyView } from './record/reply.ts';
import { type RequestState, requestStateOf } from './record/request-state.ts';
import { type RefusedCall, type ResumeDeps, type ResumeResult, resume } from './resume.ts';

interface Deps extends ResumeDeps {
  readonly keyedDigest: (sha256: string) => string;
  readonly evaluateVotes: VoteEvaluator['evaluateVotes'];
}

export const idempotencyKeptMs = 24 * 60 * 60 * 1000;

/** The request that the agent's idempotency key already stands for; null when the key is new or absent. */
export async function findEarlier(
  deps: Deps,
  input: AuthorizeInput,
  nowMs: number,
): Promise<AuthorizeResult | 'precondition-failed' | null> {
  const { idempotencyKey: key, agent } = input;
  const { requests } = deps.store;
  if (key === null) return null;
  const row = await requests.findByIdempotencyKey({ agentId: agent.id, key, nowMs });
  if (row === null) return null;
  if (row.idempotency?.bodyDigest !== storedDigest(deps, input)) return { kind: 'idempotency-mismatch' };
  const state = requestStateOf({ row, events: await requests.events(row.id) });
  if (!holdsGrant.has(state.status)) return earlierReply(await judged(deps, state), nowMs);
  const resumed = await resume(deps, input, row.id);
  if (resumed === 'precondition-failed') return resumed;
  return resumedReply(resumed ?? otherCall(state), nowMs);
}

/** The states from which a call may proceed. */
const holdsGrant: ReadonlySet<RequestState['status']> = new Set(['auto_approved', 'approved', 'consumed']);

function otherCall(state: RequestState): RefusedCall {
  const reason = 'The request under this idempotency key differs, for example in its signature or its person';
  return { kind: 'refused', state, reason, matchedPolicy: state.decision.matchedPolicy };
}

/**
 * The request that was stored first when the same key came twice at the same time. Throws when there is none.
 */
export async function findWinner(
  deps: Deps,
  input: AuthorizeInput,
  nowMs: number,
): Promise<AuthorizeResult | 'precondition-failed'> {
  const winner = await findEarlier(deps, input, nowMs);
  if (winner === null) throw new Error('no request has the idempotency key that is in use');
  return winner;
}

/** The answer for an earlier request, as its agent may go on with it now. */
function earlierReply(state: RequestState, nowMs: number): AuthorizeResult {
  return {
    kind: 'decided',
    request: replyView(state, nowMs),
    by: state.decision.by,
    decideMicroseconds: null,
  };
}

/** The answer for a request that the call goes on with, or may not go on with. */
export function resumedReply(
  resumed: Exclude<ResumeResult, 'precondition-failed' | null>,
  nowMs: number,
): AuthorizeResult {
  if (resumed.kind !== 'refused') return earlierReply(resumed.state, nowMs);
  return {
    kind: 'decided',
    request: refusedView(resumed.state, resumed, nowMs),
    by: resumed.state.decision.by,
    decideMicroseconds: null,
  };
}

async function judged({ evaluateVotes }: Deps, state: RequestState): Promise<RequestState> {
  return (await evaluateVotes([state]))[0] ?? state;
}

export function idempotencyOf(
  deps: Pick<Deps, 'keyedDigest'>,
  input: AuthorizeInput,
  expiresAtMs: number,
): RequestRecord['idempotency'] {
  const key = input.idempotencyKey;
  if (key === null) return null;
  return { key, bodyDigest: storedDigest(deps, input), keptUntilMs: expiresAtMs + idempotencyKeptMs };
}

function storedDigest({ keyedDigest }: Pick<Deps, 'keyedDigest'>, { bodyDigest }: AuthorizeInput): string {
  if (bodyDigest === null) throw new Error('the idempotency key has no body digest');
  return keyedDigest(bodyDigest);
}
