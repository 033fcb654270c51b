// How long a decision holds: a grant, a refusal, or the wait for people.

import { type Decision, defaultValidForSeconds } from '../../../language/model/decision.ts';

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
