// Turns a grant into its receipt: a short-lived JWT (RFC 7519) that a tool checks before it carries out the
// action. INVARIANT: only a present grant gets a receipt, for the agent that asked, the action, and the
// payload as it was sent. All receipts of a grant have one id, one time of issue and one end: whoever
// remembers the id until that end takes no other receipt of the grant.

import { sign } from 'node:crypto';
import { statusAt } from '../requests/record/lifecycle.ts';
import type { ReceiptBases } from '../requests/record/receipt-basis.ts';
import type { RecordedLink } from '../requests/record/record.ts';
import { type AgentCaller, isOwnRequest, type RequestState } from '../requests/record/request-state.ts';
import type { RequestChanges } from '../requests/request-changes.ts';
import { type ReceiptKey, type ReceiptKeys, receiptSeconds } from './receipt-keys.ts';

export interface ReceiptDeps {
  readonly requestChanges: Pick<RequestChanges, 'snapshot'>;
  readonly keys: ReceiptKeys;
  readonly bases: ReceiptBases;
  /** The address at which people reach the service. */
  readonly issuer: string;
  readonly isOn: boolean;
}

export type IssueResult =
  | { readonly kind: 'issued'; readonly receipt: string; readonly expiresAtMs: number }
  | { readonly kind: 'unknown' }
  /** `detail` tells why there is no receipt: one sentence in lower case. */
  | { readonly kind: 'conflict' | 'stopped'; readonly detail: string };

export interface Receipts {
  readonly isOn: boolean;
  readonly keys: ReceiptKeys;
  issue(requestId: string, by: AgentCaller): Promise<IssueResult>;
}

export function createReceipts(deps: ReceiptDeps): Receipts {
  const { isOn, keys } = deps;
  return { isOn, keys, issue: (requestId, by) => issue(deps, requestId, by) };
}

async function issue(deps: ReceiptDeps, requestId: string, by: AgentCaller): Promise<IssueResult> {
  if (!deps.isOn) return { kind: 'conflict', detail: 'receipts are turned off' };
  const seen = await deps.requestChanges.snapshot(requestId);
  if (seen === null || !isOwnRequest(by, seen.state.record)) return { kind: 'unknown' };
  const { state, agent, stopped, nowMs } = seen;
  if (agent.status !== 'active') return { kind: 'conflict', detail: `the agent is ${agent.status}` };
  if (stopped !== null) return { kind: 'stopped', detail: stopped };
  if (!isGranted(state, nowMs))
    return { kind: 'conflict', detail: 'the request is not granted, or its grant has ended' };
  if (state.status === 'approved' && state.taken === null) return notTaken;
  const [issuedAt, endsAt] = timesOf(state);
  if (nowMs >= endsAt * 1000 || endsAt <= issuedAt) return receiptOver;
  const basis = state.taken?.receipt ?? state.record.receipt;
  const digest = basis === undefined ? null : deps.bases.digestIn(basis, requestId);
  if (basis === undefined || digest === null)
    return { kind: 'conflict', detail: 'no receipt was requested with this request: send `Prefer: receipt`' };
  const claims = {
    iss: deps.issuer,
    aud: basis.audience,
    iat: issuedAt,
    exp: endsAt,
    ...claimsOf(state, digest),
  };
  return { kind: 'issued', receipt: jwt(claims, await deps.keys.current()), expiresAtMs: endsAt * 1000 };
}

const notTaken: IssueResult = {
  kind: 'conflict',
  detail:
    'this approval is not used yet: ask again with `Prefer: attach, receipt`, or with the same idempotency key',
};

const receiptOver: IssueResult = {
  kind: 'conflict',
  detail: `the receipt of this grant has expired: receipts are valid for ${receiptSeconds} seconds after the grant, so ask for the action again`,
};

/**
 * Whether there is a grant to prove. A grant that was taken belongs to the caller that took it, until the
 * agent reports its outcome.
 */
function isGranted(state: RequestState, nowMs: number): boolean {
  const status = statusAt(state, nowMs);
  const isTaken = state.taken !== null && state.wasExecuted === null && nowMs < state.expiresAtMs;
  return status === 'auto_approved' || status === 'approved' || isTaken;
}

/**
 * Returns when the receipt is issued and when it expires, in whole seconds since 1970. Both are of the grant
 * and not of the moment, so that no receipt outlives the memory of another one.
 */
function timesOf({ record, taken, expiresAtMs }: RequestState): readonly [number, number] {
  const issuedAt = Math.floor((taken?.atMs ?? record.createdAtMs) / 1000);
  return [issuedAt, Math.min(issuedAt + receiptSeconds, Math.floor(expiresAtMs / 1000))];
}

function claimsOf({ record, decision, policySet, votes, satisfied }: RequestState, digest: string) {
  const groups = votes.flatMap(({ isApproved, group, invalidReason }) =>
    isApproved && group !== null && invalidReason === null ? [group] : [],
  );
  const standing = Object.values(satisfied.standing ?? {});
  const what = { type: 'writ_action', action_key: record.actionKey, payload_digest: digest };
  return {
    sub: `agent:${record.agentId}`,
    ...(record.chain && { act: actorOf(record.chain) }),
    jti: record.id,
    txn: record.id,
    authorization_details: [what],
    policy: { set: `sha256:${policySet.digest}`, rule: decision.by },
    ...(groups.length === 0 ? {} : { approved_by: [...new Set(groups)].toSorted() }),
    ...(standing.length === 0 ? {} : { standing_approvals: standing.toSorted() }),
  };
}

interface Actor {
  readonly sub: string;
  readonly name: string;
  readonly act?: Actor;
}

/** The sub-agent as the claim `act` of RFC 8693: the one that asks, with those above it inside. */
function actorOf(chain: readonly RecordedLink[]): Actor | undefined {
  return chain.reduce<Actor | undefined>(
    (above, { id, name }) => ({ sub: `delegation:${id}`, name, ...(above && { act: above }) }),
    undefined,
  );
}

function jwt(claims: object, { privateKey, published }: ReceiptKey): string {
  const header = { alg: 'EdDSA', typ: 'writ-receipt+jwt', kid: published.kid };
  const signed = `${encoded(header)}.${encoded(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
