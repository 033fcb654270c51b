// The rows of the inbox: what each asks, until when, and of which groups, with a box to choose it for a bulk
// vote.

import type { Reply } from '../../../api/operations.ts';
import { Risk } from '../../parts/layout/badge.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { hasForeignLetters, hasInvisible } from '../../parts/text/text-pieces.ts';
import { agentName } from '../requests/request-table.tsx';
import { personWords, whomWords } from '../requests/timeline-events.ts';
import { AssignmentMarks } from './assignment.tsx';
import { Deadline } from './deadline.tsx';
import { Reviewers, type ReviewLock } from './review-locks.tsx';

export type QueueItem = Reply<'listApprovals'>['items'][number];

/** A request's subject in one line: its title, or else its action. */
export function titleOf({ title, action_key }: Pick<QueueItem, 'title' | 'action_key'>): string {
  return title === '' ? action_key : title;
}

/** Whether the subject or the agent's name holds letters of another script within a word, or invisible characters. */
export function mayDeceive(item: QueueItem): boolean {
  return [titleOf(item), agentName(item)].some((text) => hasForeignLetters(text) || hasInvisible(text));
}

interface QueueTableProps {
  readonly items: readonly QueueItem[];
  /** Ids of the chosen requests. */
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (ids: readonly string[], isChosen: boolean) => void;
  readonly locksOf: (id: string) => readonly ReviewLock[];
}

export function QueueTable({ items, chosen, onChoose, locksOf }: QueueTableProps) {
  const columns: readonly Column<QueueItem>[] = [
    {
      head: (
        <Pick
          label="Choose all that are shown"
          isChosen={items.every(({ request_id: id }) => chosen.has(id))}
          onChoose={(isChosen) =>
            onChoose(
              items.map(({ request_id: id }) => id),
              isChosen,
            )
          }
        />
      ),
      class: 'approvals-pick',
      cell: (item) => (
        <Pick
          label={`Choose ${titleOf(item)}`}
          isChosen={chosen.has(item.request_id)}
          onChoose={(isChosen) => onChoose([item.request_id], isChosen)}
        />
      ),
    },
    {
      head: 'Deadline',
      class: 'approvals-deadline',
      cell: ({ expires_at: at }) => <Deadline at={at} />,
    },
    {
      head: 'Action',
      class: 'approvals-action',
      cell: (item) => <Subject item={item} locks={locksOf(item.request_id)} />,
    },
    {
      head: 'Reason',
      class: 'approvals-reason',
      cell: ({ reason }) => <PlainText text={reason} isShort />,
    },
    { head: 'Needs', class: 'approvals-needs', cell: needsOf },
    { head: 'Risk', class: 'approvals-risk', cell: ({ risk_score: score }) => <Risk score={score} /> },
  ];
  return (
    <div class="card approvals-card">
      <DataTable
        label="Requests for you"
        columns={columns}
        rows={items}
        rowKey={({ request_id: id }) => id}
        narrow="scroll"
        class="approvals-table"
      />
    </div>
  );
}

interface PickProps {
  readonly label: string;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
}

function Pick({ label, isChosen, onChoose }: PickProps) {
  return (
    <label class="approvals-pick-label">
      <input
        type="checkbox"
        aria-label={label}
        checked={isChosen}
        onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
      />
    </label>
  );
}

interface SubjectProps {
  readonly item: QueueItem;
  readonly locks: readonly ReviewLock[];
}

function Subject({ item, locks }: SubjectProps) {
  const { request_id: id, action_key: action, title, agent, question } = item;
  return (
    <>
      <a href={`/approvals/${id}`} data-row={id}>
        <PlainText text={titleOf(item)} isShort />
      </a>
      {mayDeceive(item) && (
        <span class="approvals-deceives">
          <Icon name="warning" size={14} /> Letters that may deceive
        </span>
      )}
      {question !== null && (
        <span class="approvals-question">
          <Icon name="unknown" size={14} />{' '}
          {question === 'yours' ? 'A question for you' : 'A question waits for its answer'}
        </span>
      )}
      <AssignmentMarks {...item} />
      <Reviewers locks={locks} />
      <span class="approvals-beneath">
        {title !== '' && (
          <>
            <PlainText text={action} isShort /> ·{' '}
          </>
        )}
        <PlainText text={agentName(item)} isShort />
        {typeof agent.risk_tier === 'string' && ` · ${agent.risk_tier} risk tier`}
      </span>
    </>
  );
}

function needsOf({ requires }: QueueItem) {
  return (
    <>
      {requires?.step_up === true && <span>step-up{requires.approvals.length > 0 && ' first'}</span>}
      {requires?.approvals.map((asked) => (
        <span key={asked.group}>
          <PlainText text={whomWords(asked)} isShort /> {asked.given}/{asked.needs}
        </span>
      ))}
      {requires?.invalidated.map(({ by, group, reason }) => (
        <span key={`${by} ${group}`} class="approvals-beneath">
          <PlainText text={`${personWords(by)} ${reason}`} isShort />
        </span>
      ))}
    </>
  );
}
