// When a reminder is sent: so long before the end, within the working hours where there are any.

import { expect, test } from 'vitest';
import { reminderAt } from '../../../src/service/requests/record/reminders.ts';
import { workingHoursOf } from '../../../src/service/settings/working-hours.ts';

const hourMs = 3_600_000;
const office = workingHoursOf('mon-fri 09:00-17:00 Europe/Berlin')!.get('*')!;

/** Local times of Berlin in the week of Monday, 7 December 2026; winter time. */
const berlin = (day: number, clock: string) => Date.parse(`2026-12-0${day}T${clock}:00+01:00`);

test.each<[string, [number, string], [number, string], [number, string]]>([
  ['within the hours, an hour before the end', [7, '09:00'], [7, '15:00'], [7, '14:00']],
  ['at a quarter of a short time', [7, '09:00'], [7, '11:00'], [7, '10:30']],
  ['at the last working moment before the night', [7, '16:00'], [8, '08:00'], [7, '16:55']],
  ['at the last working moment before the weekend', [4, '12:00'], [6, '20:00'], [4, '16:55']],
  ['at the first working moment when the time begins outside', [7, '03:00'], [7, '09:30'], [7, '09:00']],
  ['as usual when there is no working moment', [5, '10:00'], [5, '14:00'], [5, '13:00']],
  ['on the day itself when its hours come before the end', [5, '10:00'], [7, '10:30'], [7, '09:30']],
])('is sent %s', (_, from, to, expected) => {
  const time = { startMs: berlin(...from), endMs: berlin(...to) };
  expect(new Date(reminderAt(time, hourMs, office)).toISOString()).toBe(
    new Date(berlin(...expected)).toISOString(),
  );
});

test('without working hours it is sent at its usual time', () => {
  const time = { startMs: 0, endMs: 40 * hourMs };
  expect(reminderAt(time, hourMs, null)).toBe(39 * hourMs);
});

test('working hours follow the clocks of their zone', () => {
  // Clocks go forward on 28 March 2027: 09:00 in Berlin is 08:00 UTC before, and 07:00 UTC after.
  const time = (day: string) => ({
    startMs: Date.parse(`${day}T00:00:00Z`),
    endMs: Date.parse(`${day}T07:30:00Z`),
  });
  expect(reminderAt(time('2027-03-26'), hourMs, office)).toBe(Date.parse('2027-03-26T06:30:00Z'));
  expect(reminderAt(time('2027-03-29'), hourMs, office)).toBe(Date.parse('2027-03-29T07:00:00Z'));
});

test.each([
  ['mon-fri 09:00-17:00 Europe/Berlin', ['*']],
  ['mon-fri 09:00-12:00 UTC, mon-fri 13:00-17:00 UTC', ['*']],
  ['mon-fri 09:00-17:00 UTC, security=sun 22:00-06:00 Asia/Tokyo', ['*', 'security']],
  ['', []],
])('reads %j', (text, groups) => {
  expect([...workingHoursOf(text)!.keys()]).toEqual(groups);
});

test.each([
  'mon-fri 09:00-17:00',
  'mon-fri 09:00-17:00 Europe/Nowhere',
  'mon-fry 09:00-17:00 UTC',
  'mon-fri 09:00-09:00 UTC',
  'mon-fri 09:00-25:00 UTC',
  'mon-fri 09:00-12:00 UTC, mon-fri 13:00-17:00 Europe/Berlin',
  'office',
])('refuses %j', (text) => {
  expect(workingHoursOf(text)).toBeNull();
});
