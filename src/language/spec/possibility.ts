// Whether an agent can get anything but a refusal for an action, of which it is told before it asks. INVARIANT: `never` is
// said only where every request of the agent is denied, since what is false or true of an unknown payload is so of all.

import type { PolicySet } from '../model/policy.ts';
import type { Possibility } from '../model/possibility.ts';
import { unknownRequest } from '../model/possibility.ts';
import type { AgentFacts } from '../model/request.ts';
import { judge } from './authorize.ts';

/** Null where the action is not declared. */
export function possibility(set: PolicySet, action: string, agent: AgentFacts): Possibility | null {
  if (!set.actions.has(action)) return null;
  const { judged } = judge(set, unknownRequest(action, agent), (rule) => !rule.isShadow);
  const grants = judged.filter(({ rule, truth }) => rule.effect === 'allow' && truth !== false);
  const isDenied = judged.some(({ rule, truth }) => rule.effect === 'deny' && truth === true);
  if (grants.length === 0 || isDenied) return 'never';
  const isGuarded = judged.some(
    ({ rule, truth }) => (rule.effect === 'escalate' || rule.effect === 'reauth') && truth === true,
  );
  return isGuarded || grants.every(({ rule }) => rule.requirement !== null) ? 'asks' : 'may';
}
