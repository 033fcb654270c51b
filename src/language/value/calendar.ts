// The proleptic Gregorian calendar: turns a year, month and day into the number of days since 1970-01-01, and
// back. Years are counted from March, so the leap day is the last day of a year and every month begins at a
// fixed offset.

export interface CalendarDay {
  readonly year: number;
  /** From 1 to 12. */
  readonly month: number;
  readonly dayOfMonth: number;
}

/** Days from 0000-03-01 to 1970-01-01. */
const daysToEpoch = 719_468;
const daysPerYear = 365.2425;

/** Converts a number of days since 1970-01-01 to a calendar day. Works for year 0 and later. */
export function calendarDay(day: number): CalendarDay {
  const fromMarch = day + daysToEpoch;
  let marchYear = Math.floor(fromMarch / daysPerYear);
  if (daysBeforeYear(marchYear + 1) <= fromMarch) marchYear += 1;
  if (daysBeforeYear(marchYear) > fromMarch) marchYear -= 1;
  const dayOfYear = fromMarch - daysBeforeYear(marchYear);
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = ((monthFromMarch + 2) % 12) + 1;
  const dayOfMonth = dayOfYear - daysBeforeMonth(monthFromMarch) + 1;
  return { year: month <= 2 ? marchYear + 1 : marchYear, month, dayOfMonth };
}

/** Converts a calendar day to the number of days since 1970-01-01. The month is 1 to 12. */
export function dayNumber(year: number, month: number, dayOfMonth: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  return daysBeforeYear(marchYear) + daysBeforeMonth((month + 9) % 12) + dayOfMonth - 1 - daysToEpoch;
}

/** Whether the calendar has this day. Years before 1 are rejected. */
export function isCalendarDay(year: number, month: number, dayOfMonth: number): boolean {
  if (year < 1 || month < 1 || month > 12 || dayOfMonth < 1) return false;
  const next = month === 12 ? dayNumber(year + 1, 1, 1) : dayNumber(year, month + 1, 1);
  return dayNumber(year, month, dayOfMonth) < next;
}

/**
 * Adds months to a day, or subtracts them. When the target month has no such day, the result is its last day:
 * one month after 2026-01-31 is 2026-02-28. Null outside of years 1 to 9999.
 */
export function monthsLater(day: number, months: number): number | null {
  const { year, month, dayOfMonth } = calendarDay(day);
  const index = year * 12 + month - 1 + months;
  const [thatYear, thatMonth] = [Math.floor(index / 12), (((index % 12) + 12) % 12) + 1];
  if (thatYear < 1 || thatYear > 9_999) return null;
  const next = dayNumber(thatMonth === 12 ? thatYear + 1 : thatYear, (thatMonth % 12) + 1, 1);
  return Math.min(dayNumber(thatYear, thatMonth, dayOfMonth), next - 1);
}

/** Days from 1 March to the start of a month. The month is 0 for March and 11 for February. */
function daysBeforeMonth(monthFromMarch: number): number {
  return Math.floor((153 * monthFromMarch + 2) / 5);
}

/** Days from 1 March of year 0 to 1 March of the given year. */
function daysBeforeYear(year: number): number {
  return 365 * year + Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
}
