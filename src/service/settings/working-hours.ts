// Working hours by group, as a setting writes them: `mon-fri 09:00-17:00 Europe/Berlin` for all groups, and
// `security=mon-sun 00:00-24:00 UTC` for one, separated by commas. Several spans of a group add up.

import type { Hours, WeeklySpan } from '../../language/value/hours.ts';
import { isZone, parseClock } from '../../language/value/time.ts';

const weekdays: readonly string[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const spanForm =
  /^(?:([a-z][a-z0-9_]{0,99})\s*=)?\s*([a-z]{3})(?:-([a-z]{3}))?\s+(\d\d:\d\d)-(\d\d:\d\d)\s+(\S+)$/;

/** The hours by group, `*` for all others; null when a part is no span, or the spans of a group have several zones. */
export function workingHoursOf(text: string): ReadonlyMap<string, Hours> | null {
  const hours = new Map<string, Hours>();
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue;
    const [, group = '*', firstDay = '', lastDay = firstDay, from = '', to = '', zone = ''] =
      spanForm.exec(part) ?? [];
    const weekly = spanOf({ firstDay, lastDay }, { from, to });
    const before = hours.get(group);
    if (weekly === null || !isZone(zone) || (before !== undefined && before.zone !== zone)) return null;
    const spans = [...(before?.weekly ?? []), weekly];
    hours.set(group, { zone, weekly: spans, dates: [], yearly: [], except: [] });
  }
  return hours;
}

function spanOf(
  { firstDay, lastDay }: { readonly firstDay: string; readonly lastDay: string },
  { from, to }: { readonly from: string; readonly to: string },
): WeeklySpan | null {
  const [first, last] = [firstDay, lastDay].map((day) => weekdays.indexOf(day));
  const [fromMinute, toMinute] = [parseClock(from), parseClock(to)];
  if (first === undefined || last === undefined || first < 0 || last < 0) return null;
  if (fromMinute === null || toMinute === null || fromMinute === toMinute || fromMinute === 24 * 60)
    return null;
  const isOn = (day: number): boolean =>
    first <= last ? first <= day && day <= last : day >= first || day <= last;
  return { days: weekdays.map((_, day) => isOn(day)), fromMinute, toMinute };
}
