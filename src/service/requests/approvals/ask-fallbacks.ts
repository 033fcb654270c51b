// Asks the fallbacks of a pending request once it has been pending for as long as its policies say. From then on, they
// may approve as well as those who were asked before. INVARIANT: time alone grants nothing. Who is asked is part of the
// record of the request: a fallback votes only after its event, whatever the clocks of the processes say, and the event
// is stored once.

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

export interface FallbackWatch {
  start(): void;
  /** Waits for the look that is under way. */
  close(): Promise<void>;
}

export interface FallbackWatchDeps extends RequestChangeDeps {
  readonly everyMs?: number | undefined;
  /** Called when a look has failed; the next look tries again. */
  readonly onFailure: (error: unknown) => void;
}

const defaultEveryMs = 2_000;
const askedAtOnce = 100;

/** Looks again and again for requests whose fallbacks are due. */
export function watchFallbacks(deps: FallbackWatchDeps): FallbackWatch {
  let timer: NodeJS.Timeout | null = null;
  let work: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function look(): Promise<void> {
    try {
      const due = await deps.store.requests.dueFallbacks(Math.trunc(deps.clock()), askedAtOnce);
      for (const id of due) if (!isClosed) await askFallbacks(deps, id);
    } catch (error) {
      deps.onFailure(error);
    }
    schedule();
  }

  function schedule(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      work = look();
    }, deps.everyMs ?? defaultEveryMs).unref();
  }

  return {
    start: schedule,
    async close() {
      isClosed = true;
      clearTimeout(timer ?? undefined);
      await work;
    },
  };
}
