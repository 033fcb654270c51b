// When the people whom a pending request asks are reminded: once before it expires, and once before each fallback is asked,
// within the working hours of their group where there are any. INVARIANT: a reminder is never later than the end that it
// tells of, and never earlier than the time to which that end belongs.

import { fromNumber } from '../../../language/value/decimal.ts';
import { type Hours, isWithinHours } from '../../../language/value/hours.ts';
import { controlOwnerGroup } from '../../store/contract/control-owner-group.ts';
import { groupProgressOf } from './group-progress.ts';
import type { RemindedGroup, RequestState } from './request-state.ts';

export interface ReminderSettings {
  /** How long before the end people are reminded, in milliseconds; 0 for never. */
  readonly beforeMs: number;
  /** Working hours by group; `*` for all other groups. */
  readonly hours: ReadonlyMap<string, Hours>;
}

/** The time in which the same people are asked: it ends when a fallback is asked, or when the request expires. */
export interface AskingTime {
  /** 0 at first, and one more with each fallback that is asked. */
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Whether others are asked at its end. */
  readonly endsWithFallback: boolean;
}

export function askingTimeOf({ record, decision, fallbacks, expiresAtMs }: RequestState): AskingTime {
  const later = (decision.requires?.approvals ?? []).flatMap((one) => one.fallbacks ?? []);
  const nextMs = Math.min(...later.map(({ afterSeconds }) => record.createdAtMs + afterSeconds * 1000));
  return {
    number: fallbacks.length,
    startMs: fallbacks.at(-1)?.atMs ?? record.createdAtMs,
    endMs: Math.min(nextMs, expiresAtMs),
    endsWithFallback: nextMs < expiresAtMs,
  };
}

export interface PlannedReminder extends RemindedGroup {
  readonly atMs: number;
}

/** The reminders of the present asking time, of those whose approval or step-up is still missing. */
export function plannedReminders(
  state: RequestState,
  { beforeMs, hours }: ReminderSettings,
): readonly PlannedReminder[] {
  if (beforeMs === 0) return [];
  const time = askingTimeOf(state);
  const hoursOf = (group: string): Hours | null => hours.get(group) ?? hours.get('*') ?? null;
  return missingIn(state).map((one) => ({
    ...one,
    atMs: reminderAt(time, beforeMs, hoursOf(one.groups[0] ?? controlOwnerGroup)),
  }));
}

/** Each group and person of whom something is missing. */
function missingIn(state: RequestState): readonly RemindedGroup[] {
  const none: RemindedGroup = { groups: [], people: [], asksStepUp: false };
  const missing = groupProgressOf(state).filter(({ needs, given }) => given < needs);
  const asked = missing.flatMap(({ group, any_of: anyOf = [{ group }] }) => anyOf);
  const groups = [...new Set(asked.flatMap((one) => ('group' in one ? [one.group] : [])))];
  const people = [...new Set(asked.flatMap((one) => ('person' in one ? [one.person] : [])))];
  return [
    ...groups.map((group) => ({ ...none, groups: [group] })),
    ...(people.length > 0 ? [{ ...none, people }] : []),
    ...(state.decision.requires?.reauth == null ? [] : [{ ...none, asksStepUp: true }]),
  ];
}

const stepMs = 300_000;

/**
 * The moment of a reminder: so long before the end, or when three quarters of a shorter time are over. Outside of the
 * working hours it is the last working moment before that; without one, the next before the end; and without any, the
 * moment itself.
 */
export function reminderAt(
  { startMs, endMs }: Pick<AskingTime, 'startMs' | 'endMs'>,
  beforeMs: number,
  hours: Hours | null,
): number {
  const wantedMs = endMs - Math.min(beforeMs, (endMs - startMs) / 4);
  if (hours === null) return wantedMs;
  const isWorking = (ms: number): boolean => isWithinHours(hours, fromNumber(Math.floor(ms / 1000))) === true;
  if (isWorking(wantedMs)) return wantedMs;
  for (let ms = wantedMs - stepMs; ms >= startMs; ms -= stepMs) if (isWorking(ms)) return ms;
  for (let ms = wantedMs + stepMs; ms < endMs; ms += stepMs) if (isWorking(ms)) return ms;
  return wantedMs;
}
