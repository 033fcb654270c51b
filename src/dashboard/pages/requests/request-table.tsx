// Rows of requests. What it makes of a row is kept as long as the row is the same, so that a long list costs what has
// changed in it.

import type { VNode } from 'preact';
import { DecisionBadge, Risk, StatusBadge } from '../../parts/layout/badge.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import type { RequestItem, Row } from './rows.ts';
import { shortTime } from './short-time.ts';

export function RequestTable({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <div class="card requests-card">
      <table class="table requests-table">
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
        <tbody>{rows.map(shownRow)}</tbody>
      </table>
    </div>
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
