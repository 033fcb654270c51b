// The table of requests, by the reader's days. INVARIANT: the columns are constant and an unchanged row is the same
// object, so that redrawing a long list costs only what has changed.

import { DecisionBadge, Risk, StatusBadge, statusWord } from '../../parts/layout/badge.tsx';
import { type Column, DataTable, type RowGroup } from '../../parts/layout/data-table.tsx';
import { PlainPieces, PlainText } from '../../parts/text/plain-text.tsx';
import type { ColumnName } from './columns.tsx';
import type { RequestItem, Row } from './rows.ts';

// A time as a list shows it: the time of day for today, else the date. The text does not tick, so that a long
// list stays cheap.

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

function shortTime(at: string, nowMs: number = Date.now()): string {
  const [then, now] = [new Date(at), new Date(nowMs)];
  if (then.toDateString() === now.toDateString()) return clock.format(then);
  return then.getFullYear() === now.getFullYear() ? day.format(then) : date.format(then);
}

interface RequestTableProps {
  readonly rows: readonly Row[];
  readonly hidden: readonly ColumnName[];
}

export function RequestTable({ rows, hidden }: RequestTableProps) {
  return (
    <div class="card requests-card">
      <DataTable
        label="Requests"
        columns={columns}
        rows={rows}
        rowKey={({ item }) => item.request_id}
        rowClass={({ isPast }) => (isPast ? 'requests-past' : undefined)}
        groups={daysOf}
        narrow="scroll"
        class={['requests-table', ...hidden.map((name) => `requests-without-${name}`)].join(' ')}
      />
    </div>
  );
}

const columns: readonly Column<Row>[] = [
  {
    head: 'Time',
    class: 'requests-time',
    cell: ({ item: { created_at: at } }) => (
      <time dateTime={at} title={at}>
        {shortTime(at)}
      </time>
    ),
  },
  {
    head: 'Decision',
    class: 'requests-decision',
    cell: ({ item }) => <DecisionBadge decision={item.decision} />,
  },
  { head: 'Action', class: 'requests-action', cell: ({ item }) => <Subject item={item} /> },
  {
    head: 'Agent',
    class: 'requests-agent',
    cell: ({ item }) => <PlainText text={agentName(item)} isShort />,
  },
  {
    head: 'Reason',
    class: 'requests-reason',
    cell: ({ item }) => <PlainText text={item.reason} isShort />,
  },
  { head: 'Risk', class: 'requests-risk', cell: ({ item }) => <Risk score={item.risk_score} /> },
  {
    head: 'Status',
    class: 'requests-status',
    cell: ({ item: { status, decision }, isPast }) =>
      isPast ? (
        <span class="requests-gone">has changed since</span>
      ) : (
        <StatusBadge status={status} decision={decision} />
      ),
  },
];

function Subject({ item }: Pick<Row, 'item'>) {
  const { request_id: id, created_at: at, decision, action_key: action, title, status } = item;
  return (
    <>
      <a href={`/requests/${id}`} data-row={id}>
        <PlainPieces text={title === '' ? action : title} />
      </a>
      {title !== '' && (
        <span class="requests-key">
          <PlainText text={action} isShort />
        </span>
      )}
      <span class="requests-beneath">
        <span class="requests-beneath-time">{shortTime(at)} · </span>
        <PlainText text={agentName(item)} isShort />
        <span class="requests-beneath-status"> · {statusWord(status, decision)}</span>
      </span>
    </>
  );
}

const longDay = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const longDayWithYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

/** The rows in their order, by days. A day that is interrupted by rows of another day appears again. */
function daysOf(rows: readonly Row[]): readonly RowGroup<Row>[] {
  const now = new Date();
  const days: { key: string; label: string; rows: Row[] }[] = [];
  for (const row of rows) {
    const at = new Date(row.item.created_at);
    const label = dayLabel(at, now);
    const last = days.at(-1);
    if (last?.label === label) last.rows.push(row);
    else
      days.push({ key: `${label} ${days.filter((one) => one.label === label).length}`, label, rows: [row] });
  }
  return days;
}

function dayLabel(at: Date, now: Date): string {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (at.toDateString() === now.toDateString()) return 'Today';
  if (at.toDateString() === yesterday.toDateString()) return 'Yesterday';
  return (at.getFullYear() === now.getFullYear() ? longDay : longDayWithYear).format(at);
}

export function agentName({ agent }: Pick<RequestItem, 'agent'>): string {
  const { name, id } = agent;
  return typeof name === 'string' ? name : typeof id === 'string' ? id : 'unknown';
}
