// Whether the service can be reached, as the last call or the stream of news found. While it cannot, the service is asked
// again with growing pauses, and at once when the browser is online again or somebody comes back to the page.

import { useEffect, useState } from 'preact/hooks';

export type Reachable = 'yes' | 'no';

let reachable: Reachable = 'yes';
const listeners = new Set<(reachable: Reachable) => void>();

const pauseMsMin = 1_000;
const pauseMsMax = 15_000;
let pauseMs = pauseMsMin;
let timer: ReturnType<typeof setTimeout> | undefined;

export function tellReachable(now: Reachable): void {
  if (now === reachable) return;
  reachable = now;
  clearTimeout(timer);
  pauseMs = pauseMsMin;
  if (now === 'no') askLater();
  for (const listener of [...listeners]) listener(now);
}

export function useReachable(): Reachable {
  const [state, setState] = useState(reachable);
  useEffect(() => {
    setState(reachable);
    return onReachable(setState);
  }, []);
  return state;
}

/** Calls whenever it changes; returns what ends that. */
export function onReachable(listener: (reachable: Reachable) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Asks at once where the service could not be reached, as soon as the browser or a person gives reason to. */
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

/** A proxy may answer for a service that does not: only the service's own reply counts. */
async function ask(): Promise<void> {
  const reply = await fetch('/healthz', { cache: 'no-store' }).catch(() => null);
  if (reachable === 'yes') return;
  if (reply?.ok === true) return tellReachable('yes');
  clearTimeout(timer);
  askLater();
}
