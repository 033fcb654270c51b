// Turns text into points and lengths of time, and back. A timestamp is a Decimal of seconds since
// 1970-01-01T00:00:00Z, a datetime a Decimal of seconds of local wall time since 1970-01-01T00:00, a date a
// whole number of days since 1970-01-01, a duration a Decimal of seconds. The calendar is the proleptic
// Gregorian one, years 0001 to 9999, without leap seconds. INVARIANT: the text that a formatter writes for a
// value of the calendar is read back by its parser.

import { calendarDay, dayNumber, isCalendarDay } from './calendar.ts';
import {
  absolute,
  add,
  type Decimal,
  divide,
  equal,
  floor,
  formatDecimal,
  fromNumber,
  multiply,
  negate,
  parseDecimal,
  toNumber,
} from './decimal.ts';
import { BoundedMap, memo } from './memo.ts';

const secondsPerMinute = 60;
const secondsPerHour = 3_600;
export const secondsPerDay = 86_400;

/** The first and the last second of the calendar, and its first and last day. */
const secondMin = -62_135_596_800;
const secondMax = 253_402_300_799;
const dayMin = secondMin / secondsPerDay;
const dayMax = (secondMax + 1) / secondsPerDay - 1;

const fractionDigitsMax = 20;
const dateForm = '(\\d{4})-(\\d\\d)-(\\d\\d)';
const secondsForm = `:(\\d\\d)(?:\\.(\\d{1,${fractionDigitsMax}}))?`;
const offsetForm = '([Zz]|[+-]\\d\\d:\\d\\d)';
const onlyDate = new RegExp(`^${dateForm}$`);
const timestampForm = new RegExp(`^${dateForm}[Tt ](\\d\\d):(\\d\\d)${secondsForm}${offsetForm}$`);
const instantForm = new RegExp(`^${dateForm}[Tt ](\\d\\d):(\\d\\d)(?:${secondsForm})?${offsetForm}$`);
const datetimeForm = new RegExp(`^${dateForm}[T ](\\d\\d):(\\d\\d)(?:${secondsForm})?$`);
const durationForm = /^(\d+(?:_\d+)*)([smhd])$/;
const clockForm = /^(\d\d):(\d\d)$/;
const zoneForm = /^[A-Za-z]/;

/**
 * Reads an RFC 3339 timestamp with seconds and an offset, as seconds since the epoch. Null when the text is
 * not a timestamp.
 */
export function parseTimestamp(text: string): Decimal | null {
  return readInstant(timestampForm.exec(text));
}

/**
 * Whether the text is a timestamp. Accepts the same texts as `parseTimestamp`, without computing the number.
 */
export function isTimestamp(text: string): boolean {
  const match = timestampForm.exec(text);
  if (match === null) return false;
  const year = Number(match[1]);
  // An offset can lead out of the calendar only in its first and last year.
  if (year === 1 || year === 9_999) return readInstant(match) !== null;
  return readWholeSeconds(match) !== null && readOffset(match[8]!) !== null;
}

/**
 * Reads a timestamp like `parseTimestamp`, but with optional seconds, as in the literals of the language
 * (`2026-12-25T09:00Z`).
 */
export function parseInstantLiteral(text: string): Decimal | null {
  return readInstant(instantForm.exec(text));
}

/**
 * Reads a local date and time without offset (`2026-05-19 12:00`), as seconds of wall time. Null when the
 * text has another form.
 */
export function parseDatetime(text: string): Decimal | null {
  return readWallTime(datetimeForm.exec(text));
}

/** Reads a date (`2026-12-25`), as days since 1970-01-01. Null when the text is not a date. */
export function parseDate(text: string): Decimal | null {
  const day = readDay(onlyDate.exec(text));
  return day === null ? null : fromNumber(day);
}

/** Reads a duration (`30s`, `15m`, `24h`, `7d`), in seconds. Null when the text is not a duration. */
export function parseDuration(text: string): Decimal | null {
  const match = durationForm.exec(text);
  if (match === null) return null;
  const count = parseDecimal(match[1] ?? '');
  const unit = durationUnits.find(({ letter }) => letter === match[2]);
  return count === null || unit === undefined ? null : multiply(count, unit.seconds);
}

/**
 * Reads a clock time (`09:00`, and `24:00` for the end of a day), in minutes from 0 to 1440. Null when the
 * text is not a clock time.
 */
export function parseClock(text: string): number | null {
  const match = clockForm.exec(text);
  if (match === null) return null;
  const hour = Number(match[1]);
  const minute = Number(match[2]);
  const isClock = minute < 60 && (hour < 24 || (hour === 24 && minute === 0));
  return isClock ? hour * 60 + minute : null;
}

/** Writes `2026-12-25T09:00:00Z`, in UTC; outside of the calendar, the seconds since the epoch (`@1e20`). */
export function formatTimestamp(instant: Decimal): string {
  const text = writeSeconds(instant, 'T');
  return text === null ? `@${formatDecimal(instant)}` : `${text}Z`;
}

/** Writes `2026-05-19 12:00:00`; outside of the calendar, the seconds since 1970 (`@1e20`). */
export function formatDatetime(datetime: Decimal): string {
  return writeSeconds(datetime, ' ') ?? `@${formatDecimal(datetime)}`;
}

/** Writes `2026-12-25`; outside of the calendar, the days since 1970 (`@1e20`). */
export function formatDate(date: Decimal): string {
  const day = toNumber(date);
  return day < dayMin || day > dayMax ? `@${formatDecimal(date)}` : writeDay(day);
}

/**
 * Writes a duration in the largest unit that needs no fraction (`90s`, `24h`, `1.5s`). Days are used only
 * from two days on.
 */
export function formatDuration(duration: Decimal): string {
  const isNegative = duration.coefficient < 0n;
  const length = absolute(duration);
  for (const { letter, seconds, least } of durationUnits) {
    const count = divide(length, seconds);
    if (count === null || count.exponent < 0 || toNumber(length) < least) continue;
    const product = multiply(count, seconds);
    if (product !== null && equal(product, length))
      return `${isNegative ? '-' : ''}${formatDecimal(count)}${letter}`;
  }
  return `${formatDecimal(duration)}s`;
}

/**
 * Returns the local date of an instant in an IANA zone, in days since 1970-01-01. Null outside of the
 * calendar.
 */
export function dateInZone(instant: Decimal, zone: string): Decimal | null {
  const second = localSecond(instant, zone);
  return second === null ? null : fromNumber(Math.floor(second / secondsPerDay));
}

/**
 * Returns the local wall time of an instant in an IANA zone, in whole seconds since 1970-01-01T00:00
 * (fractions are cut off). Null outside of the calendar. Throws a RangeError when the zone does not exist.
 */
export function localSecond(instant: Decimal, zone: string): number | null {
  const second = toNumber(floor(instant));
  if (second < secondMin || second > secondMax) return null;
  const clock = clockOf(zone);
  // Requests ask for the same second again and again, and the answer cannot change within it.
  if (clock.second !== second) {
    clock.local = readClock(clock, second);
    clock.second = second;
  }
  return clock.local;
}

/**
 * Whether the time-zone data know a zone of this name (`Europe/Berlin`, `UTC`). Offsets such as `+01:00` are
 * not zones.
 */
export function isZone(zone: string): boolean {
  if (!zoneForm.test(zone)) return false;
  try {
    clockOf(zone);
    return true;
  } catch {
    return false;
  }
}

const durationUnits = [
  { letter: 'd', seconds: fromNumber(secondsPerDay), least: 2 * secondsPerDay },
  { letter: 'h', seconds: fromNumber(secondsPerHour), least: secondsPerHour },
  { letter: 'm', seconds: fromNumber(secondsPerMinute), least: secondsPerMinute },
  { letter: 's', seconds: fromNumber(1), least: 0 },
] as const;

/** Turns the groups of a date, clock time and offset into seconds since the epoch. */
function readInstant(match: RegExpExecArray | null): Decimal | null {
  const wall = match === null ? null : readWholeSeconds(match);
  const offset = readOffset(match?.[8] ?? '');
  if (match === null || wall === null || offset === null) return null;
  const second = wall - offset;
  // A fraction is less than a second, so it cannot lead into or out of the calendar.
  return second < secondMin || second > secondMax ? null : withFraction(second, match[7]);
}

/**
 * Turns the groups of a date and a clock time (year, month, day, hour, minute, second, fraction) into
 * seconds.
 */
function readWallTime(match: RegExpExecArray | null): Decimal | null {
  const whole = match === null ? null : readWholeSeconds(match);
  return match === null || whole === null ? null : withFraction(whole, match[7]);
}

/** Turns the same groups into whole seconds, without the fraction. */
function readWholeSeconds(match: RegExpExecArray): number | null {
  const day = readDay(match);
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6] ?? '0')];
  if (day === null || hour > 23 || minute > 59 || second > 59) return null;
  return day * secondsPerDay + hour * secondsPerHour + minute * secondsPerMinute + second;
}

function withFraction(whole: number, digits: string | undefined): Decimal | null {
  if (digits === undefined) return fromNumber(whole);
  const fraction = parseDecimal(`0.${digits}`);
  return fraction === null ? null : add(fromNumber(whole), fraction);
}

/**
 * Turns the first three groups (year, month, day) into days since 1970-01-01. Null when the calendar has no
 * such day.
 */
function readDay(match: RegExpExecArray | null): number | null {
  if (match === null) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return isCalendarDay(year, month, day) ? dayNumber(year, month, day) : null;
}

/** Turns `Z` or `+hh:mm` into seconds east of UTC. */
function readOffset(text: string): number | null {
  if (text === 'Z' || text === 'z') return 0;
  const hour = Number(text.slice(1, 3));
  const minute = Number(text.slice(4, 6));
  if (hour > 23 || minute > 59) return null;
  const seconds = hour * secondsPerHour + minute * secondsPerMinute;
  return text.startsWith('-') ? -seconds : seconds;
}

function isInCalendar(seconds: Decimal): boolean {
  const second = toNumber(floor(seconds));
  return second >= secondMin && second <= secondMax;
}

function writeSeconds(seconds: Decimal, separator: string): string | null {
  if (!isInCalendar(seconds)) return null;
  const whole = floor(seconds);
  const second = toNumber(whole);
  const day = Math.floor(second / secondsPerDay);
  const clock = second - day * secondsPerDay;
  const fraction = add(seconds, negate(whole));
  // Exact when a timestamp has at most 20 fraction digits. Computed timestamps may have more.
  const fractionText = fraction === null || fraction.coefficient === 0n ? '' : writeFraction(fraction);
  const fields = [clock / secondsPerHour, (clock / secondsPerMinute) % 60, clock % 60];
  return `${writeDay(day)}${separator}${fields.map((field) => pad(Math.floor(field), 2)).join(':')}${fractionText}`;
}

/** Writes a fraction below one as `.25`, cut off after 20 digits. */
function writeFraction(fraction: Decimal): string {
  const digits = fraction.coefficient.toString();
  const zeros = Math.min(-fraction.exponent - digits.length, fractionDigitsMax);
  const text = ('0'.repeat(zeros) + digits).slice(0, fractionDigitsMax).replace(/0+$/, '');
  return text === '' ? '' : `.${text}`;
}

function writeDay(day: number): string {
  const { year, month, dayOfMonth } = calendarDay(day);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(dayOfMonth, 2)}`;
}

function pad(n: number, width: number): string {
  return String(n).padStart(width, '0');
}

/** The formatter of a zone, with the last answer that it gave. */
interface ZoneClock {
  readonly format: Intl.DateTimeFormat;
  /** The position of each number among the numbers of a formatted time. */
  readonly digits: Readonly<Record<ClockPart, number>>;
  second: number;
  local: number;
}

type ClockPart = (typeof clockParts)[number];
const clockParts = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;

/** Formatters are expensive to make. The names come from policies, so the number of formatters is bounded. */
const zoneClocks = new BoundedMap<string, ZoneClock>(1_000);

function clockOf(zone: string): ZoneClock {
  return memo(zoneClocks, zone, newClock);
}

function newClock(zone: string): ZoneClock {
  const format = zoneFormat(zone);
  return { format, digits: placesIn(format), second: Number.NaN, local: 0 };
}

function zoneFormat(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
}

function placesIn(format: Intl.DateTimeFormat): ZoneClock['digits'] {
  const numbers = format.formatToParts(0).filter(({ value }) => /^\d+$/.test(value));
  const partIndex = (part: ClockPart) => [part, numbers.findIndex(({ type }) => type === part)] as const;
  return Object.fromEntries(clockParts.map(partIndex)) as ZoneClock['digits'];
}

function readClock({ format, digits }: ZoneClock, second: number): number {
  const text = format.format(second * 1_000);
  const numbers = text.match(/\d+/g) ?? [];
  const field = (part: ClockPart): number => Number(numbers[digits[part]]);
  // West of Greenwich, the first hours of the calendar still belong to year 0, which is written 1 BC.
  const year = text.includes('BC') ? 1 - field('year') : field('year');
  const day = dayNumber(year, field('month'), field('day'));
  return (
    day * secondsPerDay +
    field('hour') * secondsPerHour +
    field('minute') * secondsPerMinute +
    field('second')
  );
}
