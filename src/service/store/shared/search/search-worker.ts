// The inside of a search thread. It answers questions, and between them fills its index from the records, for
// a small part of its time, so that calls for decisions are not slowed down.

import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import type { RequestCount } from '../../contract/search.ts';
import type { RequestFilter, RequestPage } from '../../contract/store.ts';
import type { StoreErrorCode } from '../../contract/store-error.ts';
import { createRequestSearch, type SearchHits } from './search.ts';
import type { SearchIndex } from './search-index.ts';

export type SearchQuestion =
  | { readonly kind: 'page'; readonly page: RequestPage }
  | { readonly kind: 'count'; readonly filter: RequestFilter };

export type ToSearcher =
  | { readonly kind: 'ask'; readonly id: number; readonly question: SearchQuestion }
  | { readonly kind: 'close' };

/** A StoreError as a message between threads. */
export interface SearchFailure {
  readonly code: StoreErrorCode;
  readonly message: string;
  readonly detail: string;
}

export type SearchAnswer = SearchHits | RequestCount;

export type FromSearcher =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: SearchAnswer }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: SearchFailure };

/**
 * How much longer the thread rests than it works: while nobody searches, filling the index takes a thirtieth
 * of its time.
 */
const restPerWork = 29;
const takenAtOnce = 250;
const lookAgainMs = 1_000;

export interface SearcherOptions {
  readonly port: MessagePort;
  readonly index: SearchIndex;
  readonly failureOf: (error: unknown) => SearchFailure;
}

export function runSearcher({ port, index, failureOf }: SearcherOptions): void {
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  // Changes of the index run one after the other; a count lets other searches run meanwhile.
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  // A closed index would open itself again, and keep the thread alive.
  const takeIn: SearchIndex['takeIn'] = (which, countMax) =>
    inTurn(async () => !isClosed && (await index.takeIn(which, countMax)));
  const search = createRequestSearch({ ...index, takeIn });
  const answer = async (id: number, question: SearchQuestion): Promise<void> => {
    try {
      const answer: SearchAnswer =
        question.kind === 'page' ? await search.page(question.page) : await search.count(question.filter);
      port.postMessage({ kind: 'answer', id, answer } satisfies FromSearcher);
    } catch (error) {
      port.postMessage({ kind: 'failure', id, failure: failureOf(error) } satisfies FromSearcher);
    }
  };
  const follow = async (): Promise<void> => {
    while (!isClosed) {
      const begun = performance.now();
      const isMore = await takeSome(takeIn).catch(() => false);
      await sleep(isMore ? restPerWork * (performance.now() - begun) : lookAgainMs, undefined, {
        ref: false,
      });
    }
  };
  port.on('message', (message: ToSearcher) => {
    if (message.kind === 'ask') return void answer(message.id, message.question);
    isClosed = true;
    void inTurn(() => index.close()).finally(() => port.close());
  });
  void follow();
}

/** The newest requests come first, since people look for these. */
async function takeSome(takeIn: SearchIndex['takeIn']): Promise<boolean> {
  return (await takeIn('newer', takenAtOnce)) || (await takeIn('older', takenAtOnce));
}
