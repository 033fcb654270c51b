/**
 * Named hours compared with a plain reading of the wall clock, across changes of the clocks, and at their
 * edges.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromNumber, parseDecimal, toNumber } from '../../../src/language/value/decimal.ts';
import { type Hours, isWithinHours, type WeeklySpan } from '../../../src/language/value/hours.ts';
import { parseDate, parseTimestamp } from '../../../src/language/value/time.ts';

const workdays = [true, true, true, true, true, false, false];
const daily = [true, true, true, true, true, true, true];

function hours(zone: string, ...weekly: WeeklySpan[]): Hours {
  return { zone, weekly, dates: [], yearly: [], except: [] };
}

function day(text: string): number {
  return toNumber(parseDate(text) ?? expect.unreachable(text));
}

function within(named: Hours, text: string): boolean | null {
  return isWithinHours(named, parseTimestamp(text) ?? expect.unreachable(text));
}

const office = hours('America/New_York', { days: workdays, fromMinute: 540, toMinute: 1020 });
const nights = hours('Europe/Berlin', { days: workdays, fromMinute: 1320, toMinute: 360 });

test.each([
  ['2026-03-02T08:59:59.999-05:00', false],
  ['2026-03-02T09:00:00-05:00', true],
  ['2026-03-02T16:59:59.999999-05:00', true],
  ['2026-03-02T17:00:00-05:00', false],
  ['2026-03-01T12:00:00-05:00', false],
  ['2026-03-09T13:00:00Z', true],
  ['2026-03-09T12:59:59Z', false],
  ['1969-12-31T09:00:00-05:00', true],
])('office at %s: %s', (text, expected) => {
  expect(within(office, text)).toBe(expected);
});

test.each([
  ['2026-03-06T22:00:00+01:00', true],
  ['2026-03-07T05:59:59+01:00', true],
  ['2026-03-07T06:00:00+01:00', false],
  ['2026-03-07T22:00:00+01:00', false],
  ['2026-03-02T05:59:59+01:00', false],
  ['2026-03-03T05:59:59+01:00', true],
])('nights, which belong to the day they start on, at %s: %s', (text, expected) => {
  expect(within(nights, text)).toBe(expected);
});

test('except takes out the local date of the instant, also of a span that started the day before', () => {
  const excepted = { ...nights, except: [day('2026-03-03'), day('2026-03-05')] };
  expect(within(excepted, '2026-03-02T23:59:59+01:00')).toBe(true);
  expect(within(excepted, '2026-03-03T00:00:00+01:00')).toBe(false);
  expect(within(excepted, '2026-03-03T22:00:00+01:00')).toBe(false);
  expect(within(excepted, '2026-03-04T05:00:00+01:00')).toBe(true);
  expect(within(excepted, '2026-03-05T22:00:00+01:00')).toBe(false);
});

test('date spans include both dates, less the excepted ones', () => {
  const holidays: Hours = {
    zone: 'Asia/Tokyo',
    weekly: [],
    dates: [{ firstDay: day('2026-12-20'), lastDay: day('2027-01-02') }],
    yearly: [],
    except: [day('2026-12-25')],
  };
  expect(within(holidays, '2026-12-19T23:59:59+09:00')).toBe(false);
  expect(within(holidays, '2026-12-20T00:00:00+09:00')).toBe(true);
  expect(within(holidays, '2026-12-25T12:00:00+09:00')).toBe(false);
  expect(within(holidays, '2027-01-02T23:59:59.9+09:00')).toBe(true);
  expect(within(holidays, '2027-01-03T00:00:00+09:00')).toBe(false);
});

test.each([
  ['2026-12-17T23:59:59.9+01:00', false],
  ['2026-12-18T00:00:00+01:00', true],
  ['2026-12-31T23:59:59+01:00', true],
  ['2027-01-01T00:00:00+01:00', true],
  ['2027-01-03T23:59:59.9+01:00', true],
  ['2027-01-04T00:00:00+01:00', false],
  ['2026-12-17T23:30:00Z', true],
  ['2027-01-03T23:30:00Z', false],
  ['2028-02-29T12:00:00Z', true],
  ['2028-02-28T12:00:00Z', false],
  ['2027-03-01T12:00:00Z', false],
  ['1969-12-20T12:00:00Z', true],
  ['2031-12-25T12:00:00Z', false],
])('days of every year, which cross New Year, at %s: %s', (text, expected) => {
  const freeze: Hours = {
    zone: 'Europe/Berlin',
    weekly: [],
    dates: [],
    yearly: [
      { first: 229, last: 229 },
      { first: 1_218, last: 103 },
    ],
    except: [day('2031-12-25')],
  };
  expect(within(freeze, text)).toBe(expected);
});

test('24:00 ends a day, and 00:00 ends a span that crosses into it', () => {
  for (const toMinute of [1440, 0]) {
    const evening = hours('UTC', {
      days: [true, false, false, false, false, false, false],
      fromMinute: 1200,
      toMinute,
    });
    expect(within(evening, '2026-03-02T23:59:59.9Z')).toBe(true);
    expect(within(evening, '2026-03-03T00:00:00Z')).toBe(false);
  }
});

test('outside the calendar the answer is unknown', () => {
  expect(isWithinHours(office, parseDecimal('1e300') ?? expect.unreachable())).toBeNull();
});

describe('around changes of the clocks', () => {
  const changes = [
    ['America/New_York', '2026-03-08T07:00:00Z'],
    ['America/New_York', '2026-11-01T06:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
    ['Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['Africa/Casablanca', '2026-02-15T02:00:00Z'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z'],
    ['Africa/Monrovia', '1972-01-07T00:44:30Z'],
  ] as const;
  const minute = fc.integer({ min: 0, max: 1439 });
  const span = fc
    .record({
      days: fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
      fromMinute: minute,
      toMinute: minute,
    })
    .filter(({ fromMinute, toMinute }) => fromMinute !== toMinute);

  test.each(changes)(
    '%s at %s: every ninth minute of two days reads as the wall clock says',
    (zone, change) => {
      const middle = Date.parse(change) / 1000;
      const instants = Array.from({ length: 320 }, (_, at) => middle + (at - 160) * 540 + (at % 3) * 10);
      const clocks = instants.map((instant) => wallClock(instant, zone));
      fc.assert(
        fc.property(span, (weekly) => {
          for (const [at, instant] of instants.entries()) {
            const answer = isWithinHours(hours(zone, weekly), fromNumber(instant));
            expect(answer, `${weekly.fromMinute}-${weekly.toMinute} at ${instant}`).toBe(
              covers(weekly, clocks[at]!),
            );
          }
        }),
        { numRuns: 6 },
      );
    },
  );

  /** The weekday (Monday is 0) and the minute of the day, from the runtime's own formatting. */
  function wallClock(instant: number, zone: string): { weekday: number; minute: number } {
    const text = new Date(instant * 1000).toLocaleString('en-GB', {
      timeZone: zone,
      weekday: 'short',
    });
    const clock = new Date(instant * 1000).toLocaleTimeString('en-GB', { timeZone: zone });
    const [hour = 0, minuteOfHour = 0] = clock.split(':').map(Number);
    const weekday = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].findIndex((name) =>
      text.startsWith(name),
    );
    return { weekday, minute: hour * 60 + minuteOfHour };
  }

  /** Whether the span covers the time; walks the span minute by minute from its first day. */
  function covers(weekly: WeeklySpan, at: { weekday: number; minute: number }): boolean {
    const length = (weekly.toMinute - weekly.fromMinute + 1440) % 1440;
    return [at.weekday, (at.weekday + 6) % 7].some((startDay, daysAgo) => {
      const sinceStart = at.minute + daysAgo * 1440 - weekly.fromMinute;
      return weekly.days[startDay] === true && sinceStart >= 0 && sinceStart < length;
    });
  }
});

test('a span of every day covers the same wall time through the year', () => {
  const lunch = hours('Europe/London', { days: daily, fromMinute: 720, toMinute: 780 });
  expect(within(lunch, '2026-01-15T12:30:00Z')).toBe(true);
  expect(within(lunch, '2026-07-15T12:30:00Z')).toBe(false);
  expect(within(lunch, '2026-07-15T11:30:00Z')).toBe(true);
});
