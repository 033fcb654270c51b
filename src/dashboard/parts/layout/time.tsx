// Times and spans for people, with the exact time beside. The whole page shares one clock, so that all of its
// times agree.

import { useEffect, useState } from 'preact/hooks';
import { agoText } from './span-text.ts';
import { exactTime, zonedTime } from './time-format.ts';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The time now in milliseconds, updated each second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const listener = (): void => setNow(Date.now());
    listeners.add(listener);
    timer ??= setInterval(() => {
      for (const one of [...listeners]) one();
    }, 1_000);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now;
}

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const dayTime = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: 'numeric', minute: '2-digit' });

/** A time of the next days, in the reader's own zone: `13:47`, or `Tue 13:47` on another day. */
export function ClockTime({ at }: { readonly at: string }) {
  const ms = Date.parse(at);
  const isToday = new Date(ms).toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={`${zonedTime.format(ms)} (${at})`}>
      {(isToday ? clockTime : dayTime).format(ms)}
    </time>
  );
}

/** How long ago a time was, or how long until it comes; the exact time is in the title. */
export function Ago({ at }: { readonly at: string }) {
  const now = useNow();
  const ms = Date.parse(at);
  return (
    <time
      dateTime={at}
      class="ago"
      data-exact={exactTime.format(ms)}
      title={`${zonedTime.format(ms)} (${at})`}
    >
      {agoText(ms - now)}
    </time>
  );
}

/** The exact time, in the reader's own zone and form. */
export function At({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={`${zonedTime.format(Date.parse(at))} (${at})`}>
      {exactTime.format(Date.parse(at))}
    </time>
  );
}
