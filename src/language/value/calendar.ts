/**
 * The proleptic Gregorian calendar: a year, month and day into the number of days since 1970-01-01, and back. Years
 * are counted from March, so that the leap day ends them and every month begins at a fixed place.
 */

export interface CalendarDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly dayOfMonth: number;
}

/** Days from 0000-03-01 to 1970-01-01. */
const daysToEpoch = 719_468;
const daysPerYear = 365.2425;

/** The day with this number of days since 1970-01-01 (year 0 and later). */
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

/** The number of days since 1970-01-01; month 1 to 12. */
export function dayNumber(year: number, month: number, dayOfMonth: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  return daysBeforeYear(marchYear) + daysBeforeMonth((month + 9) % 12) + dayOfMonth - 1 - daysToEpoch;
}

/** Whether the calendar has this day, in year 1 or later. */
export function isCalendarDay(year: number, month: number, dayOfMonth: number): boolean {
  if (year < 1 || month < 1 || month > 12 || dayOfMonth < 1) return false;
  const next = month === 12 ? dayNumber(year + 1, 1, 1) : dayNumber(year, month + 1, 1);
  return dayNumber(year, month, dayOfMonth) < next;
}

/**
 * The day so many months later, or earlier; the last day of its month where that has no such day, as 2026-02-28 is a month
 * behind 2026-01-31. Null outside of years 1 to 9999.
 */
export function monthsLater(day: number, months: number): number | null {
  const { year, month, dayOfMonth } = calendarDay(day);
  const index = year * 12 + month - 1 + months;
  const [thatYear, thatMonth] = [Math.floor(index / 12), (((index % 12) + 12) % 12) + 1];
  if (thatYear < 1 || thatYear > 9_999) return null;
  const next = dayNumber(thatMonth === 12 ? thatYear + 1 : thatYear, (thatMonth % 12) + 1, 1);
  return Math.min(dayNumber(thatYear, thatMonth, dayOfMonth), next - 1);
}

/** Days from March to the month, which is 0 for March and 11 for February. */
function daysBeforeMonth(monthFromMarch: number): number {
  return Math.floor((153 * monthFromMarch + 2) / 5);
}

/** Days from the March of year 0 to the March of this year. */
function daysBeforeYear(year: number): number {
  return 365 * year + Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
}
