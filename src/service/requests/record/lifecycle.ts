// THE LIFECYCLE OF A REQUEST, as one table: its status, what can happen to it, and its status then. INVARIANT: what the
// table refuses does not happen for any caller, and nothing leads back from a final decision of policies or people.

import type { Outcome } from '../../../language/model/decision.ts';
import type { LifecycleState, RequestStatus } from '../../store/contract/records.ts';

/**
 * `deadline` is the end of a wait or a grant; `outcome` the report that a grant was used, or will not be; `take` its agent's
 * coming for an approval, and `withdraw` its giving up.
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

/** `decided`: as the policies decide now that what they asked for is there; until it is, the request waits on. */
type Next = RequestStatus | 'decided' | 'refused';

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
} as const satisfies Readonly<Record<RequestStatus, readonly [Next, Next, Next, Next, Next, Next, Next]>>;

const statusOf = {
  ALLOW: 'approved',
  DENY: 'rejected',
  ESCALATE: 'pending',
  REAUTH_REQUIRED: 'pending',
} as const satisfies Readonly<Record<Outcome, RequestStatus>>;

/** The status of a request after an event; null where it cannot happen. `decided` is null while something is missing. */
export function nextStatus(
  status: RequestStatus,
  event: LifecycleEvent,
  decided: Outcome | null = null,
): RequestStatus | null {
  const next: Next = lifecycle[status][lifecycleEvents.indexOf(event)] ?? 'refused';
  switch (next) {
    case 'refused':
      return null;
    case 'decided':
      return decided === null ? status : statusOf[decided];
    default:
      return next;
  }
}

/** Its status at a moment: waits and grants end by themselves, what was refused or used stays so. */
export function statusAt(
  { status, expiresAtMs }: Omit<LifecycleState, 'decidedAtMs'>,
  nowMs: number,
): RequestStatus {
  return nowMs < expiresAtMs ? status : (nextStatus(status, 'deadline') ?? status);
}
