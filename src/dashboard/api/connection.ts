// Keeps whether the service can be reached, as the last call or the event stream found. While it cannot, the
// service is asked again with growing pauses, and at once when the browser is online again or somebody
// returns to the page.

import { useEffect, useState } from 'preact/hooks';

export type Reachability = 'yes' | 'no';

let reachable: Reachability = 'yes';
const listeners = new Set<(reachable: Reachability) => void>();

const pauseMsMin = 1_000;
const pauseMsMax = 15_000;
let pauseMs = pauseMsMin;
let timer: ReturnType<typeof setTimeout> | undefined;

export function reportReachable(now: Reachability): void {
  if (now === reachable) return;
  reachable = now;
  clearTimeout(timer);
  pauseMs = pauseMsMin;
  if (now === 'no') askLater();
  for (const listener of [...listeners]) listener(now);
}

export function useReachable(): Reachability {
  const [state, setState] = useState(reachable);
  useEffect(() => {
    setState(reachable);
    return onReachable(setState);
  }, []);
  return state;
}

/**
 * Calls the listener whenever the service becomes reachable or unreachable. Returns a function that removes
 * the listener.
 */
export function onReachable(listener: (reachable: Reachability) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Asks an unreachable service again at once when the browser comes online or the page becomes visible. */
export function watchConnection(): void {
  window.addEventListener('online', askNow);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') askNow();
  });
}

function askNow(): void {
  if (reachable === 'yes') return;
  clearTimeout(timer);
  void ask();
}

function askLater(): void {
  timer = setTimeout(() => void ask(), pauseMs);
  pauseMs = Math.min(pauseMs * 2, pauseMsMax);
}

/** A proxy may answer for a service that does not, so only the service's own reply counts. */
async function ask(): Promise<void> {
  const reply = await fetch('/healthz', { cache: 'no-store' }).catch(() => null);
  if (reachable === 'yes') return;
  if (reply?.ok === true) return reportReachable('yes');
  clearTimeout(timer);
  askLater();
}
