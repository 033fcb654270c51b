// The lifecycle of a request, as one table: from its status and an event to its next status. INVARIANT: no
// caller can do what the table refuses, and nothing leads back from a final decision of policies or people.

import { type Decision, defaultValidForSeconds, type Outcome } from '../../../language/model/decision.ts';
import type { LifecycleState, RequestStatus } from '../../store/contract/records.ts';

// How long a decision holds: a grant, a refusal, or the wait for people.

export const refusalValidSeconds = 5 * 60;
export const stepUpSeconds = 15 * 60;
const defaultApprovalSeconds = 24 * 60 * 60;

export function validSeconds(decision: Decision): number {
  switch (decision.outcome) {
    case 'ALLOW':
      return decision.validForSeconds ?? defaultValidForSeconds;
    case 'DENY':
      return refusalValidSeconds;
    case 'ESCALATE':
      return approvalSeconds(decision);
    case 'REAUTH_REQUIRED':
      return stepUpSeconds;
  }
}

/** Returns how many seconds a decision waits for approvals: the shortest time that one of them allows. */
export function approvalSeconds({ requires }: Decision): number {
  const deadlines = requires?.approvals.map((approval) => approval.withinSeconds) ?? [];
  return deadlines.length === 0 ? defaultApprovalSeconds : Math.min(...deadlines);
}

/**
 * `deadline` is the end of a wait or a grant. `outcome` is the report that a grant was used, or will not be.
 * `take` is the agent's use of an approval, and `withdraw` its giving up.
 */
export const lifecycleEvents = [
  'approve',
  'reject',
  'step-up',
  'deadline',
  'outcome',
  'take',
  'withdraw',
] as const;
export type LifecycleEvent = (typeof lifecycleEvents)[number];

/**
 * `decided`: the policies decide again, now that people have given something; until all that they ask for is
 * there, the request waits on.
 */
type NextStatus = RequestStatus | 'decided' | 'refused';

// biome-ignore format: a table
export const lifecycle = {
  //               approve     reject      step-up     deadline    outcome     take        withdraw
  pending:       ['decided',  'rejected', 'decided',  'expired',  'refused',  'refused',  'withdrawn'],
  auto_approved: ['refused',  'refused',  'refused',  'expired',  'consumed', 'refused',  'refused'],
  approved:      ['refused',  'refused',  'refused',  'expired',  'consumed', 'consumed', 'refused'],
  rejected:      ['refused',  'refused',  'refused',  'refused',  'refused',  'refused',  'refused'],
  expired:       ['refused',  'refused',  'refused',  'refused',  'refused',  'refused',  'refused'],
  consumed:      ['refused',  'refused',  'refused',  'refused',  'refused',  'refused',  'refused'],
  withdrawn:     ['refused',  'refused',  'refused',  'refused',  'refused',  'refused',  'refused'],
} as const satisfies Readonly<Record<RequestStatus, readonly [NextStatus, NextStatus, NextStatus, NextStatus, NextStatus, NextStatus, NextStatus]>>;

const statusOf = {
  ALLOW: 'approved',
  DENY: 'rejected',
  ESCALATE: 'pending',
  REAUTH_REQUIRED: 'pending',
} as const satisfies Readonly<Record<Outcome, RequestStatus>>;

/**
 * Returns the status of a request after an event; null when the event is refused. `decided` is null while
 * something is still missing.
 */
export function nextStatus(
  status: RequestStatus,
  event: LifecycleEvent,
  decided: Outcome | null = null,
): RequestStatus | null {
  const next: NextStatus = lifecycle[status][lifecycleEvents.indexOf(event)] ?? 'refused';
  switch (next) {
    case 'refused':
      return null;
    case 'decided':
      return decided === null ? status : statusOf[decided];
    default:
      return next;
  }
}

/**
 * Returns the status at a moment. Waits and grants end by themselves; a refused or used request stays as it
 * is.
 */
export function statusAt(
  { status, expiresAtMs }: Omit<LifecycleState, 'decidedAtMs'>,
  nowMs: number,
): RequestStatus {
  return nowMs < expiresAtMs ? status : (nextStatus(status, 'deadline') ?? status);
}
