// The inbox of the signed-in person: approvals and step-ups that wait for them, by default the nearest
// deadline first.

import { useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { usePerson } from '../../api/session.tsx';
import { go, setQuery, usePlace } from '../../navigation/navigation.ts';
import { ShortcutHint, useShortcuts } from '../../parts/dialog/shortcuts.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SavedViews } from '../../parts/form/saved-views.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import './approvals.css';
import { SnoozeDialog, setAssignee } from './assignment.tsx';
import { BulkVote } from './bulk-vote.tsx';
import type { VoteKind } from './draft.ts';
import { isFiltered, noQueueFilter, QueueFilters, queueQuery } from './queue-filters.tsx';
import { type QueueItem, QueueTable } from './queue-table.tsx';
import { useReviewLocks } from './review-locks.tsx';

const firstShown = 50;
const shownMax = 200;

export default function ApprovalsPage() {
  const [limit, setLimit] = useState(firstShown);
  const { query } = usePlace();
  const queue = useResource('listApprovals', { query: { ...queueQuery(query), limit: String(limit) } }, [
    'approvals',
  ]);
  const { data, reload } = queue;
  const table = useRef<HTMLDivElement>(null);
  const links = (): readonly HTMLElement[] => [
    ...(table.current?.querySelectorAll<HTMLElement>('a[data-row]') ?? []),
  ];
  const at = (): number => links().indexOf(document.activeElement as HTMLElement);
  const move = (step: 1 | -1): void => {
    const all = links();
    const next = all[at() === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at() + step))];
    next?.focus({ preventScroll: true });
    next?.closest('tr')?.scrollIntoView({ block: 'nearest' });
  };
  const open = (vote: 'approve' | 'reject'): void => {
    const id = links()[at()]?.dataset.row;
    if (id !== undefined) go(`/approvals/${id}#${vote}`);
  };
  const { chosen, choose, bulk, setBulk, end } = useChosen(data?.items ?? []);
  const chooseThis = (): void => {
    const id = links()[at()]?.dataset.row;
    if (id !== undefined) choose([id], !chosen.some(({ request_id }) => request_id === id));
  };
  const startBulk = (vote: VoteKind): void => {
    if (chosen.length > 0) setBulk({ vote, items: chosen });
  };
  const locks = useReviewLocks();
  const reviewThis = (): void => {
    const id = links()[at()]?.dataset.row;
    if (id !== undefined) void locks.toggle(id);
  };
  const [snoozed, setSnoozed] = useState<QueueItem | null>(null);
  const snoozeThis = (): void => {
    const id = links()[at()]?.dataset.row;
    setSnoozed(data?.items.find(({ request_id }) => request_id === id) ?? null);
  };
  const { id: ownId, groups } = usePerson();
  const assigning = useSending();
  const assignThis = (): void => {
    const id = links()[at()]?.dataset.row;
    if (id !== undefined) void assigning.run(() => setAssignee(id, ownId).then(reload));
  };
  const keys = useShortcuts([
    { keys: ['j', 'ArrowDown'], label: 'Next request', run: () => move(1) },
    { keys: ['k', 'ArrowUp'], label: 'Previous request', run: () => move(-1) },
    { keys: ['Enter'], label: 'Open it' },
    { keys: ['a'], label: 'Approve it, with a comment', run: () => open('approve') },
    { keys: ['r'], label: 'Reject it, with a comment', run: () => open('reject') },
    { keys: ['c'], label: 'Start or end your review', run: reviewThis },
    { keys: ['m'], label: 'Assign it to yourself', run: assignThis },
    { keys: ['h'], label: 'Snooze it', run: snoozeThis },
    { keys: ['x'], label: 'Choose it, or not', run: chooseThis },
    { keys: ['A'], label: 'Approve all that are chosen', run: () => startBulk('approve') },
    { keys: ['R'], label: 'Reject all that are chosen', run: () => startBulk('reject') },
  ]);
  const isAsked = isFiltered(query);
  return (
    <PageFrame title="Inbox" lead={leadOf(groups)}>
      {(isAsked || (data?.count ?? 0) > 0) && <QueueFilters items={data?.items ?? []} groups={groups} />}
      <SavedViews />
      <ProblemNote problem={locks.problem ?? assigning.problem} />
      <ResourceView resource={queue} loading="Your inbox is loading">
        {({ count, items, next_cursor: next }) => (
          <>
            <p class="approvals-count" role="status">
              {count > 0 && `${count} ${isAsked ? 'found' : 'waiting for you'}`}
            </p>
            {items.length > 0 ? (
              <div ref={table}>
                <QueueTable
                  items={items}
                  chosen={new Set(chosen.map(({ request_id }) => request_id))}
                  onChoose={choose}
                  locksOf={locks.of}
                />
              </div>
            ) : isAsked ? (
              <NothingFits />
            ) : (
              <NothingWaits groups={groups} />
            )}
            {next !== null && (
              <div class="approvals-more">
                {limit < shownMax ? (
                  <Button onClick={() => setLimit(shownMax)}>Show more</Button>
                ) : (
                  <p>
                    These are the first {shownMax}; more follow as they are decided, or with another filter.
                  </p>
                )}
              </div>
            )}
          </>
        )}
      </ResourceView>
      {chosen.length > 0 && (
        <section class="approvals-chosen" aria-label="Chosen">
          <span role="status">{chosen.length} chosen</span>
          <Button icon="allow" onClick={() => startBulk('approve')}>
            Approve…
          </Button>
          <Button icon="deny" onClick={() => startBulk('reject')}>
            Reject…
          </Button>
          <Button look="quiet" onClick={() => choose([...chosen.map(({ request_id }) => request_id)], false)}>
            Choose none
          </Button>
        </section>
      )}
      {snoozed !== null && (
        <SnoozeDialog request={snoozed} onDone={reload} onClose={() => setSnoozed(null)} />
      )}
      {bulk !== null && <BulkVote {...bulk} onEnd={end} />}
      <ShortcutHint />
      {keys}
    </PageFrame>
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
      const kept = [...before].filter((id) => !changed.includes(id));
      return new Set(isChosen ? [...kept, ...changed] : kept);
    });
  const end = (settled: readonly string[]): void => {
    choose(settled, false);
    setBulk(null);
  };
  return { chosen: items.filter(({ request_id }) => ids.has(request_id)), choose, bulk, setBulk, end };
}

function leadOf(groups: readonly string[]): string {
  const own = 'What your own agents ask of their control owner waits here, too.';
  return groups.length === 0
    ? `You belong to no approval group. ${own}`
    : `You approve for ${groups.join(', ')}. ${own}`;
}

function NothingFits() {
  return (
    <Empty icon="search" title="Nothing that waits for you fits these filters">
      <Button onClick={() => setQuery(noQueueFilter)}>Clear filters</Button>
    </Empty>
  );
}

function NothingWaits({ groups }: { readonly groups: readonly string[] }) {
  return (
    <Empty icon="inbox" title="Nothing waits for you">
      {groups.length === 0
        ? 'What a policy escalates waits for the people of a group, or for the control owner of the agent. An admin can make you one of them.'
        : 'What a policy escalates to one of your groups appears here at once, the nearest deadline first.'}{' '}
      <a href="/approvals?snoozed=yes">Snoozed requests</a> return by themselves.
    </Empty>
  );
}
