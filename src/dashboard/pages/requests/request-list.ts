// The state of the list of requests: older pages are loaded on demand, newer requests by the event stream. If
// a page finds few requests, loading continues by itself for a while, and the list says so. INVARIANT: rows
// that are being read do not move: while a person is in the middle of the list, new requests wait until the
// person calls for them.

import type { RefObject } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useEvents } from '../../api/event-stream.ts';
import { type Filters, filterKey, filterQuery } from './filters.ts';
import { type LoadedRows, type NewestItems, type RequestItem, withNewest, withOlder } from './rows.ts';

export interface ListState extends LoadedRows {
  readonly isLoading: boolean;
  /** Pages loaded since the last call for more; more than one when pages hold few requests. */
  readonly pagesLooked: number;
  /** Whether the person has stopped the search for more. */
  readonly isStopped: boolean;
  readonly problem: unknown;
  /** Number of records that a search has not reached yet. */
  readonly unsearched: number;
}

export interface RequestList extends ListState {
  readonly more: () => void;
  /** Stops the search for more. */
  readonly stop: () => void;
  readonly showWaiting: () => void;
  readonly reload: () => void;
}

/** A little more than fills a window, because the first page should appear at once. */
const pageSize = 30;
/** Loading continues by itself until this many requests are found, or `pagesAtOnceMax` pages are loaded. */
const enough = 20;
export const pagesAtOnceMax = 50;
/** After this many milliseconds without a load, the newest page may not reach the known rows. */
const lateMs = 10_000;
const catchUpPagesMax = 10;

const empty: ListState = {
  rows: [],
  waiting: [],
  hasGap: false,
  cursor: null,
  isLoading: true,
  pagesLooked: 0,
  problem: null,
  isStopped: false,
  unsearched: 0,
};

interface SavedState {
  readonly owner: string;
  readonly key: string;
  readonly state: ListState;
}

/** The list that was left last, kept for a reader who returns to it. */
let savedState: SavedState | null = null;

interface ListOptions {
  /** Id of the reader; nobody gets a list that another person has seen. */
  readonly owner: string;
  /** Whether the person is in the middle of the list. */
  readonly isReading: () => boolean;
}

export function useRequestList(filters: Filters, { owner, isReading }: ListOptions): RequestList {
  const key = filterKey(filters);
  const query = useMemo(() => filterQuery(filters), [key]);
  const held = useHeldList(owner, key);
  const { state, latest, set, controller } = held;
  const fill = useFill(held, query);
  const refresh = useRefresh(held, query, isReading);
  useEffect(() => {
    const savedState = remembered(owner, key);
    latest.current = savedState ?? { ...latest.current, isLoading: true, problem: null };
    set({});
    if (savedState === null) void fill(null);
    else void refresh();
    return () => controller.current?.abort();
  }, [query]);
  useEvents(['requests'], refresh);
  useEffect(() => {
    document.addEventListener('visibilitychange', refresh);
    return () => document.removeEventListener('visibilitychange', refresh);
  }, [refresh]);
  return {
    ...state,
    more: () => {
      const { isLoading, cursor } = latest.current;
      if (!isLoading && cursor !== null) void fill(cursor);
    },
    stop: () => {
      controller.current?.abort();
      set({ isLoading: false, isStopped: true });
    },
    showWaiting: () => {
      const { hasGap, rows, waiting } = latest.current;
      if (hasGap) void fill(null);
      else set({ rows: [...waiting, ...rows], waiting: [] });
    },
    reload: () => void fill(null),
  };
}

/**
 * What the list shares with the functions that load it: its latest state, before it is drawn, and the load
 * that is under way.
 */
interface HeldList {
  readonly state: ListState;
  readonly latest: RefObject<ListState>;
  readonly set: (change: Partial<ListState>) => void;
  readonly controller: RefObject<AbortController | null>;
  /** When the newest page was last loaded. */
  readonly checkedAtMs: RefObject<number>;
}

/**
 * Starts from the list that was left last, if it has the same owner and filters, and keeps this list when it
 * is left.
 */
function useHeldList(owner: string, key: string): HeldList {
  const [state, setState] = useState<ListState>(() => remembered(owner, key) ?? empty);
  const latest = useRef(state);
  const controller = useRef<AbortController | null>(null);
  const checkedAtMs = useRef(0);
  const set = useCallback((change: Partial<ListState>): void => {
    latest.current = { ...latest.current, ...change };
    setState(latest.current);
  }, []);
  useEffect(
    () => () => {
      const { isLoading, pagesLooked } = latest.current;
      // The rows may still be those of the previous filters.
      if (isLoading && pagesLooked === 0) return;
      savedState = { owner, key, state: { ...latest.current, isLoading: false, pagesLooked: 0 } };
    },
    [owner, key],
  );
  return { state, latest, set, controller, checkedAtMs };
}

/**
 * Returns a function that loads older pages from a cursor (null: from the start) until enough requests are
 * found.
 */
function useFill({ latest, set, controller, checkedAtMs }: HeldList, query: Query) {
  return useCallback(
    async (from: string | null): Promise<void> => {
      controller.current?.abort();
      const own = new AbortController();
      controller.current = own;
      set({ isLoading: true, problem: null, pagesLooked: 0, isStopped: false });
      let cursor = from;
      let addedCount = 0;
      try {
        for (let pages = 1; ; pages += 1) {
          const page = await fetchPage(query, cursor, own.signal);
          if (own.signal.aborted) return;
          const before = from === null && pages === 1 ? [] : latest.current.rows;
          if (from === null && pages === 1) checkedAtMs.current = Date.now();
          addedCount += page.items.length;
          cursor = page.next_cursor;
          const isDone = cursor === null || addedCount >= enough || pages === pagesAtOnceMax;
          set({
            rows: withOlder(before, page.items),
            cursor,
            unsearched: page.unsearched,
            pagesLooked: pages,
            isLoading: !isDone,
            ...(before.length === 0 ? { waiting: [], hasGap: false } : {}),
          });
          if (isDone) return;
        }
      } catch (problem) {
        if (own.signal.aborted) return;
        // Rows that do not fit the filters must not be listed under them.
        set({ problem, isLoading: false, ...(from === null ? { rows: [], cursor: null } : {}) });
      }
    },
    [query],
  );
}

/**
 * Returns a function that loads the newest page after a change. A change during a load is followed by one
 * more load.
 */
function useRefresh({ latest, set, checkedAtMs }: HeldList, query: Query, isReading: () => boolean) {
  const running = useRef<'no' | 'yes' | 'again'>('no');
  const latestQuery = useRef(query);
  const reading = useRef(isReading);
  reading.current = isReading;
  useEffect(() => {
    latestQuery.current = query;
  }, [query]);
  const refresh = useCallback(async (): Promise<void> => {
    if (document.hidden) return;
    if (running.current !== 'no') {
      running.current = 'again';
      return;
    }
    // A load from the start brings the newest requests by itself.
    if (latest.current.isLoading && latest.current.rows.length === 0) return;
    running.current = 'yes';
    try {
      const isLate = Date.now() - checkedAtMs.current > lateMs;
      const loadedIds = new Set(latest.current.rows.map(({ item }) => item.request_id));
      const newest = await lookNewest(query, loadedIds, isLate ? catchUpPagesMax : 1);
      checkedAtMs.current = Date.now();
      if (latestQuery.current === query)
        set({ ...withNewest(latest.current, newest, reading.current()), problem: null });
    } catch (problem) {
      if (latestQuery.current === query) set({ problem });
    }
    const isAgain = (running.current as string) === 'again';
    running.current = 'no';
    if (isAgain) void refresh();
  }, [query]);
  return refresh;
}

function remembered(owner: string, key: string): ListState | null {
  return savedState?.owner === owner && savedState.key === key ? savedState.state : null;
}

type Query = ReturnType<typeof filterQuery>;

function fetchPage(query: Query, cursor: string | null, signal: AbortSignal) {
  const page = cursor === null ? {} : { cursor };
  return call('listRequests', { query: { ...query, ...page, limit: String(pageSize) }, signal });
}

/** The newest items up to one in `known`, if one is found within `pagesMax` pages. */
async function lookNewest(
  query: Query,
  loadedIds: ReadonlySet<string>,
  pagesMax: number,
): Promise<NewestItems> {
  const items: RequestItem[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page: Awaited<ReturnType<typeof fetchPage>> = await fetchPage(
      query,
      cursor,
      AbortSignal.timeout(30_000),
    );
    items.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === null || page.items.some(({ request_id: id }) => loadedIds.has(id))) break;
  }
  return { items, cursor };
}
