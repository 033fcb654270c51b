// Named hours as plain data, and whether an instant lies within them, on the wall clock of their zone. Clock
// spans exclude their end, belong to the day on which they start and may cross midnight. Spans of dates and
// of days of every year include both ends.

import { calendarDay } from './calendar.ts';
import type { Decimal } from './decimal.ts';
import { localSecond, secondsPerDay } from './time.ts';

/** Spans of local time in an IANA zone. The dates of `except` (sorted days since 1970-01-01) are left out. */
export interface Hours {
  readonly zone: string;
  readonly weekly: readonly WeeklySpan[];
  readonly dates: readonly DateSpan[];
  readonly yearly: readonly YearlySpan[];
  readonly except: readonly number[];
}

/**
 * Clock times on days of the week, in minutes of the day. A span that ends before it starts crosses midnight.
 */
export interface WeeklySpan {
  /** On which days the span starts: seven entries, Monday first. */
  readonly days: readonly boolean[];
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** A span of whole days, in days since 1970-01-01. Both ends are included. */
export interface DateSpan {
  readonly firstDay: number;
  readonly lastDay: number;
}

/**
 * A span of days in every year, each written as month times 100 plus day. Both ends are included. A span that
 * ends before it starts crosses New Year.
 */
export interface YearlySpan {
  readonly first: number;
  readonly last: number;
}

/**
 * Whether an instant (seconds since the epoch) lies within the hours. Null (unknown) outside of years 0001 to
 * 9999.
 */
export function isWithinHours(hours: Hours, instant: Decimal): boolean | null {
  const local = localSecond(instant, hours.zone);
  if (local === null) return null;
  const day = Math.floor(local / secondsPerDay);
  if (hasDay(hours.except, day)) return false;
  const second = local - day * secondsPerDay;
  return (
    hours.dates.some((span) => span.firstDay <= day && day <= span.lastDay) ||
    hours.weekly.some((span) => isWithinSpan(span, day, second)) ||
    isOnYearDay(hours.yearly, day)
  );
}

function isWithinSpan(span: WeeklySpan, day: number, second: number): boolean {
  const from = span.fromMinute * 60;
  const to = span.toMinute * 60;
  if (from < to) return startsOn(span, day) && from <= second && second < to;
  return (startsOn(span, day) && from <= second) || (startsOn(span, day - 1) && second < to);
}

function isOnYearDay(spans: readonly YearlySpan[], day: number): boolean {
  if (spans.length === 0) return false;
  const { month, dayOfMonth } = calendarDay(day);
  const at = 100 * month + dayOfMonth;
  return spans.some(({ first, last }) =>
    first <= last ? first <= at && at <= last : first <= at || at <= last,
  );
}

function startsOn(span: WeeklySpan, day: number): boolean {
  return span.days[weekday(day)] === true;
}

/** The day of the week: 0 for Monday to 6 for Sunday. 1970-01-01 was a Thursday. */
function weekday(day: number): number {
  return (((day + 3) % 7) + 7) % 7;
}

function hasDay(sortedDays: readonly number[], day: number): boolean {
  let low = 0;
  let high = sortedDays.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sortedDays[middle] ?? 0) < day) low = middle + 1;
    else high = middle;
  }
  return sortedDays[low] === day;
}
