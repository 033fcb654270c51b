// Decides when the overview is loaded again: soon after a change, and regularly without one, because time
// passes. A hidden page is not reloaded.

import { useEffect, useRef } from 'preact/hooks';
import { useChanges } from '../../api/change-feed.ts';

/**
 * Milliseconds between two reloads. Under load the change feed never rests, and counting a month costs more
 * than drawing it.
 */
const pauseMs = 3_000;
const idleMs = 20_000;

export function useLive(isLive: boolean, look: () => void): void {
  const latest = useRef(look);
  latest.current = look;
  const lastMs = useRef(Date.now());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);

  const lookNow = (): void => {
    timer.current = null;
    if (document.hidden) return;
    lastMs.current = Date.now();
    latest.current();
  };
  const lookSoon = (): void => {
    if (!isLive || timer.current !== null) return;
    timer.current = setTimeout(lookNow, Math.max(0, lastMs.current + pauseMs - Date.now()));
  };
  useChanges(['requests'], lookSoon);
  useEffect(() => {
    if (!isLive) return;
    const idle = setInterval(() => {
      if (Date.now() - lastMs.current >= idleMs) lookSoon();
    }, idleMs / 4);
    document.addEventListener('visibilitychange', lookSoon);
    return () => {
      clearInterval(idle);
      document.removeEventListener('visibilitychange', lookSoon);
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    };
  }, [isLive]);
}
