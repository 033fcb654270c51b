// A time as a list shows it: the clock today, the day else. It does not tick, so that a long list has nothing to do.

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
