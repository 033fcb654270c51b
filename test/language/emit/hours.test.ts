import { describe, expect, it } from 'vitest';
import { hoursTest } from '../../../src/language/emit/runtime/hours.ts';
import { fromNumber } from '../../../src/language/value/decimal.ts';
import { type Hours, isWithinHours } from '../../../src/language/value/hours.ts';
import { createRandom } from '../../../src/language/value/random.ts';

const everyDay = Array.from({ length: 7 }, () => true);

function hoursIn(zone: string): Hours {
  return {
    zone,
    weekly: [{ days: everyDay, fromMinute: 90, toMinute: 150 }],
    dates: [],
    yearly: [],
    except: [],
  };
}

describe('hours that are asked again and again', () => {
  it.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Monrovia'])(
    'answer for each instant in %s as if asked for the first time',
    (zone) => {
      const hours = hoursIn(zone);
      const test = hoursTest(hours);
      const random = createRandom(7);
      // Berlin and New York change their clocks in these weeks of 2026; Monrovia did in 1972, by odd seconds.
      const starts = [Date.UTC(2026, 2, 1), Date.UTC(2026, 9, 20), Date.UTC(1972, 0, 6)].map(
        (ms) => ms / 1000,
      );
      for (let i = 0; i < 4_000; i += 1) {
        const second = random.pick(starts) + random.below(35 * 24 * 3_600);
        const isWithin = isWithinHours(hours, fromNumber(second));
        expect([zone, second, test(second)]).toEqual([zone, second, isWithin === true ? 2 : 0]);
        expect(test(second)).toBe(isWithin === true ? 2 : 0);
      }
    },
  );

  it('say nothing of what is unknown, outside the calendar or between two instants', () => {
    const test = hoursTest(hoursIn('UTC'));
    expect(test(undefined)).toBe(1);
    expect(test(1e15)).toBe(1);
    expect(test({ low: 0, high: 60 })).toBe(1);
    expect(test(fromNumber(6_000))).toBe(2);
  });
});
