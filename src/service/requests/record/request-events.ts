// What becomes of requests, emitted to listeners: webhooks, mail. INVARIANT: emitting costs the caller nothing but the call,
// and no listener can make it fail: events are emitted after the record, and a decision waits for no listener.

import type { RequestStatus } from '../../store/contract/records.ts';
import type { SaidKind } from './request-state.ts';

export interface RequestNotice {
  /**
   * `pending`: it waits for people, or waits for others than before. `decided`: it waits no more. `commented`: somebody has
   * said something about it.
   */
  readonly kind: 'pending' | 'decided' | 'commented';
  readonly requestId: string;
  readonly agentId: string;
  readonly actionKey: string;
  /** What it is about, in one line; empty where nothing short says so. */
  readonly title: string;
  /** Its present state. */
  readonly status: RequestStatus;
  /** Whose approvals it waits for now, `owner` for the control owner; none where it waits for none, or no more. */
  readonly groups: readonly string[];
  /** Whether it waits for the control owner to step up. */
  readonly asksStepUp: boolean;
  /** What was said, with the ids of those who have asked a question before; null where nothing was. */
  readonly said?: { readonly kind: SaidKind; readonly askers: readonly string[] } | null;
  readonly atMs: number;
}

export interface RequestEvents {
  /** Never throws. */
  emit(news: RequestNotice): void;
  subscribe(listener: (news: RequestNotice) => void): void;
}

/** `onFailure` hears of a listener that threw; the others are told all the same. */
export function createRequestEvents(onFailure: (error: unknown) => void = () => undefined): RequestEvents {
  const listeners: ((news: RequestNotice) => void)[] = [];
  return {
    emit(news) {
      for (const listener of listeners) {
        try {
          listener(news);
        } catch (error) {
          onFailure(error);
        }
      }
    },
    subscribe: (listener) => void listeners.push(listener),
  };
}
