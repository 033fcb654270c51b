// The page with the list of requests: live, filtered by its address, navigated by keys, and exported as a
// file.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { addressOf } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { usePerson } from '../../api/session.tsx';
import { go, useAddress } from '../../navigation/navigation.ts';
import { ShortcutHint, useShortcuts } from '../../parts/dialog/shortcuts.tsx';
import { SavedViews } from '../../parts/form/saved-views.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { ColumnChoice, type ColumnName, useHiddenColumns } from './columns.tsx';
import { FilterBar } from './filter-bar.tsx';
import { type Filters, filterQuery, readFilters } from './filters.ts';
import { savedListPosition, saveListPosition } from './list-position.ts';
import { pagesAtOnceMax, type RequestList, useRequestList } from './request-list.ts';
import { RequestTable } from './request-table.tsx';
import './requests.css';

export default function RequestsPage() {
  const filters = readFilters(useAddress().query);
  const table = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const list = useRequestList(filters, {
    owner: usePerson().id,
    isReading: () => window.scrollY > 40 || table.current?.contains(document.activeElement) === true,
  });
  const [hidden, setHidden] = useHiddenColumns();
  useKeptPlace();
  const move = (step: 1 | -1): void => {
    const links = [...(table.current?.querySelectorAll<HTMLElement>('a[data-row]') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const next = links[at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + step))];
    next?.focus({ preventScroll: true });
    next?.closest('tr')?.scrollIntoView({ block: 'nearest' });
    if (at + step >= links.length - 3) list.more();
  };
  const keys = useShortcuts([
    { keys: ['j', 'ArrowDown'], label: 'Next request', run: () => move(1) },
    { keys: ['k', 'ArrowUp'], label: 'Previous request', run: () => move(-1) },
    { keys: ['Enter'], label: 'Open the request' },
    { keys: ['/'], label: 'Search', run: () => search.current?.focus() },
    { keys: ['n'], label: 'Show new requests', run: () => showWaiting(list) },
    { keys: ['c'], label: 'Clear all filters', run: () => go('/requests') },
  ]);
  return (
    <PageFrame title="Requests" actions={<Exports filters={filters} />}>
      <FilterBar filters={filters} search={search} />
      <SavedViews />
      <div class="requests-above">
        <Count filters={filters} isReady={!list.isLoading} />
        <ColumnChoice hidden={hidden} onChange={setHidden} />
      </div>
      <ProblemNote problem={list.problem} onRetry={list.reload} />
      <NewOnes list={list} />
      <div ref={table} class="requests-rows" aria-busy={list.isLoading}>
        <Rows list={list} filters={filters} hidden={hidden} />
      </div>
      <ShortcutHint />
      {keys}
    </PageFrame>
  );
}

function Exports({ filters }: { readonly filters: Filters }) {
  const address = (format: 'csv' | 'jsonl') =>
    addressOf('exportRequests', { query: { format, ...filterQuery(filters) } });
  return (
    <>
      <ButtonLink icon="download" href={address('csv')} download>
        <span>
          <span class="visually-hidden">Export as </span>CSV
        </span>
      </ButtonLink>
      <ButtonLink icon="download" href={address('jsonl')} download>
        <span>
          <span class="visually-hidden">Export as </span>JSON Lines
        </span>
      </ButtonLink>
    </>
  );
}

/** The number of requests, as far as the service can count them in a moment; loaded after the rows. */
function Count({ filters, isReady }: { readonly filters: Filters; readonly isReady: boolean }) {
  const { data } = useResource('countRequests', isReady ? { query: filterQuery(filters) } : null);
  return (
    <p role="status" class="requests-count">
      {data !== null && countText(data)}
    </p>
  );
}

function countText({ count, is_complete: isWhole }: Reply<'countRequests'>): string {
  const number = count.toLocaleString();
  if (!isWhole) return `More than ${number} requests`;
  return count === 1 ? '1 request' : `${number} requests`;
}

function showWaiting(list: RequestList): void {
  list.showWaiting();
  window.scrollTo(0, 0);
}

/** Always in the page, so that screen readers announce it; visible only when there are new requests. */
function NewOnes({ list }: { readonly list: RequestList }) {
  const count = list.waiting.length;
  return (
    <div role="status" class="requests-new">
      {count > 0 && (
        <Button variant="primary" icon="up" onClick={() => showWaiting(list)}>
          {count}
          {list.hasGap ? '+' : ''} new
        </Button>
      )}
    </div>
  );
}

interface RowsProps {
  readonly list: RequestList;
  readonly filters: Filters;
  readonly hidden: readonly ColumnName[];
}

function Rows({ list, filters, hidden }: RowsProps) {
  const { rows, cursor, isLoading } = list;
  if (rows.length === 0 && isLoading && list.pagesLooked === 0)
    return <Loading label="Requests are loading" lines={10} />;
  if (rows.length === 0 && !isLoading && cursor === null && list.problem === null && list.unsearched === 0)
    return <NoRows isFiltered={Object.keys(filters).length > 0} />;
  return (
    <>
      {rows.length > 0 && <RequestTable rows={rows} hidden={hidden} />}
      <End list={list} />
    </>
  );
}

function NoRows({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty icon="search" title="No requests match">
      <p>All requests were searched. Loosen a filter, or</p>
      <ButtonLink href="/requests">Clear all filters</ButtonLink>
    </Empty>
  ) : (
    <Empty icon="list" title="No requests yet">
      <p>
        When an agent calls <code>POST /v1/authorize</code>, its request appears here immediately, with the
        decision and the reasons.
      </p>
      <ButtonLink href="/agents/new">Register an agent</ButtonLink>
    </Empty>
  );
}

/** The list grows by itself up to this many rows; beyond them a button loads more. */
const rowsByThemselvesMax = 1_000;
/** The most requests that the service looks through for one page. */
const lookedPerPage = 2_000;

function End({ list }: { readonly list: RequestList }) {
  const { rows, cursor, isLoading, isStopped, pagesLooked, more, stop, problem, unsearched } = list;
  const sentinel = useRef<HTMLDivElement>(null);
  const isByItself =
    rows.length < rowsByThemselvesMax && pagesLooked < pagesAtOnceMax && !isStopped && problem === null;
  useLayoutEffect(() => {
    if (sentinel.current === null || !isByItself || cursor === null || isLoading) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((one) => one.isIntersecting) && more(),
      {
        rootMargin: '400px',
      },
    );
    observer.observe(sentinel.current);
    return () => observer.disconnect();
  }, [isByItself, cursor, isLoading]);
  const looked = (pagesLooked * lookedPerPage).toLocaleString();
  return (
    <div class="requests-end" ref={sentinel}>
      <div role="status">
        {isLoading &&
          pagesLooked > 0 &&
          `Searching older requests: up to ${looked} searched, ${rows.length} found`}
        {isLoading && pagesLooked === 0 && rows.length > 0 && 'Loading older requests'}
        {!isLoading && cursor === null && rows.length > 0 && unsearched === 0 && 'End of the list.'}
      </div>
      {!isLoading && unsearched > 0 && <Unsearched count={unsearched} onRetry={list.reload} />}
      {isLoading && pagesLooked > 0 && <progress aria-label="Searching older requests" />}
      {isLoading && pagesLooked > 0 && <Button onClick={stop}>Stop</Button>}
      {!isLoading && cursor !== null && <Button onClick={more}>Load older</Button>}
    </div>
  );
}

function Unsearched({ count, onRetry }: { readonly count: number; readonly onRetry: () => void }) {
  return (
    <>
      <p>Older requests are still being made searchable: up to {count.toLocaleString()} records to go.</p>
      <Button onClick={onRetry}>Search again</Button>
    </>
  );
}

/** Returns a person to the place in which they left the list, and to the row that they opened. */
function useKeptPlace(): void {
  const [left] = useState(savedListPosition);
  useLayoutEffect(() => {
    if (left !== null) window.scrollTo(0, left.y);
  }, [left]);
  // Runs after the heading has taken the focus, as it does on every page that is opened.
  useEffect(() => {
    if (left === null) return;
    const row = document.querySelector<HTMLElement>(`a[data-row="${CSS.escape(left.row)}"]`);
    row?.focus({ preventScroll: true });
  }, [left]);
  useEffect(() => {
    const note = ({ target }: MouseEvent): void => {
      const link = (target as Element | null)?.closest('tr')?.querySelector<HTMLElement>('a[data-row]');
      if (link?.dataset.row !== undefined) saveListPosition(link.dataset.row);
    };
    document.addEventListener('click', note, true);
    return () => document.removeEventListener('click', note, true);
  }, []);
}
