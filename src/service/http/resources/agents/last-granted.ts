// Finds the requests that an agent was granted for an action, the latest first, to compare payloads with.
// INVARIANT: the number of requests that are looked through is bounded, whatever is stored.

import { setImmediate as pause } from 'node:timers/promises';
import type { GrantedRequest } from '../../../store/contract/agent-activity.ts';
import type { Store } from '../../../store/contract/store.ts';

export const grantedMax = 500;
const requestsAtOnce = 100;
/**
 * How many parts of the agent's requests are looked through; few requests of a part may be for the action.
 */
const partsMax = 25;

export async function lastGranted(
  { activity }: Pick<Store, 'activity'>,
  agentId: string,
  actionKey: string,
): Promise<readonly GrantedRequest[]> {
  const all: GrantedRequest[] = [];
  let beforeSequence: number | null = null;
  for (let part = 0; part < partsMax && all.length < grantedMax; part += 1) {
    const countMax = Math.min(requestsAtOnce, grantedMax - all.length);
    const { items: found, next } = await activity.granted({ agentId, actionKey, beforeSequence, countMax });
    all.push(...found);
    if (next === null) break;
    beforeSequence = next;
    await pause();
  }
  return all;
}
