// The inbox of the signed-in person: approvals and step-ups that wait for them, the nearest deadline first unless they ask
// for another order.

import { useRef, useState } from 'preact/hooks';
import type { Reply } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { usePerson } from '../../api/session.tsx';
import { go, setQuery, usePlace } from '../../navigation/navigation.ts';
import { ShortcutHint, useShortcuts } from '../../parts/dialog/shortcuts.tsx';
import { Risk } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { agentName } from '../requests/request-table.tsx';
import { groupWords, personWords } from '../requests/timeline-events.ts';
import './approvals.css';
import { Deadline } from './deadline.tsx';
import { isFiltered, noQueueFilter, QueueFilters, queueQuery } from './queue-filters.tsx';

const firstShown = 50;
const shownMax = 200;

export default function ApprovalsPage() {
  const [limit, setLimit] = useState(firstShown);
  const { query } = usePlace();
  const { data, problem, reload } = useResource(
    'listApprovals',
    { query: { ...queueQuery(query), limit: String(limit) } },
    ['approvals'],
  );
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
  const keys = useShortcuts([
    { keys: ['j', 'ArrowDown'], label: 'Next request', run: () => move(1) },
    { keys: ['k', 'ArrowUp'], label: 'Previous request', run: () => move(-1) },
    { keys: ['Enter'], label: 'Open it' },
    { keys: ['a'], label: 'Approve it, with a comment', run: () => open('approve') },
    { keys: ['r'], label: 'Reject it, with a comment', run: () => open('reject') },
  ]);
  const { groups } = usePerson();
  const isAsked = isFiltered(query);
  return (
    <PageFrame title="Inbox" lead={leadOf(groups)}>
      {(isAsked || (data?.count ?? 0) > 0) && <QueueFilters items={data?.items ?? []} groups={groups} />}
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading label="What waits is loading" />}
      {data !== null && (
        <p class="approvals-count" role="status">
          {data.count > 0 && `${data.count} ${isAsked ? 'found' : 'waiting for you'}`}
        </p>
      )}
      {data !== null &&
        data.items.length === 0 &&
        (isAsked ? <NothingFits /> : <NothingWaits groups={groups} />)}
      {data !== null && data.items.length > 0 && (
        <div ref={table}>
          <Queue items={data.items} />
        </div>
      )}
      {data !== null && data.next_cursor !== null && (
        <div class="approvals-more">
          {limit < shownMax ? (
            <Button onClick={() => setLimit(shownMax)}>Show more</Button>
          ) : (
            <p>These are the first {shownMax}; more follow as they are decided, or with another filter.</p>
          )}
        </div>
      )}
      <ShortcutHint />
      {keys}
    </PageFrame>
  );
}

function leadOf(groups: readonly string[]): string {
  const own = 'What your own agents ask of their control owner waits here, too.';
  return groups.length === 0
    ? `You belong to no group of approvers. ${own}`
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
        : 'What a policy escalates to one of your groups appears here at once, the nearest deadline first.'}
    </Empty>
  );
}

type Queued = Reply<'listApprovals'>['items'][number];

function Queue({ items }: { readonly items: readonly Queued[] }) {
  return (
    <div class="card approvals-card">
      <table class="table approvals-table">
        <thead>
          <tr>
            <th class="approvals-deadline">Deadline</th>
            <th class="approvals-action">Action</th>
            <th class="approvals-reason">Reason</th>
            <th class="approvals-needs">Needs</th>
            <th class="approvals-risk">Risk</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <QueueRow key={item.request_id} item={item} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function QueueRow({ item }: { readonly item: Queued }) {
  const { request_id: id, action_key, title, reason, expires_at, risk_score, requires, agent } = item;
  return (
    <tr>
      <td class="approvals-deadline">
        <Deadline at={expires_at} />
      </td>
      <td class="approvals-action">
        <a href={`/approvals/${id}`} data-row={id}>
          <PlainText text={title === '' ? action_key : title} isShort />
        </a>
        <span class="approvals-beneath">
          {title !== '' && (
            <>
              <PlainText text={action_key} isShort /> ·{' '}
            </>
          )}
          <PlainText text={agentName(item)} isShort />
          {typeof agent.risk_tier === 'string' && ` · ${agent.risk_tier} risk tier`}
        </span>
      </td>
      <td class="approvals-reason">
        <PlainText text={reason} isShort />
      </td>
      <td class="approvals-needs">
        {requires?.step_up === true && <span>step-up{requires.approvals.length > 0 && ' first'}</span>}
        {requires?.approvals.map(({ group, needs, given }) => (
          <span key={group}>
            {groupWords(group)} {given}/{needs}
          </span>
        ))}
        {requires?.fell_away.map(({ by, group, why }) => (
          <span key={`${by} ${group}`} class="approvals-beneath">
            <PlainText text={`${personWords(by)} ${why}`} isShort />
          </span>
        ))}
      </td>
      <td class="approvals-risk">
        <Risk score={risk_score} />
      </td>
    </tr>
  );
}
