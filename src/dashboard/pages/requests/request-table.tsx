// The table of requests. The element of a row is kept while the row is the same object, so that redrawing a
// long list costs only what has changed.

import type { VNode } from 'preact';
import { DecisionBadge, Risk, StatusBadge, statusWord } from '../../parts/layout/badge.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import type { ColumnName } from './columns.tsx';
import { daysOf } from './days-of-rows.ts';
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
  const classes = ['table', 'requests-table', ...hidden.map((name) => `requests-without-${name}`)];
  return (
    <div class="card requests-card">
      <table class={classes.join(' ')}>
        <thead>
          <tr>
            <th class="requests-time">Time</th>
            <th class="requests-decision">Decision</th>
            <th class="requests-action">Action</th>
            <th class="requests-agent">Agent</th>
            <th class="requests-reason">Reason</th>
            <th class="requests-risk">Risk</th>
            <th class="requests-status">Status</th>
          </tr>
        </thead>
        {daysOf(rows).map(({ day, label, rows }) => (
          <Day key={day} label={label} rows={rows} />
        ))}
      </table>
    </div>
  );
}

function Day({ label, rows }: { readonly label: string; readonly rows: readonly Row[] }) {
  return (
    <tbody>
      <tr class="requests-day">
        <th colSpan={2} scope="rowgroup">
          {label}
        </th>
      </tr>
      {rows.map(shownRow)}
    </tbody>
  );
}

const shown = new WeakMap<Row, VNode>();

function shownRow(row: Row): VNode {
  const known = shown.get(row);
  if (known !== undefined) return known;
  const made = <TableRow key={row.item.request_id} row={row} />;
  shown.set(row, made);
  return made;
}

function TableRow({ row: { item, isPast } }: { readonly row: Row }) {
  const { request_id: id, created_at: at, decision, action_key: action, title } = item;
  const { reason, risk_score, status } = item;
  return (
    <tr class={isPast ? 'requests-past' : undefined}>
      <td class="requests-time">
        <time dateTime={at} title={at}>
          {shortTime(at)}
        </time>
      </td>
      <td class="requests-decision">
        <DecisionBadge decision={decision} />
      </td>
      <td class="requests-action">
        <a href={`/requests/${id}`} data-row={id}>
          <PlainText text={title === '' ? action : title} isShort />
        </a>
        {title !== '' && (
          <span class="requests-key">
            {' '}
            · <PlainText text={action} isShort />
          </span>
        )}
        <span class="requests-beneath">
          <span class="requests-beneath-time">{shortTime(at)} · </span>
          <PlainText text={agentName(item)} isShort />
          <span class="requests-beneath-status"> · {statusWord(status, decision)}</span>
        </span>
      </td>
      <td class="requests-agent">
        <PlainText text={agentName(item)} isShort />
      </td>
      <td class="requests-reason">
        <PlainText text={reason} isShort />
      </td>
      <td class="requests-risk">
        <Risk score={risk_score} />
      </td>
      <td class="requests-status">
        {isPast ? (
          <span class="requests-gone">has changed since</span>
        ) : (
          <StatusBadge status={status} decision={decision} />
        )}
      </td>
    </tr>
  );
}

export function agentName({ agent }: Pick<RequestItem, 'agent'>): string {
  const { name, id } = agent;
  return typeof name === 'string' ? name : typeof id === 'string' ? id : 'unknown';
}
