// An agent gives up the wait for its request. INVARIANT: only the agent that made the request withdraws it,
// and only while it waits; nothing is granted.

import { type AgentCaller, hasAsked } from '../record/asked-by.ts';
import { eventOf } from '../record/request-state.ts';
import { type Changed, changeRequest, type DecisionsDeps } from './change-request.ts';
import { overAs } from './decide-now.ts';

/** Withdraws a request; doing so again changes nothing. */
export function withdrawRequest(deps: DecisionsDeps, id: string, by: AgentCaller): Promise<Changed> {
  return changeRequest(deps, {
    id,
    asker: null,
    judge: async ({ state, nowMs }) => {
      if (!hasAsked(by, state.record)) return { kind: 'unknown' };
      if (state.status === 'withdrawn') return 'nothing';
      const over = overAs(state, 'withdraw', nowMs);
      if (over !== null) return over;
      const after = { status: 'withdrawn', decidedAtMs: null, expiresAtMs: nowMs } as const;
      return [eventOf('withdrawn', { who: `agent ${by.agent.id}`, atMs: nowMs, state: after }, {})];
    },
  });
}
