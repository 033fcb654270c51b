// Whether a request may be decided by chat. INVARIANT: everybody whom it asks may decide by chat at its risk; who is
// not known, a person whom data name and the agent's control owner never may.

import { allApprovers, type ChatLimits } from '../../../language/model/approvers.ts';
import type { ApprovalRequirement, Decision } from '../../../language/model/decision.ts';

/** What a decision asks, and its risk. */
export interface AskedByChat extends Pick<Decision, 'risk'> {
  readonly approvals: readonly ApprovalRequirement[];
}

/**
 * `asked` has the decision on record and, for a vote, the one by the policies of now: both must allow it.
 * `limits` are those of now.
 */
export function mayDecideByChat(asked: readonly AskedByChat[], limits: ChatLimits): boolean {
  return asked.length > 0 && asked.every((one) => isWithinLimits(one, limits));
}

function isWithinLimits({ approvals, risk }: AskedByChat, limits: ChatLimits): boolean {
  const approvers = approvals.flatMap(allApprovers);
  return (
    approvers.length > 0 &&
    approvers.every((one) => {
      const limit = 'group' in one ? limits.get(one.group) : undefined;
      return limit !== undefined && risk.high <= limit.maxRisk;
    })
  );
}
