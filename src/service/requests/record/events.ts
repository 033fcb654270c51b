// What becomes of requests, told to whoever listens: webhooks, mail. INVARIANT: telling costs whoever tells nothing but
// the call, and no listener can make it fail: it is told after the record, and a decision waits for nobody here.

import type { RequestStatus } from '../../store/contract/records.ts';

export interface RequestNews {
  /** `pending`: it waits for people, or waits for others than before. `decided`: it waits no more. */
  readonly kind: 'pending' | 'decided';
  readonly requestId: string;
  readonly agentId: string;
  readonly actionKey: string;
  /** How it stands now. */
  readonly status: RequestStatus;
  /** Groups of approvers that it waits for now; none where it waits for its control owner, or no more. */
  readonly groups: readonly string[];
  readonly atMs: number;
}

export interface RequestNewsDesk {
  /** Never throws. */
  tell(news: RequestNews): void;
  onNews(listener: (news: RequestNews) => void): void;
}

/** `onFailure` hears of a listener that threw; the others are told all the same. */
export function createRequestNews(onFailure: (error: unknown) => void = () => undefined): RequestNewsDesk {
  const listeners: ((news: RequestNews) => void)[] = [];
  return {
    tell(news) {
      for (const listener of listeners) {
        try {
          listener(news);
        } catch (error) {
          onFailure(error);
        }
      }
    },
    onNews: (listener) => void listeners.push(listener),
  };
}
