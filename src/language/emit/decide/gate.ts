// Decisions about requests that are refused before any rule is evaluated. Their risk is always the highest.

import type { Decision, Gate, PayloadIssue } from '../../model/decision.ts';
import { payloadReason } from '../../model/describe.ts';
import { safeText } from '../runtime/show.ts';

/** The most code points of an undeclared action's key that a reason quotes. */
export const quotedKeyLengthMax = 100;

export function undeclaredAction(action: string): Decision {
  const key = safeText(action, quotedKeyLengthMax);
  return refused('undeclared_action', `Action ${key} is not declared`);
}

export function invalidPayload(issues: readonly PayloadIssue[]): Decision {
  return refused('invalid_payload', payloadReason(issues));
}

/** Makes a refusal with the highest risk, because no rule has evaluated the request. */
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
