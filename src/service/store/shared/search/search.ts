// A search over the index of a store. The requests that the index names are checked against their records, so
// each result holds what is wanted, is still stored and may be seen by the caller. INVARIANT: a page looks at
// a limited number of requests, and a count ends within a time limit.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestCount } from '../../contract/search.ts';
import {
  holdsText,
  isOrderless,
  markTerms,
  searchTermsOfRequest,
  type WantedText,
} from '../../contract/search-text.ts';
import type { RequestFilter, RequestPage, RequestPosition } from '../../contract/store.ts';
import { outOfOrderMs, scanKindOf, scannedRequestsMax } from '../../queries/request-lists.ts';
import type { IndexTerm, SearchCandidate, SearchIndex, SequenceSpan } from './search-index.ts';

export interface SearchHits {
  readonly positions: readonly RequestPosition[];
  readonly next: RequestPosition | null;
  /** How many record numbers the index does not cover yet. */
  readonly unsearched: number;
}

/** How long a search waits for the index to take in what was recorded before the search. */
const catchUpMaxMs = 200;
/** How long a list without a text waits for the index; a walk finds such a list as well. */
const quickMaxMs = 20;
const takenAtOnce = 250;
/** A count that is not done after this time returns what it has. */
const countMaxMs = 250;
const firstMax = 200;
const spanMax = 1_000;
/** How many records are read in one step. */
const readMax = 200;

export interface RequestSearch {
  page(page: RequestPage): Promise<SearchHits>;
  count(filter: RequestFilter): Promise<RequestCount>;
}

export function createRequestSearch(index: SearchIndex): RequestSearch {
  return {
    async page(page) {
      await catchUp(index, page.text === null ? quickMaxMs : catchUpMaxMs);
      const hits = await findPlaces(index, page);
      return { ...hits, unsearched: await index.unsearched() };
    },
    async count(filter) {
      const giveUpAt = performance.now() + countMaxMs;
      const isIndexed = asksIndex(filter);
      if (isIndexed) await catchUp(index, catchUpMaxMs);
      const isAllIn = !isIndexed || (await index.unsearched()) === 0;
      if (isAllIn && isOfIndex(filter)) return await index.count(termsOf(filter), giveUpAt);
      const counted = await countFits(index, filter, giveUpAt);
      return { ...counted, isWhole: counted.isWhole && isAllIn };
    },
  };
}

async function catchUp(index: SearchIndex, maxMs: number): Promise<void> {
  const giveUpAt = performance.now() + maxMs;
  for (const which of ['newer', 'older'] as const)
    while (await index.takeIn(which, takenAtOnce)) if (performance.now() > giveUpAt) return;
}

async function findPlaces(
  index: SearchIndex,
  page: RequestPage,
): Promise<{ readonly positions: readonly RequestPosition[]; readonly next: RequestPosition | null }> {
  const positions: RequestPosition[] = [];
  let last: RequestPosition | null = page.after;
  let looked = 0;
  for await (const one of possible(index, page, page.after)) {
    if (positions.length === page.countMax || looked === scannedRequestsMax) return { positions, next: last };
    if (isBefore(one, page)) return { positions, next: null };
    looked += 1;
    last = { sequence: one.sequence };
    if (isFound(one, page.text)) positions.push(last);
  }
  return { positions, next: null };
}

async function countFits(index: SearchIndex, filter: RequestFilter, giveUpAt: number): Promise<RequestCount> {
  let count = 0;
  for await (const one of possible(index, filter, null)) {
    if (performance.now() > giveUpAt) return { count, isWhole: false };
    if (isBefore(one, filter)) break;
    if (isFound(one, filter.text)) count += 1;
  }
  return { count, isWhole: true };
}

/** Yields the requests that may fit, the latest first. */
async function* possible(
  index: SearchIndex,
  filter: RequestFilter,
  after: RequestPosition | null,
): AsyncGenerator<SearchCandidate> {
  let before =
    after?.sequence ??
    (filter.untilMs === null ? Number.MAX_SAFE_INTEGER : await index.numberAfter(filter.untilMs));
  const scan = (await isWalked(index, filter)) ? walkSpan : searchSpan;
  const laterMax = filter.text === null || isOrderless(filter.text) ? spanMax : readMax;
  for (let countMax = firstMax; ; countMax = laterMax) {
    const span = await scan(index, filter, { before, countMax });
    for (const one of span.looked) yield one;
    if (span.next === null) return;
    before = span.next;
    // Another question that has come meanwhile is answered between two spans.
    await nextTurn();
  }
}

interface ScannedSpan {
  readonly looked: readonly SearchCandidate[];
  /** Where the next span begins; null when this one is the last. */
  readonly next: number | null;
}

/**
 * When this many requests hold what is wanted, those of the wanted status are fewer, so they are walked
 * instead.
 */
const indexedMax = 5_000;

async function isWalked(index: SearchIndex, filter: RequestFilter): Promise<boolean> {
  if (!asksIndex(filter)) return true;
  const isNarrow = scanKindOf(filter) === 'status' || scanKindOf(filter) === 'unanswered';
  if (!isNarrow) return false;
  const newest = { before: Number.MAX_SAFE_INTEGER, countMax: indexedMax };
  return (await index.holding(termsOf(filter), newest)).length === indexedMax;
}

async function walkSpan(index: SearchIndex, filter: RequestFilter, span: SequenceSpan): Promise<ScannedSpan> {
  const walked = await index.walk(span, filter);
  const next = walked.at(-1)?.sequence ?? null;
  if (filter.text === null) return { looked: walked, next };
  const fit = walked.filter(({ isFit }) => isFit).map(({ sequence }) => sequence);
  return { looked: await index.candidates(fit, { filter, isTextAsked: true }), next };
}

async function searchSpan(
  index: SearchIndex,
  filter: RequestFilter,
  span: SequenceSpan,
): Promise<ScannedSpan> {
  const held = await index.holding(termsOf(filter), span);
  const isTextAsked = filter.text !== null && !isOrderless(filter.text);
  const looked = held.length === 0 ? [] : await index.candidates(held, { filter, isTextAsked });
  return { looked, next: held.length < span.countMax ? null : (held.at(-1) ?? null) };
}

/**
 * Whether the index helps with the filter more than a walk. The index also knows agents, but a walk finds
 * these as well.
 */
export function asksIndex({ text, actionKey, outcome, policy }: RequestFilter): boolean {
  return text !== null || actionKey !== null || outcome !== null || policy !== null;
}

/** Whether the index alone can answer the filter. */
function isOfIndex(filter: RequestFilter): boolean {
  const { text, status, riskMin, riskMax, amountMin, amountMax, fromMs, untilMs, seenBy } = filter;
  const others = [status, riskMin, riskMax, amountMin, amountMax, fromMs, untilMs, seenBy];
  return others.every((one) => one === null) && (text === null || isOrderless(text));
}

function termsOf(filter: RequestFilter): readonly IndexTerm[] {
  const marks = markTerms(filter).map((word) => ({ word, isWhole: true }));
  return [...(filter.text ?? []).flat(), ...marks];
}

function isFound({ isFit, searched }: SearchCandidate, text: WantedText | null): boolean {
  return isFit && (searched === null || text === null || holdsText(searchTermsOfRequest(searched), text));
}

/**
 * Whether the request, and so all that follow it, was made before the time asked for. Requests are numbered
 * when they are stored, at most `outOfOrderMs` out of order.
 */
function isBefore({ createdAtMs }: SearchCandidate, { fromMs }: RequestFilter): boolean {
  return createdAtMs < (fromMs ?? 0) - outOfOrderMs;
}
