// Reminds people of a pending request before it expires or before others are asked, on record. INVARIANT: of several
// processes one reminds, and each person is reminded once in the time in which they are asked; a reminder changes nothing
// about what the request needs.

import { type LookOptions, type RepeatedLook, repeatLook } from '../../repeated-look.ts';
import { statusAt } from '../record/lifecycle.ts';
import {
  type AskingTime,
  askingTimeOf,
  plannedReminders,
  type ReminderSettings,
} from '../record/reminders.ts';
import {
  eventOf,
  lifecycleOf,
  type RemindedGroup,
  type ReminderDetail,
  type RequestState,
} from '../record/request-state.ts';
import {
  changeRequest,
  type Events,
  type RequestChangeDeps,
  type RequestSnapshot,
} from './change-request.ts';

export interface ReminderDeps extends RequestChangeDeps {
  readonly reminders: ReminderSettings;
  /** The ids of the people who are asked and can still decide. */
  readonly whoIsAsked: (
    snapshot: Pick<RequestSnapshot, 'state' | 'agent' | 'stopped' | 'nowMs'>,
    of: RemindedGroup,
  ) => Promise<readonly string[]>;
}

/** More people than are reminded of one request. */
const toldMax = 500;
/** When a request that is stopped, or of an agent that is disabled, is looked at again. */
const againAfterMs = 60_000;

/** Sends the reminders of a request that are due; returns when to look at it again if it does not change before. */
export async function remind(deps: ReminderDeps, id: string): Promise<number> {
  let againAtMs = Number.POSITIVE_INFINITY;
  await changeRequest(deps, {
    id,
    asker: null,
    handler: async (snapshot) => {
      const { state, agent, stopped, nowMs } = snapshot;
      againAtMs = Number.POSITIVE_INFINITY;
      if (statusAt(state, nowMs) !== 'pending') return 'nothing';
      const planned = plannedReminders(state, deps.reminders);
      const later = planned.filter(({ atMs }) => atMs > nowMs).map(({ atMs }) => atMs);
      const isStopped = agent.status !== 'active' || stopped !== null;
      againAtMs = isStopped ? nowMs + againAfterMs : Math.min(...later);
      const due = planned.filter(({ atMs }) => atMs <= nowMs);
      return isStopped || due.length === 0 ? 'nothing' : await reminderEvents(deps, snapshot, joined(due));
    },
  });
  return againAtMs;
}

function joined(due: readonly RemindedGroup[]): RemindedGroup {
  return {
    groups: due.flatMap(({ groups }) => groups),
    people: due.flatMap(({ people }) => people),
    asksStepUp: due.some(({ asksStepUp }) => asksStepUp),
  };
}

async function reminderEvents(
  deps: ReminderDeps,
  snapshot: RequestSnapshot,
  of: RemindedGroup,
): Promise<Events | 'nothing'> {
  const { state, nowMs } = snapshot;
  const time = askingTimeOf(state);
  const before = remindedIn(state, time);
  const told = (await deps.whoIsAsked(snapshot, of)).filter((id) => !before.includes(id)).slice(0, toldMax);
  if (told.length === 0) return 'nothing';
  const detail: ReminderDetail = {
    ...of,
    askingTime: time.number,
    endMs: time.endMs,
    endsWithFallback: time.endsWithFallback,
    told,
  };
  return [eventOf('reminded', { who: 'system', atMs: nowMs, state: lifecycleOf(state) }, detail)];
}

/** Who has been reminded in this asking time. */
function remindedIn({ reminders }: RequestState, { number }: AskingTime): readonly string[] {
  return reminders.flatMap(({ askingTime, told }) => (askingTime === number ? told : []));
}

export interface ReminderWatchDeps extends ReminderDeps, Pick<LookOptions, 'onFailure'> {
  readonly everyMs?: number | undefined;
}

const defaultEveryMs = 5_000;
/** The requests with the nearest deadlines come first. */
const pendingMax = 2_000;

/** Looks again and again for reminders that are due. A request that has not changed is read when its next one is. */
export function watchReminders(deps: ReminderWatchDeps): RepeatedLook {
  let known = new Map<string, { readonly seen: number; readonly againAtMs: number }>();
  return repeatLook({
    everyMs: deps.everyMs ?? defaultEveryMs,
    onFailure: deps.onFailure,
    look: async (isClosed) => {
      if (deps.reminders.beforeMs === 0) return;
      const nowMs = Math.trunc(deps.clock());
      const next: typeof known = new Map();
      for (const { id, seen } of await deps.store.requests.pendingChanges(nowMs, pendingMax)) {
        if (isClosed()) return;
        const before = known.get(id);
        const isDue = before === undefined || before.seen !== seen || before.againAtMs <= nowMs;
        next.set(id, isDue ? { seen, againAtMs: await remind(deps, id) } : before);
      }
      known = next;
    },
  });
}
