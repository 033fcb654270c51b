// Whether an agent can get anything but a refusal for an action, which it can find out before it asks.
// INVARIANT: `never` is returned only if every request of the agent is denied: what is true or false for an
// unknown payload is so for all payloads.

import type { PolicySet } from '../model/policy.ts';
import type { Possibility } from '../model/possibility.ts';
import { unknownRequest } from '../model/possibility.ts';
import type { AgentFacts } from '../model/request.ts';
import { judge } from './authorize.ts';

/** Returns what the agent can get for the action; null when the action is not declared. */
export function possibility(set: PolicySet, action: string, agent: AgentFacts): Possibility | null {
  if (!set.actions.has(action)) return null;
  const { judged } = judge(set, unknownRequest(action, agent), (rule) => !rule.isShadow);
  const grants = judged.filter(({ rule, truth }) => rule.effect === 'allow' && truth !== false);
  const isDenied = judged.some(({ rule, truth }) => rule.effect === 'deny' && truth === true);
  if (grants.length === 0 || isDenied) return 'never';
  const isGuarded = judged.some(
    ({ rule, truth }) => (rule.effect === 'escalate' || rule.effect === 'reauth') && truth === true,
  );
  return isGuarded || grants.every(({ rule }) => rule.requirement !== null) ? 'after_approval' : 'possible';
}
