// What the gate decides: requests that no rule ever sees, each as risky as can be.

import type { Decision, Gate, PayloadIssue } from '../../model/decision.ts';
import { payloadReason } from '../../model/describe.ts';
import { safeText } from '../runtime/show.ts';

/** Code points of an undeclared action's key that a reason quotes at most. */
export const quotedKeyLengthMax = 100;

export function undeclaredAction(action: string): Decision {
  const key = safeText(action, quotedKeyLengthMax);
  return refused('undeclared_action', `Action ${key} is not declared`);
}

export function invalidPayload(issues: readonly PayloadIssue[]): Decision {
  return refused('invalid_payload', payloadReason(issues));
}

/** What never came before a rule is as risky as can be. */
function refused(gate: Gate, reason: string): Decision {
  return {
    outcome: 'DENY',
    by: gate,
    matchedPolicy: gate,
    reason,
    risk: { low: 100, high: 100 },
    validForSeconds: null,
    requires: null,
    rules: [],
    withShadow: 'DENY',
  };
}
