// The stream of hints that something has changed, shared by the whole page. INVARIANT: after a gap every
// listener is called, because nobody knows what was missed.

import { useEffect, useRef } from 'preact/hooks';
import { reportReachable } from './connection.ts';

const eventKinds = [
  'requests',
  'approvals',
  'agents',
  'policies',
  'kill_switches',
  'people',
  'alerts',
] as const;
export type EventKind = (typeof eventKinds)[number];

type Listener = () => void;

const listeners = new Map<EventKind, Set<Listener>>(eventKinds.map((kind) => [kind, new Set()]));
let source: EventSource | null = null;
let pauseMs = 1_000;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Runs while the stream is interrupted. */
let doubt: ReturnType<typeof setTimeout> | undefined;
/** Whether something may have been missed since the stream was last open. */
let hasGap = false;

const pauseMsMax = 15_000;
/**
 * Milliseconds of interruption after which the service counts as unreachable. A stream that ended normally is
 * back sooner: the browser waits for two seconds.
 */
const doubtMs = 4_000;

/** Opens the event stream; without a session nothing arrives. */
export function openEventStream(): void {
  closeEventStream();
  const own = new EventSource('/v1/events');
  source = own;
  own.onopen = () => {
    pauseMs = 1_000;
    clearTimeout(doubt);
    doubt = undefined;
    reportReachable('yes');
    if (hasGap) tellAll();
    hasGap = false;
  };
  own.onerror = () => {
    hasGap = true;
    doubt ??= setTimeout(() => reportReachable('no'), doubtMs);
    // The browser reconnects by itself, except after an answer that is not a stream.
    if (own.readyState !== EventSource.CLOSED) return;
    // Something answered, so the service can be reached. The next calls will find the cause: the session may
    // have ended.
    clearTimeout(doubt);
    doubt = undefined;
    timer = setTimeout(() => {
      openEventStream();
      tellAll();
    }, pauseMs);
    pauseMs = Math.min(pauseMs * 2, pauseMsMax);
  };
  for (const kind of eventKinds) own.addEventListener(kind, () => tell(kind));
}

/**
 * Closes the event stream. Later changes are missed, so every listener is called once the stream is open
 * again.
 */
export function closeEventStream(): void {
  clearTimeout(timer);
  clearTimeout(doubt);
  doubt = undefined;
  if (source !== null) hasGap = true;
  source?.close();
  source = null;
}

/** Calls `onChange` whenever something of one of these kinds has changed. */
export function useEvents(kinds: readonly EventKind[], onChange: Listener): void {
  const latest = useRef(onChange);
  latest.current = onChange;
  const names = kinds.join(' ');
  useEffect(() => {
    const listener = (): void => latest.current();
    const sets = eventKinds
      .filter((kind) => names.split(' ').includes(kind))
      .map((kind) => listeners.get(kind));
    for (const set of sets) set?.add(listener);
    return () => {
      for (const set of sets) set?.delete(listener);
    };
  }, [names]);
}

function tell(kind: EventKind): void {
  for (const listener of [...(listeners.get(kind) ?? [])]) listener();
}

function tellAll(): void {
  for (const kind of eventKinds) tell(kind);
}
