/**
 * Points and lengths of time: the forms that are accepted and refused, and the calendar compared with the
 * runtime's own.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { monthsLater } from '../../../src/language/value/calendar.ts';
import {
  type Decimal,
  formatDecimal,
  fromNumber,
  parseDecimal,
  toNumber,
} from '../../../src/language/value/decimal.ts';
import {
  dateInZone,
  formatDate,
  formatDatetime,
  formatDuration,
  formatTimestamp,
  isTimestamp,
  isZone,
  localSecond,
  parseClock,
  parseDate,
  parseDatetime,
  parseDuration,
  parseInstantLiteral,
  parseTimestamp,
} from '../../../src/language/value/time.ts';

function decimal(text: string): Decimal {
  return parseDecimal(text) ?? expect.unreachable(text);
}

function shown(d: Decimal | null): string {
  return d === null ? 'none' : formatDecimal(d);
}

const second = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });

describe('timestamps', () => {
  test.each([
    ['1970-01-01T00:00:00Z', '0'],
    ['1970-01-01t00:00:00z', '0'],
    ['1970-01-01 00:00:01.500+00:00', '1.5'],
    ['1969-12-31T23:59:59.75Z', '-0.25'],
    ['2026-03-02T10:00:00-05:00', '1772463600'],
    ['2000-02-29T00:00:00Z', '951782400'],
    ['9999-12-31T23:59:59.99999999999999999999Z', '253402300799.99999999999999999999'],
    ['0001-01-01T00:00:00-00:00', '-62135596800'],
  ])('%s is %s', (text, seconds) => {
    expect(shown(parseTimestamp(text))).toBe(seconds);
    expect(shown(parseInstantLiteral(text))).toBe(seconds);
  });

  test.each([
    '2026-03-02T10:00:00',
    '2026-03-02',
    '2026-03-02T10:00:60Z',
    '2026-03-02T24:00:00Z',
    '2026-03-02T10:60:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '12026-01-01T00:00:00Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+01:60',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00+01',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2026-01-01T00:00:00.Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '2026-01-01T00:00:00.123456789012345678901Z',
    '2026-01-01T00:00:00,5Z',
    '',
  ])('%j is none', (text) => {
    expect(parseTimestamp(text)).toBeNull();
    expect(parseInstantLiteral(text)).toBeNull();
  });

  test('only literals may leave out the seconds', () => {
    expect(parseTimestamp('2026-12-25T09:00Z')).toBeNull();
    expect(parseInstantLiteral('2026-12-25T09:00Z')).toEqual(parseTimestamp('2026-12-25T09:00:00Z'));
    expect(parseInstantLiteral('2026-12-25T09:00')).toBeNull();
  });

  test('whole seconds agree with Date in both directions', () => {
    fc.assert(
      fc.property(second, (seconds) => {
        const text = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
        expect(parseTimestamp(text)).toEqual(fromNumber(seconds));
        expect(formatTimestamp(fromNumber(seconds))).toBe(text);
      }),
    );
  });

  test('fractions survive the way there and back', () => {
    fc.assert(
      fc.property(second, fc.stringMatching(/^[0-9]{0,19}[1-9]$/), (seconds, fraction) => {
        const text = formatTimestamp(fromNumber(seconds)).replace('Z', `.${fraction}Z`);
        expect(formatTimestamp(parseTimestamp(text) ?? expect.unreachable(text))).toBe(text);
      }),
    );
  });

  test('outside the calendar the seconds are shown', () => {
    expect(formatTimestamp(decimal('253402300800'))).toBe('@253402300800');
    expect(formatTimestamp(decimal('-1e6000'))).toBe('@-1e6000');
    expect(formatTimestamp(decimal('-1e-6000'))).toBe('1969-12-31T23:59:59Z');
  });
});

describe('datetimes and dates', () => {
  test.each([
    ['2026-05-19 12:00', '2026-05-19 12:00:00'],
    ['2026-05-19T12:00:30', '2026-05-19 12:00:30'],
    ['2026-05-19 12:00:30.250', '2026-05-19 12:00:30.25'],
    ['0001-01-01 00:00', '0001-01-01 00:00:00'],
  ])('%s is shown as %s', (text, normal) => {
    expect(formatDatetime(parseDatetime(text) ?? expect.unreachable(text))).toBe(normal);
  });

  test.each([
    '2026-05-19 12:00Z',
    '2026-05-19 12',
    '2026-05-19 24:00',
    '2026-05-19',
    '2026-05-19  12:00',
    '2026-02-30 00:00',
  ])('%j is no datetime', (text) => {
    expect(parseDatetime(text)).toBeNull();
  });

  test('every day of the calendar has its number', () => {
    fc.assert(
      fc.property(fc.integer({ min: -719_162, max: 2_932_896 }), (day) => {
        const text = new Date(day * 86_400_000).toISOString().slice(0, 10);
        expect(parseDate(text)).toEqual(fromNumber(day));
        expect(formatDate(fromNumber(day))).toBe(text);
      }),
    );
    expect(formatDate(fromNumber(2_932_897))).toBe('@2932897');
  });

  test('a month later is the same day, or the last of a month that is too short, as the calendar of the platform has it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -719_162, max: 2_932_896 }),
        fc.integer({ min: -30_000, max: 30_000 }),
        (day, months) => {
          const date = new Date(day * 86_400_000);
          const first = new Date(0);
          first.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
          const last = new Date(first);
          last.setUTCMonth(first.getUTCMonth() + 1, 0);
          const later = new Date(first);
          later.setUTCDate(Math.min(date.getUTCDate(), last.getUTCDate()));
          const year = later.getUTCFullYear();
          expect(monthsLater(day, months)).toBe(
            year < 1 || year > 9_999 ? null : later.getTime() / 86_400_000,
          );
        },
      ),
    );
    const later = (text: string, months: number) =>
      formatDate(fromNumber(monthsLater(toNumber(parseDate(text)!), months)!));
    expect([later('2008-02-29', 216), later('2026-01-31', 1), later('2026-03-31', -1)]).toEqual([
      '2026-02-28',
      '2026-02-28',
      '2026-02-28',
    ]);
  });

  test.each(['2026-1-01', '2026-02-29', '2026-12-32', '20261225', '2026-12-25T', '0000-12-31'])(
    '%j is no date',
    (text) => {
      expect(parseDate(text)).toBeNull();
    },
  );
});

describe('durations and clock times', () => {
  test.each([
    ['30s', '30', '30s'],
    ['15m', '900', '15m'],
    ['24h', '86400', '24h'],
    ['7d', '604800', '7d'],
    ['90s', '90', '90s'],
    ['120s', '120', '2m'],
    ['0m', '0', '0s'],
  ])('%s is %s seconds, shown as %s', (text, seconds, normal) => {
    const duration = parseDuration(text) ?? expect.unreachable(text);
    expect(formatDecimal(duration)).toBe(seconds);
    expect(formatDuration(duration)).toBe(normal);
  });

  test.each(['', '10', '10 m', '1h30m', '1.5h', '-5m', '5M', 'h', `${'1'.repeat(40)}d`])(
    '%j is no duration',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );

  test('fractions and negative durations are shown too', () => {
    expect(formatDuration(decimal('1.5'))).toBe('1.5s');
    expect(formatDuration(decimal('-5400'))).toBe('-90m');
  });

  test('a shown duration reads back', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (seconds) => {
        expect(parseDuration(formatDuration(fromNumber(seconds)))).toEqual(fromNumber(seconds));
      }),
    );
  });

  test.each([
    ['00:00', 0],
    ['09:05', 545],
    ['24:00', 1440],
    ['24:01', null],
    ['9:00', null],
    ['12:60', null],
    ['12:00:00', null],
  ])('%s is minute %s', (text, minute) => {
    expect(parseClock(text)).toBe(minute);
  });
});

describe('zones', () => {
  test.each([
    ['2026-03-08T04:59:59Z', 'America/New_York', '2026-03-07'],
    ['2026-03-08T05:00:00Z', 'America/New_York', '2026-03-08'],
    ['2026-03-09T03:59:59.9Z', 'America/New_York', '2026-03-08'],
    ['2026-03-09T04:00:00Z', 'America/New_York', '2026-03-09'],
    ['2011-12-30T09:59:59Z', 'Pacific/Apia', '2011-12-29'],
    ['2011-12-30T10:00:00Z', 'Pacific/Apia', '2011-12-31'],
    ['2026-06-01T23:00:00Z', 'Asia/Kathmandu', '2026-06-02'],
    ['1969-12-31T23:59:59.5Z', 'UTC', '1969-12-31'],
  ])('%s in %s is on %s', (text, zone, date) => {
    const instant = parseTimestamp(text) ?? expect.unreachable(text);
    expect(dateInZone(instant, zone)).toEqual(parseDate(date));
  });

  test('the first hours of the calendar belong to year 0 in the west', () => {
    const local = localSecond(fromNumber(-62_135_596_800), 'America/New_York');
    expect(local).toBe(-62_135_596_800 - (4 * 3600 + 56 * 60 + 2));
  });

  test('outside the calendar there is no local date', () => {
    expect(dateInZone(decimal('253402300800'), 'UTC')).toBeNull();
    expect(dateInZone(decimal('-1e6000'), 'UTC')).toBeNull();
  });

  test('answers do not depend on what was asked before', () => {
    const [early, late] = [fromNumber(1_772_463_600), fromNumber(1_780_000_000)];
    const before = localSecond(early, 'Europe/Berlin');
    localSecond(late, 'Europe/Berlin');
    localSecond(early, 'Asia/Tokyo');
    expect(localSecond(early, 'Europe/Berlin')).toBe(before);
    expect(before).toBe(1_772_463_600 + 3600);
  });

  test.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['Etc/GMT+1', true],
    ['Europe/Atlantis', false],
    ['+01:00', false],
    ['', false],
  ])('%j as a zone: %s', (zone, expected) => {
    expect(isZone(zone)).toBe(expected);
  });
});

test('whether a text is a timestamp is told as it is read', () => {
  const pick = (...values: string[]) => fc.constantFrom(...values);
  const any = fc
    .tuple(
      pick('0000', '0001', '0002', '2023', '2024', '9998', '9999'),
      pick('-01-01', '-02-29', '-12-31', '-13-01', '-1-1'),
      pick('T', ' ', 't', '_'),
      pick('00:00', '23:59', '24:00', '12:60'),
      pick(':00', ':59', ':60', '', ':30.5', `:59.${'9'.repeat(20)}`, `:59.${'9'.repeat(21)}`),
      pick('Z', 'z', '+00:00', '+23:59', '-23:59', '+24:00', ''),
    )
    .map((parts) => parts.join(''));
  let [valid, none] = [0, 0];
  fc.assert(
    fc.property(any, (text) => {
      const is = parseTimestamp(text) !== null;
      if (is) valid += 1;
      else none += 1;
      expect(isTimestamp(text)).toBe(is);
    }),
    { numRuns: 5_000 },
  );
  expect(Math.min(valid, none)).toBeGreaterThan(100);
});
