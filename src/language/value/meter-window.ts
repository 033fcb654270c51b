/**
 * How long grants count in a meter: for a duration, or for the day, the week or the month of a time zone in which they were
 * made. A local day begins when the clocks of the zone first show it, and does not begin again where they are put back
 * over midnight. Weeks begin on Monday. Only instants are kept of grants, so that rules of zones may change.
 */

import { calendarDay, dayNumber } from './calendar.ts';
import { fromNumber } from './decimal.ts';
import { BoundedMap } from './memo.ts';
import { localSecond, secondsPerDay } from './time.ts';

export type MeterWindow =
  | { readonly kind: 'last'; readonly seconds: number }
  | { readonly kind: 'calendar'; readonly period: CalendarPeriod; readonly zone: string };

/** Written `today`, `this week` and `this month`. */
export type CalendarPeriod = 'day' | 'week' | 'month';

/** Whether a grant of a moment counts at another, which may be the earlier one. */
export function grantCountsAt(window: MeterWindow, nowMs: number): (atMs: number) => boolean {
  const startMs = windowStartMs(window, nowMs);
  return (atMs) => countsFrom(window, startMs, atMs);
}

/** Whether a grant of a moment counts in a window that starts at another. */
export function countsFrom({ kind }: MeterWindow, startMs: number, atMs: number): boolean {
  return kind === 'last' ? atMs > startMs : atMs >= startMs;
}

/** No grant before this moment counts; before all time outside of years 1 to 9999. */
export function windowStartMs(window: MeterWindow, nowMs: number): number {
  return window.kind === 'last' ? nowMs - window.seconds * 1000 : periodAround(window, nowMs).startMs;
}

/** The moment from which on a grant counts no more; never outside of years 1 to 9999. */
export function countsUntilMs(window: MeterWindow, atMs: number): number {
  return window.kind === 'last' ? atMs + window.seconds * 1000 : periodAround(window, atMs).endMs;
}

const dayMs = secondsPerDay * 1000;

/** The most days in each period, with a day that a zone may have twice. */
const longestDays = { day: 2, week: 8, month: 32 } as const satisfies Record<CalendarPeriod, number>;

/** No grant counts for longer. */
export function windowMsMax(window: MeterWindow): number {
  return window.kind === 'last' ? window.seconds * 1000 : longestDays[window.period] * dayMs;
}

type CalendarWindow = Extract<MeterWindow, { readonly kind: 'calendar' }>;

interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

const endless: Period = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

/** The last period of each window that was asked for: requests ask again and again for the same one. */
const lastPeriods = new BoundedMap<string, Period>(1_000);

function periodAround(window: CalendarWindow, nowMs: number): Period {
  const key = `${window.period} ${window.zone}`;
  const last = lastPeriods.get(key);
  if (last !== undefined && last.startMs <= nowMs && nowMs < last.endMs) return last;
  const found = findPeriod(window, nowMs);
  // It holds for no other moment.
  if (found === endless) return found;
  lastPeriods.set(key, found);
  return found;
}

function findPeriod({ period, zone }: CalendarWindow, nowMs: number): Period {
  const local = localSecond(fromNumber(Math.floor(nowMs / 1000)), zone);
  if (local === null) return endless;
  let first = firstDay(period, Math.floor(local / secondsPerDay));
  for (;;) {
    const next = firstDay(period, first + longestDays[period] - 1);
    const endMs = dayStartMs(next, zone);
    if (nowMs < endMs) return { startMs: dayStartMs(first, zone), endMs };
    first = next;
  }
}

/** Days are counted from 1970-01-01, a Thursday. */
function firstDay(period: CalendarPeriod, day: number): number {
  switch (period) {
    case 'day':
      return day;
    case 'week':
      return day - ((((day + 3) % 7) + 7) % 7);
    case 'month': {
      const { year, month } = calendarDay(day);
      return dayNumber(year, month, 1);
    }
  }
}

const hourSeconds = 3_600;
/** No zone has ever been farther from UTC. */
const offsetHoursMax = 16;

/** When the clocks of a zone first show the day or a later one. Rules of zones never change twice in an hour. */
function dayStartMs(day: number, zone: string): number {
  const midnight = day * secondsPerDay;
  for (let hour = -offsetHoursMax; hour < offsetHoursMax; hour++) {
    const from = midnight + hour * hourSeconds;
    const to = from + hourSeconds;
    const change = offsetChange(zone, from, to);
    const before = Math.max(from, midnight - offsetAt(zone, from));
    if (before < change) return before * 1000;
    const after = Math.max(change, midnight - offsetAt(zone, to));
    if (after < to) return after * 1000;
  }
  return (midnight + offsetHoursMax * hourSeconds) * 1000;
}

/** The first second with the offset of `to`; `to` itself where it is that of `from`. */
function offsetChange(zone: string, from: number, to: number): number {
  const offset = offsetAt(zone, to);
  if (offsetAt(zone, from) === offset) return to;
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}

/** Local time less UTC, in seconds; none outside of years 1 to 9999. */
function offsetAt(zone: string, second: number): number {
  return (localSecond(fromNumber(second), zone) ?? second) - second;
}
