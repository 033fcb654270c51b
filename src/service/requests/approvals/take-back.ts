// A person takes their approval back while the request waits for other approvals. INVARIANT: taking back
// never grants anything, and a granted request cannot be taken back; the caller is active and has given the
// approval at the moment the change is stored.

import { eventOf, lifecycleOf, type RequestState, withEvents } from '../record/request-state.ts';
import { type Changed, changeRequest, type DecisionsDeps, type Events, type Seen } from './change-request.ts';
import { decideAgain } from './decide-again.ts';
import { decidedEvent, overAs, todayFor } from './decide-now.ts';
import { type Caller, isWithin } from './rights.ts';
import { lastApproval } from './votes-now.ts';

export function takeBack(deps: DecisionsDeps, id: string, caller: Caller): Promise<Changed> {
  return changeRequest(deps, {
    id,
    asker: caller.id,
    judge: async (seen) => {
      const { state, agent, people, nowMs } = seen;
      if (!isWithin(caller.view, { person: caller, state, agent })) return { kind: 'unknown' };
      const over = overAs(state, 'approve', nowMs);
      if (over !== null) return over;
      if (people.get(caller.id)?.isActive !== true)
        return { kind: 'not-allowed', detail: 'your account is disabled' };
      const given = lastApproval(state, caller.id);
      if (given === null && !isWithin(caller.approve, { person: caller, state, agent }))
        return { kind: 'not-allowed', detail: 'neither you nor your groups are asked' };
      if (given === null || given.takenBackAtMs !== null)
        return { kind: 'conflict', detail: 'you have given no approval that you could take back' };
      const at = { who: caller.who, atMs: nowMs, state: lifecycleOf(state) };
      const taken = eventOf('taken-back', at, { person: caller.id, group: given.group });
      return [taken, ...(await askedAgain(deps, seen, withEvents(state, [taken])))];
    },
  });
}

/** What the request waits for without the approval. If it would no longer wait, it waits as before. */
async function askedAgain(deps: DecisionsDeps, seen: Seen, state: RequestState): Promise<Events> {
  const today = await todayFor(deps, seen, 'approve');
  if ('kind' in today) return [];
  const again = decideAgain(state, today);
  const waits = again.decision.outcome === 'ESCALATE' || again.decision.outcome === 'REAUTH_REQUIRED';
  return waits ? [decidedEvent(state, 'approve', { again, nowMs: seen.nowMs })] : [];
}
