// The inbox of the signed-in person: approvals and step-ups that wait for them, by default the nearest
// deadline first.

import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { useGrant, usePerson } from '../../api/session.tsx';
import { go, setQuery, useAddress } from '../../navigation/navigation.ts';
import { ShortcutHint, useShortcuts } from '../../parts/dialog/shortcuts.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SavedViews } from '../../parts/form/saved-views.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { isNarrow } from '../../parts/layout/narrow.ts';
import { Empty, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import './approvals.css';
import { SnoozeDialog, setAssignee } from './assignment.tsx';
import { BulkVote } from './bulk-vote.tsx';
import type { VoteKind } from './draft.ts';
import { Peek } from './peek.tsx';
import { isFiltered, noQueueFilter, QueueFilters, queueQuery } from './queue-filters.tsx';
import { type QueueItem, type QueueRow, queueRows } from './queue-groups.ts';
import { QueueTable } from './queue-table.tsx';
import { useReviewLocks } from './review-locks.tsx';
import { VoteBar } from './vote-bar.tsx';

const firstShown = 50;
const shownMax = 200;

export default function ApprovalsPage() {
  const [limit, setLimit] = useState(firstShown);
  const { query } = useAddress();
  const queue = useResource('listApprovals', { query: { ...queueQuery(query), limit: String(limit) } }, [
    'approvals',
  ]);
  const { data, reload } = queue;
  const { groups } = usePerson();
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const { chosen, choose, bulk, setBulk, end } = useChosen(data?.items ?? []);
  const rows = queueRows(data?.items ?? [], unfolded);
  const list = useRowFocus();
  const peek = usePeek(list);
  const locks = useReviewLocks();
  const acts = useRowActs({ list, rows, locks, reload });
  const chooseThis = (): void => {
    const ids = rows.find(({ item }) => item.request_id === list.current())?.alike ?? [];
    const isChosen = ids.every(({ request_id: id }) => chosen.some((one) => one.request_id === id));
    choose(
      ids.map(({ request_id: id }) => id),
      !isChosen,
    );
  };
  const startBulk = (vote: VoteKind): void => {
    if (chosen.length > 0) setBulk({ vote, items: chosen });
  };
  const keys = useShortcuts([
    { keys: ['j', 'ArrowDown'], label: 'Next request', run: () => peek.follow(list.move(1)) },
    { keys: ['k', 'ArrowUp'], label: 'Previous request', run: () => peek.follow(list.move(-1)) },
    { keys: ['Enter'], label: 'Open it' },
    { keys: [' ', 'ArrowRight'], label: 'Preview it beside the list' },
    { keys: ['Escape'], label: 'Close the preview', ...(peek.id === null ? {} : { run: peek.close }) },
    ...acts.shortcuts,
    { keys: ['x'], label: 'Choose it, or not', run: chooseThis },
    { keys: ['A'], label: 'Approve all selected', run: () => startBulk('approve') },
    { keys: ['R'], label: 'Reject all selected', run: () => startBulk('reject') },
  ]);
  const isAsked = isFiltered(query);
  const toggle = (digest: string): void =>
    setUnfolded((before) =>
      before.has(digest)
        ? new Set([...before].filter((one) => one !== digest))
        : new Set([...before, digest]),
    );
  const table = {
    onChoose: choose,
    onUnfold: toggle,
    onPeek: peek.toggle,
    peekedId: peek.id,
    locksOf: locks.of,
  };
  return (
    <PageFrame
      title="Inbox"
      lead={leadOf(groups)}
      actions={
        <>
          <ButtonLink href="/plans">Plans</ButtonLink>
          <ButtonLink href="/standing-approvals">Standing approvals</ButtonLink>
        </>
      }
    >
      {(isAsked || (data?.count ?? 0) > 0) && <QueueFilters items={data?.items ?? []} groups={groups} />}
      <SavedViews />
      <ProblemNote problem={locks.problem ?? acts.problem} />
      <div ref={list.ref} class={peek.id === null ? 'approvals-split' : 'approvals-split is-peeking'}>
        <div>
          <ResourceView resource={queue} loading="Your inbox is loading">
            {({ count, next_cursor: next }) => (
              <>
                <p class="approvals-count" role="status">
                  {count > 0 && `${count} ${isAsked ? 'found' : 'pending for you'}`}
                </p>
                {rows.length > 0 ? (
                  <QueueTable
                    {...table}
                    label="Requests for you"
                    rows={rows}
                    chosen={new Set(chosen.map(({ request_id }) => request_id))}
                  />
                ) : isAsked ? (
                  <NothingFits />
                ) : (
                  <NothingWaits groups={groups} />
                )}
                {next !== null && <More limit={limit} onMore={() => setLimit(shownMax)} />}
              </>
            )}
          </ResourceView>
          <Undecidable query={query} table={table} />
        </div>
        {peek.id !== null && <Peek id={peek.id} onClose={peek.close} />}
      </div>
      {chosen.length > 0 && (
        <VoteBar label="Chosen" chosen={chosen} onVote={startBulk}>
          <Button
            variant="quiet"
            onClick={() =>
              choose(
                chosen.map(({ request_id }) => request_id),
                false,
              )
            }
          >
            Choose none
          </Button>
        </VoteBar>
      )}
      {acts.snoozed !== null && (
        <SnoozeDialog request={acts.snoozed} onDone={reload} onClose={acts.endSnooze} />
      )}
      {bulk !== null && <BulkVote {...bulk} onEnd={end} />}
      <ShortcutHint />
      {keys}
    </PageFrame>
  );
}

interface RowFocus {
  readonly ref: RefObject<HTMLDivElement | null>;
  /** The id of the request whose row has the focus; null when none has. */
  readonly current: () => string | null;
  /** Moves the focus by one row, and returns the id of the request there. */
  readonly move: (step: 1 | -1) => string | null;
  readonly focus: (id: string) => void;
}

function useRowFocus(): RowFocus {
  const ref = useRef<HTMLDivElement>(null);
  const links = (): readonly HTMLElement[] => [
    ...(ref.current?.querySelectorAll<HTMLElement>('a[data-row]') ?? []),
  ];
  const last = useRef<string | null>(null);
  const current = (): string | null => {
    const row = document.activeElement?.closest('tr')?.querySelector<HTMLElement>('a[data-row]');
    return row?.dataset.row ?? null;
  };
  const focus = (link: HTMLElement | undefined): string | null => {
    link?.focus({ preventScroll: true });
    link?.closest('tr')?.scrollIntoView({ block: 'nearest' });
    last.current = link?.dataset.row ?? last.current;
    return link?.dataset.row ?? null;
  };
  return {
    ref,
    current,
    move: (step) => {
      const all = links();
      // From the panel beside the list, the keys go on from the last row.
      const from = current() ?? last.current;
      const at = all.findIndex(({ dataset }) => dataset.row === from);
      return focus(all[at === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at + step))]);
    },
    focus: (id) => void focus(links().find(({ dataset }) => dataset.row === id)),
  };
}

/** The request in the side panel, which follows the focus while it is open. On a phone its page is opened instead. */
function usePeek(list: RowFocus) {
  const [id, setId] = useState<string | null>(null);
  const show = (next: string): void => (isNarrow() ? go(`/approvals/${next}`) : setId(next));
  const close = (): void => {
    if (id !== null) list.focus(id);
    setId(null);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, plan } = (event.target as Element).closest<HTMLElement>('a[data-row]')?.dataset ?? {};
    // A plan has a page and no preview.
    if (row === undefined || plan !== undefined || (event.key !== ' ' && event.key !== 'ArrowRight')) return;
    event.preventDefault();
    if (event.key === ' ' && row === id) close();
    else show(row);
  };
  const latest = useRef(onKey);
  latest.current = onKey;
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent): void => latest.current(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
  return {
    id,
    close,
    toggle: (next: string): void => (next === id ? close() : show(next)),
    follow: (next: string | null): void => {
      if (id !== null && next !== null && document.activeElement?.hasAttribute('data-plan') !== true)
        setId(next);
    },
  };
}

interface RowActOptions {
  readonly list: RowFocus;
  readonly rows: readonly QueueRow[];
  readonly locks: ReturnType<typeof useReviewLocks>;
  readonly reload: () => void;
}

/** What keys do with the request whose row has the focus. */
function useRowActs({ list, rows, locks, reload }: RowActOptions) {
  const { id: ownId } = usePerson();
  const assigning = useSending();
  const [snoozed, setSnoozed] = useState<QueueItem | null>(null);
  const rowNow = (): QueueRow | null => rows.find(({ item }) => item.request_id === list.current()) ?? null;
  /** What is done with one request is not done with a plan. */
  const withRow = (act: (id: string) => void) => (): void => {
    const row = rowNow();
    if (row !== null && row.kind !== 'plan') act(row.item.request_id);
  };
  const openFor = (vote: VoteKind) => (): void => {
    const row = rowNow();
    if (row === null) return;
    const { plan, request_id: id } = row.item;
    go(row.kind === 'plan' && plan !== null ? `/plans/${plan.id}#${vote}` : `/approvals/${id}#${vote}`);
  };
  const assign = (id: string): void => void assigning.run(() => setAssignee(id, ownId).then(reload));
  const snooze = (id: string): void =>
    setSnoozed(rows.find(({ item }) => item.request_id === id)?.item ?? null);
  return {
    shortcuts: [
      {
        keys: ['a'],
        label: 'Approve it, with a comment',
        run: openFor('approve'),
      },
      {
        keys: ['r'],
        label: 'Reject it, with a comment',
        run: openFor('reject'),
      },
      { keys: ['c'], label: 'Start or end your review', run: withRow((id) => void locks.toggle(id)) },
      { keys: ['m'], label: 'Assign it to yourself', run: withRow(assign) },
      { keys: ['h'], label: 'Snooze it', run: withRow(snooze) },
    ],
    problem: assigning.problem,
    snoozed,
    endSnooze: () => setSnoozed(null),
  };
}

function More({ limit, onMore }: { readonly limit: number; readonly onMore: () => void }) {
  return (
    <div class="approvals-more">
      {limit < shownMax ? (
        <Button onClick={onMore}>Show more</Button>
      ) : (
        <p>These are the first {shownMax}; more follow as they are decided, or with another filter.</p>
      )}
    </div>
  );
}

interface UndecidableProps {
  readonly query: URLSearchParams;
  readonly table: Omit<Parameters<typeof QueueTable>[0], 'label' | 'rows' | 'chosen'>;
}

/** The requests that ask the person, but that the person cannot decide, each with the reason. */
function Undecidable({ query, table }: UndecidableProps) {
  const { data } = useResource(
    'listApprovals',
    { query: { ...queueQuery(query), decidable: 'no', limit: String(firstShown) } },
    ['approvals'],
  );
  if (data === null || data.items.length === 0) return null;
  const isOne = data.count === 1;
  return (
    <details class="approvals-undecidable">
      <summary>
        {data.count} more {isOne ? 'asks' : 'ask'} you or your groups, but you cannot approve{' '}
        {isOne ? 'it' : 'them'}
      </summary>
      <QueueTable
        {...table}
        label="Requests that you cannot approve"
        rows={queueRows(data.items, new Set(data.items.map(({ digest }) => digest)))}
        chosen={null}
      />
    </details>
  );
}

interface Bulk {
  readonly vote: VoteKind;
  /** The requests as they were when the bulk vote began, because decided ones leave the queue. */
  readonly items: readonly QueueItem[];
}

/** The chosen rows; a request that has left the queue is no longer among them. */
function useChosen(items: readonly QueueItem[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [bulk, setBulk] = useState<Bulk | null>(null);
  const choose = (changed: readonly string[], isChosen: boolean): void =>
    setIds((before) => {
      const unchanged = [...before].filter((id) => !changed.includes(id));
      return new Set(isChosen ? [...unchanged, ...changed] : unchanged);
    });
  const end = (settled: readonly string[]): void => {
    choose(settled, false);
    setBulk(null);
  };
  return { chosen: items.filter(({ request_id }) => ids.has(request_id)), choose, bulk, setBulk, end };
}

function leadOf(groups: readonly string[]): string {
  const own = 'Requests of your own agents that need their control owner are listed here, too.';
  return groups.length === 0
    ? `You belong to no approval group. ${own}`
    : `You approve for ${groups.join(', ')}. ${own}`;
}

function NothingFits() {
  return (
    <Empty icon="search" title="No pending requests match these filters">
      <Button onClick={() => setQuery(noQueueFilter)}>Clear filters</Button>
    </Empty>
  );
}

function NothingWaits({ groups }: { readonly groups: readonly string[] }) {
  const mayJoin = useGrant('people.change') === 'yes';
  return (
    <Empty icon="inbox" title="No requests for you">
      <p>
        {groups.length > 0
          ? 'Requests that a policy escalates to one of your groups appear here immediately, nearest deadline first.'
          : 'Requests that a policy escalates need the approval of a group or of the control owner of the agent.'}{' '}
        {groups.length === 0 && !mayJoin && 'An admin can add you to a group. '}
        <a href="/approvals?snoozed=yes">Snoozed requests</a> return by themselves.
      </p>
      {groups.length === 0 && mayJoin && <ButtonLink href="/access">Add yourself to a group</ButtonLink>}
    </Empty>
  );
}
