// Loads what a component shows of the service, and loads it again whenever its address or the event stream
// calls for it. Old data stays on the screen until the new data arrives, also after a return to the page, so
// that nothing jumps.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { OperationId, Reply } from '../../api/operations.ts';
import { addressOf, type CallOptions, call } from './client.ts';
import { onReachable } from './connection.ts';
import { type EventKind, useEvents } from './event-stream.ts';
import { type ApiProblem, isCutOff } from './problem.ts';

export interface Resource<Data> {
  /** Null until the first reply arrives. */
  readonly data: Data | null;
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

const seen = new Map<string, unknown>();
const seenMax = 50;

/** Loads nothing when the options are null. */
export function useResource<Id extends OperationId>(
  id: Id,
  options: CallOptions<Id> | null,
  events: readonly EventKind[] = [],
): Resource<Reply<Id>> {
  const address = options === null ? null : addressOf(id, options as Parameters<typeof addressOf>[1]);
  const [state, setState] = useState<{
    address: string | null;
    data: Reply<Id> | null;
    problem: ApiProblem | null;
  }>(() => ({ address, data: remembered(address), problem: null }));
  const [isLoading, setLoading] = useState(address !== null);
  const controller = useRef<AbortController | null>(null);

  const load = useCallback(() => {
    controller.current?.abort();
    if (options === null || address === null) return setLoading(false);
    const own = new AbortController();
    controller.current = own;
    setLoading(true);
    const given = { ...options, signal: own.signal } as CallOptions<Id>;
    (call as (id: Id, options: CallOptions<Id>) => Promise<Reply<Id>>)(id, given).then(
      (data) => {
        if (own.signal.aborted) return;
        remember(address, data);
        setState({ address, data, problem: null });
        setLoading(false);
      },
      (problem: ApiProblem) => {
        if (own.signal.aborted) return;
        setState((before) => ({ address, data: before.address === address ? before.data : null, problem }));
        setLoading(false);
      },
    );
    // The address contains everything that the options hold.
  }, [id, address]);

  useEffect(() => {
    load();
    return () => controller.current?.abort();
  }, [load]);
  useEvents(events, load);
  // After an unreachable service, the resource is loaded again as soon as the service is back.
  const isWaiting = state.problem !== null && isCutOff(state.problem);
  useEffect(() => {
    if (!isWaiting) return;
    return onReachable((reachable) => {
      if (reachable === 'yes') load();
    });
  }, [isWaiting, load]);

  const isOfNow = state.address === address;
  return {
    data: isOfNow ? state.data : remembered(address),
    problem: isOfNow ? state.problem : null,
    isLoading: isLoading || !isOfNow,
    reload: load,
  };
}

/** Called when a session ends, so that nothing of one session is shown in another. */
export function forgetResources(): void {
  seen.clear();
}

function remembered<Data>(address: string | null): Data | null {
  return address === null ? null : ((seen.get(address) as Data | undefined) ?? null);
}

function remember(address: string, data: unknown): void {
  seen.delete(address);
  seen.set(address, data);
  const [oldest] = seen.keys();
  if (seen.size > seenMax && oldest !== undefined) seen.delete(oldest);
}
