// The search thread as seen from outside. The thread starts with the first search, or a while after a service
// has begun, and starts again after its death. INVARIANT: nothing that it does can delay or harm a decision.

import { Worker } from 'node:worker_threads';
import type { RequestCount } from '../../contract/search.ts';
import type { FoundRequests, RequestFilter, RequestPage, RequestPosition } from '../../contract/store.ts';
import { StoreError } from '../../contract/store-error.ts';
import { beginAfterMs, endThread } from '../helper-threads.ts';
import { asksIndex, type SearchHits } from './search.ts';
import type { FromSearcher, SearchAnswer, SearchQuestion, ToSearcher } from './search-worker.ts';

export interface SearchThread {
  /** `page` and `count` reject with a StoreError. */
  page(page: RequestPage): Promise<SearchHits>;
  count(filter: RequestFilter): Promise<RequestCount>;
  /** From now on the index is kept up to date with the records. */
  follow(): void;
  close(): Promise<void>;
}

interface PendingSearch {
  readonly resolve: (answer: SearchAnswer) => void;
  readonly reject: (error: StoreError) => void;
}

export function createSearchThread(script: URL, data: unknown): SearchThread {
  let worker: Worker | null = null;
  let isClosed = false;
  let lastId = 0;
  let timer: NodeJS.Timeout | undefined;
  const asking = new Map<number, PendingSearch>();

  const end = (cause: unknown): void => {
    worker = null;
    const error = new StoreError('internal', 'the search has ended: ask again', { cause });
    for (const { reject } of asking.values()) reject(error);
    asking.clear();
  };
  const take = (message: FromSearcher): void => {
    const one = asking.get(message.id);
    asking.delete(message.id);
    if (asking.size === 0) worker?.unref();
    if (message.kind === 'answer') {
      one?.resolve(message.answer);
      return;
    }
    const { code, message: text, detail } = message.failure;
    one?.reject(new StoreError(code, text, { cause: detail }));
  };
  const started = (): Worker => {
    if (worker !== null) return worker;
    const made = new Worker(script, { workerData: data });
    made.unref();
    let error: unknown = null;
    made.on('message', take);
    made.on('error', (thrown) => {
      error = thrown;
    });
    made.on('exit', () => {
      if (worker === made) end(error);
    });
    worker = made;
    return made;
  };
  const ask = <T extends SearchAnswer>(question: SearchQuestion): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (isClosed) return reject(new StoreError('closed', 'the store is closed'));
      lastId += 1;
      // The answer to a question is of the question's kind.
      asking.set(lastId, { resolve: resolve as PendingSearch['resolve'], reject });
      const to = started();
      to.ref();
      to.postMessage({ kind: 'ask', id: lastId, question } satisfies ToSearcher);
    });
  return {
    page: (page) => ask({ kind: 'page', page }),
    count: (filter) => ask({ kind: 'count', filter }),
    follow() {
      timer ??= setTimeout(() => void (isClosed || started()), beginAfterMs).unref();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      // Whatever the thread has not written follows from the records, so a stop does not wait for it.
      if (worker !== null) await endThread(worker, { kind: 'close' } satisfies ToSearcher);
    },
  };
}

/** The two ways to read the requests of a list. */
interface ListReads {
  /** Reads a page by looking through requests. */
  walk(page: RequestPage): Promise<Omit<FoundRequests, 'unsearched'>>;
  /** Reads the requests at these places, in this order. */
  at(places: readonly RequestPosition[]): Promise<FoundRequests['items']>;
}

/**
 * Returns a function that lists requests by the index when the index knows what is asked. A filter without a
 * text can fall back on the walk, which finds the same, only later.
 */
export function searchedList(
  search: Pick<SearchThread, 'page'>,
  { walk, at }: ListReads,
): (page: RequestPage) => Promise<FoundRequests> {
  const walked = async (page: RequestPage) => ({ ...(await walk(page)), unsearched: 0 });
  return async (page) => {
    if (!asksIndex(page)) return await walked(page);
    const isSearch = page.text !== null;
    const hits = await search.page(page).catch((error: unknown) => {
      if (isSearch) throw error;
      return null;
    });
    if (hits === null || (!isSearch && hits.unsearched > 0)) return await walked(page);
    return { items: await at(hits.positions), next: hits.next, unsearched: hits.unsearched };
  };
}
