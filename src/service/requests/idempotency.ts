// `Idempotency-Key`: the same key with the same body is answered with the request that it made, in its
// present state. INVARIANT: a key is never answered with the request of another body, nor of another agent.

import type { Store } from '../store/contract/store.ts';
import type { VoteJudge } from './approvals/votes-now.ts';
import type { AuthorizeInput, AuthorizeResult } from './authorize.ts';
import type { RequestRecord } from './record/record.ts';
import { replyView } from './record/reply.ts';
import { type RequestState, requestStateOf } from './record/request-state.ts';

interface Deps {
  readonly store: Store;
  readonly keyedDigest: (sha256: string) => string;
  readonly judge: VoteJudge['judge'];
}

const idempotencyKeptMs = 24 * 60 * 60 * 1000;

/** The request that the agent's idempotency key already stands for; null when the key is new or absent. */
export async function findEarlier(
  deps: Deps,
  input: AuthorizeInput,
  nowMs: number,
): Promise<AuthorizeResult | null> {
  const { idempotencyKey: key, agent } = input;
  const { requests } = deps.store;
  if (key === null) return null;
  const row = await requests.findByIdempotencyKey({ agentId: agent.id, key, nowMs });
  if (row === null) return null;
  if (row.idempotency?.bodyDigest !== storedDigest(deps, input)) return { kind: 'idempotency-mismatch' };
  const state = await judged(deps, requestStateOf({ row, events: await requests.events(row.id) }));
  return earlierReply(state, nowMs);
}

/**
 * The request that was stored first when the same key came twice at the same time. Throws when there is none.
 */
export async function findWinner(deps: Deps, input: AuthorizeInput, nowMs: number): Promise<AuthorizeResult> {
  const winner = await findEarlier(deps, input, nowMs);
  if (winner === null) throw new Error('a key refused as used must stand for a request');
  return winner;
}

/** The answer for an earlier request, as its agent may go on with it now. */
export function earlierReply(state: RequestState, nowMs: number): AuthorizeResult {
  return {
    kind: 'decided',
    request: replyView(state, nowMs),
    by: state.decision.by,
    decideMicroseconds: null,
  };
}

export async function judged({ judge }: Deps, state: RequestState): Promise<RequestState> {
  return (await judge([state]))[0] ?? state;
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
  if (bodyDigest === null) throw new Error('an idempotency key comes with the digest of its body');
  return keyedDigest(bodyDigest);
}
