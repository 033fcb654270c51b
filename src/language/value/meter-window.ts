// How long a grant counts in a meter: for a duration, or for the day, week or month in which the grant was
// made, in a time zone. A local day begins when the clocks of the zone first show it; it does not begin again
// when clocks are put back over midnight. Weeks begin on Monday. Only the instants of grants are stored, so
// the rules of zones may change.

import { calendarDay, dayNumber } from './calendar.ts';
import { fromNumber } from './decimal.ts';
import { BoundedMap } from './memo.ts';
import { localSecond, secondsPerDay } from './time.ts';

export type MeterWindow =
  | { readonly kind: 'last'; readonly seconds: number }
  | { readonly kind: 'calendar'; readonly period: CalendarPeriod; readonly zone: string };

/** The calendar periods, written `today`, `this week` and `this month` in policies. */
export type CalendarPeriod = 'day' | 'week' | 'month';

/** Returns a test: whether a grant made at `atMs` counts at `nowMs`. `nowMs` may be earlier than `atMs`. */
export function grantCountsAt(window: MeterWindow, nowMs: number): (atMs: number) => boolean {
  const startMs = windowStartMs(window, nowMs);
  return (atMs) => countsFrom(window, startMs, atMs);
}

/** Whether a grant made at `atMs` counts in a window that starts at `startMs`. */
export function countsFrom({ kind }: MeterWindow, startMs: number, atMs: number): boolean {
  return kind === 'last' ? atMs > startMs : atMs >= startMs;
}

/**
 * The start of the window at `nowMs`: no earlier grant counts. Minus infinity for a calendar window outside
 * of years 1 to 9999.
 */
export function windowStartMs(window: MeterWindow, nowMs: number): number {
  return window.kind === 'last' ? nowMs - window.seconds * 1000 : periodAround(window, nowMs).startMs;
}

/**
 * The moment from which a grant made at `atMs` no longer counts. Infinity for a calendar window outside of
 * years 1 to 9999.
 */
export function countsUntilMs(window: MeterWindow, atMs: number): number {
  return window.kind === 'last' ? atMs + window.seconds * 1000 : periodAround(window, atMs).endMs;
}

const dayMs = secondsPerDay * 1000;

/** The most days in each period, including one day that a zone may have twice. */
const longestDays = { day: 2, week: 8, month: 32 } as const satisfies Record<CalendarPeriod, number>;

/** The longest time for which a grant can count, in milliseconds. */
export function windowMsMax(window: MeterWindow): number {
  return window.kind === 'last' ? window.seconds * 1000 : longestDays[window.period] * dayMs;
}

type CalendarWindow = Extract<MeterWindow, { readonly kind: 'calendar' }>;

interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

const endless: Period = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

/**
 * The last period that was computed for each window, because requests ask for the same one again and again.
 */
const lastPeriods = new BoundedMap<string, Period>(1_000);

function periodAround(window: CalendarWindow, nowMs: number): Period {
  const key = `${window.period} ${window.zone}`;
  const last = lastPeriods.get(key);
  if (last !== undefined && last.startMs <= nowMs && nowMs < last.endMs) return last;
  const period = findPeriod(window, nowMs);
  // The endless period holds only for this moment, so it is not remembered.
  if (period === endless) return period;
  lastPeriods.set(key, period);
  return period;
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

/** The first day of the period that contains a day. Days are counted from 1970-01-01, a Thursday. */
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
/** A bound on offsets, in hours: no zone has ever been farther from UTC. */
const offsetHoursMax = 16;

/**
 * When the clocks of a zone first show the day or a later one. Assumes that the rules of a zone never change
 * twice within an hour.
 */
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

/** The first second with the offset of `to`; `to` itself when `from` has the same offset. */
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

/** Local time minus UTC, in seconds; 0 outside of years 1 to 9999. */
function offsetAt(zone: string, second: number): number {
  return (localSecond(fromNumber(second), zone) ?? second) - second;
}
