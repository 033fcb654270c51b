// Turns hours declarations into spans as plain data: weekdays as seven flags, clock times in minutes, dates
// in days.

import type {
  ClockLiteral,
  DateLiteral,
  HoursDeclaration,
  HoursSpan,
  TextLiteral,
  WeekdayWord,
  YearDay,
} from '../../syntax/tree/tree.ts';
import { type Decimal, toNumber } from '../../value/decimal.ts';
import type { DateSpan, Hours, WeeklySpan, YearlySpan } from '../../value/hours.ts';
import { isZone, parseClock, parseDate } from '../../value/time.ts';
import { findDeclared } from '../expressions/declared-names.ts';
import type { Environment } from '../incremental/environment.ts';
import { memoized } from '../incremental/memoized.ts';
import { readLiteral } from '../logic/literals.ts';
import { sameOrNew } from '../logic/same.ts';
import {
  clockInvalid,
  dateSpanReversed,
  daysInvalid,
  exceptNotDates,
  hoursEndsEqual,
  hoursOverlap,
  listFileMalformed,
  yearDayInvalid,
  zoneUnknown,
} from '../messages/value-errors.ts';
import { entriesOfFile } from './file-entries.ts';

const weekdays: readonly WeekdayWord[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const minutesOfDay = 1_440;

/** Fills `env.hours`; the lists must have been resolved. */
export function resolveHours(env: Environment): void {
  for (const declaration of env.declarations.ofKind('hours')) {
    const hours = memoized(env, declaration, () => resolveOne(declaration, env));
    const name = declaration.name.text;
    env.hours.set(name, sameOrNew(env.checkState.before.hours.get(name), hours));
  }
}

function resolveOne(declaration: HoursDeclaration, env: Environment): Hours {
  if (!isZone(declaration.zone.value)) env.report(zoneUnknown(declaration.zone));
  const weekly: WeeklySpan[] = [];
  const dates: DateSpan[] = [];
  const yearly: YearlySpan[] = [];
  if (declaration.file !== null) readDays(declaration.file, { dates, yearly }, env);
  for (const span of declaration.spans) {
    if (span.kind === 'weekly-span') pushIfKnown(weekly, weeklySpan(span, env));
    else if (span.kind === 'date-span') pushIfKnown(dates, dateSpan(span, env));
    else pushIfKnown(yearly, yearlySpan(span, env));
  }
  const isWhole = weekly.length + dates.length + yearly.length === declaration.spans.length;
  if (isWhole && declaration.file === null) reportOverlaps(declaration.spans, env);
  const except = resolveExcept(declaration, env);
  return {
    zone: declaration.zone.value,
    weekly: weekly.toSorted(compareWeekly),
    dates: dates.toSorted((a, b) => a.firstDay - b.firstDay || a.lastDay - b.lastDay),
    yearly: yearly.toSorted((a, b) => a.first - b.first || a.last - b.last),
    except,
  };
}

/**
 * Adds the days of a file to `into`. Each entry is a date, a range of dates, or days of every year (`every
 * year 12-24..12-26`).
 */
function readDays(
  file: TextLiteral,
  into: { readonly dates: DateSpan[]; readonly yearly: YearlySpan[] },
  env: Environment,
): void {
  const entries = entriesOfFile(file, env);
  if (entries === null) return;
  if (entries.length === 0) env.report(listFileMalformed(file, 'it has no days'));
  const wrong = entries.filter(({ text }) => {
    const [, every, opening = '', closing = opening] = daysInFile.exec(text.trim()) ?? [];
    const [first, last] = [opening, closing].map(every === undefined ? dayNumber : yearDayNumber);
    if (first === null || first === undefined || last === null || last === undefined) return true;
    if (every === undefined && first > last) return true;
    if (every === undefined) into.dates.push({ firstDay: first, lastDay: last });
    else into.yearly.push({ first, last });
    return false;
  });
  if (wrong.length > 0) env.report(daysInvalid(file, wrong));
}

const daysInFile = /^(every year )?([\d-]+)(?:\.\.([\d-]+))?$/;

function dayNumber(text: string): number | null {
  const date = parseDate(text);
  return date === null ? null : toNumber(date);
}

function pushIfKnown<T>(spans: T[], span: T | null): void {
  if (span !== null) spans.push(span);
}

function weeklySpan(node: Extract<HoursSpan, { kind: 'weekly-span' }>, env: Environment): WeeklySpan | null {
  const from = minuteOf(node.from, env);
  const to = minuteOf(node.to, env);
  if (from === null || to === null) return null;
  if (from === minutesOfDay) {
    env.report(clockInvalid(node.from));
    return null;
  }
  if (from === to) {
    env.report(hoursEndsEqual(node));
    return null;
  }
  return { days: daysOf(node.firstDay, node.lastDay), fromMinute: from, toMinute: to };
}

/** Returns a flag for each weekday, Monday first; a range may wrap round the end of the week. */
function daysOf(firstDay: WeekdayWord, lastDay: WeekdayWord): readonly boolean[] {
  const [first, last] = [weekdays.indexOf(firstDay), weekdays.indexOf(lastDay)];
  return weekdays.map((_, day) =>
    first <= last ? first <= day && day <= last : day >= first || day <= last,
  );
}

function minuteOf(node: ClockLiteral, env: Environment): number | null {
  const minute = parseClock(node.text);
  if (minute === null) env.report(clockInvalid(node));
  return minute;
}

function dateSpan(node: Extract<HoursSpan, { kind: 'date-span' }>, env: Environment): DateSpan | null {
  const first = dayOf(node.first, env);
  const last = node.last === node.first ? first : dayOf(node.last, env);
  if (first === null || last === null) return null;
  if (first > last) {
    env.report(dateSpanReversed(node));
    return null;
  }
  return { firstDay: first, lastDay: last };
}

function yearlySpan(node: Extract<HoursSpan, { kind: 'yearly-span' }>, env: Environment): YearlySpan | null {
  const first = yearDayOf(node.first, env);
  const last = node.last === node.first ? first : yearDayOf(node.last, env);
  return first === null || last === null ? null : { first, last };
}

/**
 * Returns the month times 100 plus the day; 29 February is valid. Null, with a diagnostic, when there is no
 * such day.
 */
function yearDayOf(node: YearDay, env: Environment): number | null {
  const number = yearDayNumber(node.text);
  if (number === null) env.report(yearDayInvalid(node));
  return number;
}

function yearDayNumber(text: string): number | null {
  const leapYear = 2024;
  return parseDate(`${leapYear}-${text}`) === null ? null : Number(text.replace('-', ''));
}

function dayOf(node: DateLiteral, env: Environment): number | null {
  const date = readLiteral(node, env);
  return date === null ? null : toNumber(date as Decimal);
}

function resolveExcept(declaration: HoursDeclaration, env: Environment): readonly number[] {
  if (declaration.except === null) return [];
  if (!findDeclared(env, declaration.except, 'list')) return [];
  const list = env.query('list', declaration.except.text);
  if (list === undefined) return [];
  if (list.type.kind !== 'date') {
    env.report(exceptNotDates(declaration.except, list.type));
    return [];
  }
  const days = list.entries.map((entry) => toNumber(entry as Decimal));
  return [...new Set(days)].sort((a, b) => a - b);
}

function compareWeekly(a: WeeklySpan, b: WeeklySpan): number {
  const text = (span: WeeklySpan): string => span.days.map((day) => (day ? 0 : 1)).join('');
  const [first, second] = [text(a), text(b)];
  if (first !== second) return first < second ? -1 : 1;
  return a.fromMinute - b.fromMinute || a.toMinute - b.toMinute;
}

function reportOverlaps(spans: readonly HoursSpan[], env: Environment): void {
  for (const [index, span] of spans.entries()) {
    const earlier = spans.slice(0, index).find((other) => overlap(other, span));
    if (earlier !== undefined) env.report(hoursOverlap(span, earlier));
  }
}

function overlap(a: HoursSpan, b: HoursSpan): boolean {
  const [first, second] = [stretches(a), stretches(b)];
  if (a.kind !== b.kind) return false;
  return first.some((x) => second.some((y) => x.from < y.to && y.from < x.to));
}

interface HoursInterval {
  readonly from: number;
  readonly to: number;
}

/**
 * Half-open stretches. Weekly spans count in minutes of a week from Monday 00:00, cut at the end of the week;
 * dates in days since 1970-01-01; yearly spans in days of the year, cut at New Year.
 */
function stretches(span: HoursSpan): readonly HoursInterval[] {
  if (span.kind === 'date-span') {
    const day = (text: string): number => Date.parse(`${text}T00:00Z`) / 86_400_000;
    return [{ from: day(span.first.text), to: day(span.last.text) + 1 }];
  }
  if (span.kind === 'yearly-span') {
    const [first, last] = [yearDayNumber(span.first.text) ?? 0, yearDayNumber(span.last.text) ?? 0];
    if (first <= last) return [{ from: first, to: last + 1 }];
    return [
      { from: first, to: 1_232 },
      { from: 0, to: last + 1 },
    ];
  }
  const from = parseClock(span.from.text) ?? 0;
  const to = parseClock(span.to.text) ?? 0;
  const minutesOfWeek = 7 * minutesOfDay;
  return daysOf(span.firstDay, span.lastDay).flatMap((isIn, day) => {
    if (!isIn) return [];
    const start = day * minutesOfDay + from;
    const end = day * minutesOfDay + to + (to <= from ? minutesOfDay : 0);
    if (end <= minutesOfWeek) return [{ from: start, to: end }];
    return [
      { from: start, to: minutesOfWeek },
      { from: 0, to: end - minutesOfWeek },
    ];
  });
}
