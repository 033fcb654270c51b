// A time as a list shows it: the time of day for today, else the date. The text does not tick, so that a long
// list stays cheap.

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

export function shortTime(at: string, nowMs: number = Date.now()): string {
  const [then, now] = [new Date(at), new Date(nowMs)];
  if (then.toDateString() === now.toDateString()) return clock.format(then);
  return then.getFullYear() === now.getFullYear() ? day.format(then) : date.format(then);
}
