// Asks the fallbacks of a pending request once it has been pending for as long as its policies say. From then on, they
// may approve as well as those who were asked before. INVARIANT: time alone grants nothing. Who is asked is part of the
// record of the request: a fallback votes only after its event, whatever the clocks of the processes say, and the event
// is stored once.

import { type LookOptions, type RepeatedLook, repeatLook } from '../../repeated-look.ts';
import { dueFallbacks, withFallbacks } from '../record/fallbacks.ts';
import { statusAt } from '../record/lifecycle.ts';
import { eventOf, lifecycleOf, type RequestState } from '../record/request-state.ts';
import { type ChangeResult, changeRequest, type Events, type RequestChangeDeps } from './change-request.ts';

/** Asks the fallbacks of a request that are due; changes nothing when none is. */
export function askFallbacks(deps: RequestChangeDeps, id: string): Promise<ChangeResult> {
  return changeRequest(deps, {
    id,
    asker: null,
    handler: async ({ state, agent, stopped, nowMs }) =>
      agent.status === 'active' && stopped === null ? fallbackEvents(state, nowMs) : 'nothing',
  });
}

function fallbackEvents(state: RequestState, nowMs: number): Events | 'nothing' {
  const due = statusAt(state, nowMs) === 'pending' ? dueFallbacks(state, nowMs) : [];
  if (due.length === 0) return 'nothing';
  const afterSeconds = Math.max(...due.map((one) => one.afterSeconds));
  const anyOf = due.flatMap((one) => one.anyOf);
  const decision = withFallbacks(state.decision, afterSeconds);
  const at = { who: 'system', atMs: nowMs, state: lifecycleOf(state) };
  return [eventOf('fallback-asked', at, { afterSeconds, anyOf, decision })];
}

export interface FallbackWatchDeps extends RequestChangeDeps, Pick<LookOptions, 'onFailure'> {
  readonly everyMs?: number | undefined;
}

const defaultEveryMs = 2_000;
const askedAtOnce = 100;

/** Looks again and again for requests whose fallbacks are due. */
export function watchFallbacks(deps: FallbackWatchDeps): RepeatedLook {
  return repeatLook({
    everyMs: deps.everyMs ?? defaultEveryMs,
    onFailure: deps.onFailure,
    look: async (isClosed) => {
      const due = await deps.store.requests.dueFallbacks(Math.trunc(deps.clock()), askedAtOnce);
      for (const id of due) if (!isClosed()) await askFallbacks(deps, id);
    },
  });
}
