// Whether the service can be reached, as the last call or the stream of news found.

import { useEffect, useState } from 'preact/hooks';

export type Reachable = 'yes' | 'no';

let reachable: Reachable = 'yes';
const listeners = new Set<(reachable: Reachable) => void>();

export function tellReachable(now: Reachable): void {
  if (now === reachable) return;
  reachable = now;
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
