// Emits what becomes of requests to listeners such as webhooks and mail. INVARIANT: emitting costs the caller
// only the call, and no listener can make it fail: events are emitted after the record, and a decision waits
// for no listener.

import type { RequestStatus } from '../../store/contract/records.ts';
import type { PlanPlace } from './plan-place.ts';
import type { CommentKind, ReminderDetail } from './request-state.ts';

export interface RequestNotice {
  /**
   * `pending`: the request waits for people, or for others than before. `decided`: the request no longer
   * waits. `commented`: a person has said something about it. `reminded`: people are reminded that it is pending.
   */
  readonly kind: 'pending' | 'decided' | 'commented' | 'reminded';
  readonly requestId: string;
  readonly agentId: string;
  readonly actionKey: string;
  /** What the request is about, in one line; empty when nothing short describes it. */
  readonly title: string;
  /** The plan that the request is a step of; absent when it belongs to none. */
  readonly plan?: PlanPlace;
  /** The request's present status. */
  readonly status: RequestStatus;
  /**
   * Groups whose approval the request waits for now, `owner` for the control owner; empty when it waits for
   * no approval.
   */
  readonly groups: readonly string[];
  /** Addresses and ids of people whose approval the request waits for by name; absent when there are none. */
  readonly people?: readonly string[];
  /** Whether the request waits for the control owner to step up. */
  readonly asksStepUp: boolean;
  /**
   * What was said, with the ids of all people who have asked a question; null or absent when nothing was
   * said.
   */
  readonly comment?: { readonly kind: CommentKind; readonly askers: readonly string[] } | null;
  /** Who is reminded, and of what; null or absent when nobody is. */
  readonly reminder?: Pick<ReminderDetail, 'told' | 'endMs' | 'endsWithFallback'> | null;
  readonly atMs: number;
}

export interface RequestEvents {
  /** Calls all listeners. Never throws. */
  emit(notice: RequestNotice): void;
  subscribe(listener: (notice: RequestNotice) => void): void;
}

/**
 * Creates the events. When a listener throws, `onFailure` gets the error and the other listeners are still
 * called.
 */
export function createRequestEvents(onFailure: (error: unknown) => void = () => undefined): RequestEvents {
  const listeners: ((notice: RequestNotice) => void)[] = [];
  return {
    emit(notice) {
      for (const listener of listeners) {
        try {
          listener(notice);
        } catch (error) {
          onFailure(error);
        }
      }
    },
    subscribe: (listener) => void listeners.push(listener),
  };
}
