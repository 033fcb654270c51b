// Calendar windows compared with the calendar of the platform, minute by minute around their beginnings.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CalendarPeriod,
  countsUntilMs,
  grantCountsAt,
  type MeterWindow,
  windowMsMax,
  windowStartMs,
} from '../../../src/language/value/meter-window.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  // Clocks are put forward at midnight, so some days begin at one o'clock.
  'America/Sao_Paulo',
  'Asia/Beirut',
  // Clocks were put back a minute after midnight.
  'America/St_Johns',
  // The zone left out a day.
  'Pacific/Apia',
];

function calendar(period: CalendarPeriod, zone: string): MeterWindow {
  return { kind: 'calendar', period, zone };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** A date such as `2026-03-29`. */
function dateIn(zone: string, atMs: number): string {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-CA', { timeZone: zone });
  formats.set(zone, format);
  return format.format(atMs);
}

function firstDate(period: CalendarPeriod, date: string): string {
  if (period === 'day') return date;
  if (period === 'month') return `${date.slice(0, 8)}01`;
  const day = new Date(`${date}T00:00Z`);
  const fromMonday = (day.getUTCDay() + 6) % 7;
  return new Date(day.getTime() - fromMonday * 24 * hourMs).toISOString().slice(0, 10);
}

function hoursOf(window: MeterWindow, at: string): number {
  const nowMs = Date.parse(at);
  return (countsUntilMs(window, nowMs) - windowStartMs(window, nowMs)) / hourMs;
}

describe('a window of the calendar', () => {
  it('begins when the clocks of its zone first show its first day, and ends where the next begins', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<CalendarPeriod>('day', 'week', 'month'),
        fc.constantFrom(...zones),
        fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2040, 0) }),
        (period, zone, nowMs) => {
          const window = calendar(period, zone);
          const startMs = windowStartMs(window, nowMs);
          const endMs = countsUntilMs(window, nowMs);
          expect(startMs).toBeLessThanOrEqual(nowMs);
          expect(endMs).toBeGreaterThan(nowMs);
          expect(endMs - startMs).toBeLessThanOrEqual(windowMsMax(window));
          expect([windowStartMs(window, endMs), windowStartMs(window, endMs - 1)]).toEqual([endMs, startMs]);
          const first = firstDate(period, dateIn(zone, startMs));
          expect(firstDate(period, dateIn(zone, nowMs))).toBe(first);
          for (let atMs = startMs - 1; atMs > startMs - 26 * hourMs; atMs -= 13 * minuteMs)
            expect(dateIn(zone, atMs) < first).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('counts the hours that a day has', () => {
    const berlin = calendar('day', 'Europe/Berlin');
    expect(
      ['2026-03-28T12:00Z', '2026-03-29T12:00Z', '2026-10-25T12:00Z'].map((at) => hoursOf(berlin, at)),
    ).toEqual([24, 23, 25]);
    expect(hoursOf(calendar('week', 'Europe/Berlin'), '2026-03-29T12:00Z')).toBe(7 * 24 - 1);
    expect(hoursOf(calendar('month', 'Europe/Berlin'), '2026-10-01T12:00Z')).toBe(31 * 24 + 1);
    expect(hoursOf(calendar('month', 'UTC'), '2028-02-29T12:00Z')).toBe(29 * 24);
  });

  it('begins once where clocks are put back over midnight', () => {
    const day = calendar('day', 'America/St_Johns');
    const midnightMs = Date.parse('2006-10-29T02:30Z');
    const at = (minutes: number): number => windowStartMs(day, midnightMs + minutes * minuteMs);
    expect([at(0), at(30), at(90)]).toEqual([midnightMs, midnightMs, midnightMs]);
    expect(dateIn('America/St_Johns', midnightMs + 30 * minuteMs)).toBe('2006-10-28');
    expect(at(-1)).toBeLessThan(midnightMs);
  });

  it('leaves out a day that a zone left out', () => {
    const day = calendar('day', 'Pacific/Apia');
    const lastMs = Date.parse('2011-12-30T09:59:59Z');
    expect(dateIn('Pacific/Apia', lastMs)).toBe('2011-12-29');
    expect(dateIn('Pacific/Apia', countsUntilMs(day, lastMs))).toBe('2011-12-31');
    expect(hoursOf(day, '2011-12-30T09:59:59Z')).toBe(24);
  });

  it('counts what is granted from its first millisecond on, later than now, too', () => {
    const startMs = Date.parse('2026-03-28T23:00Z');
    const isCounted = grantCountsAt(calendar('day', 'Europe/Berlin'), startMs + hourMs);
    expect([startMs - 1, startMs, startMs + 48 * hourMs].map(isCounted)).toEqual([false, true, true]);
  });

  it('has no beginning outside of the years that have dates', () => {
    const day = calendar('day', 'UTC');
    const earlyMs = Date.parse('0001-01-01T00:00Z') - 1;
    expect([windowStartMs(day, earlyMs), countsUntilMs(day, earlyMs)]).toEqual([
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
    // The answer for the early time is not reused for a later time.
    const noonMs = Date.parse('2026-03-02T12:00Z');
    expect(windowStartMs(day, noonMs)).toBe(Date.parse('2026-03-02T00:00Z'));
  });
});
