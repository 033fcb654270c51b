// The outcome of a webhook's messages of the last week. While a message is at its first attempt, the list is
// reloaded every two seconds.

import { useEffect } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useAddress } from '../../navigation/navigation.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Pager } from '../../parts/layout/pager.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Delivery = Reply<'listDeliveries'>['items'][number];

const lookAgainMs = 2_000;

export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { query } = useAddress();
  const cursor = query.get('deliveries') ?? undefined;
  const request = { params: { id: webhookId }, query: { limit: '20', cursor } };
  const deliveries = useResource('listDeliveries', request, ['requests', 'approvals']);
  const { data, reload } = deliveries;
  const isOnItsWay =
    data?.items.some(({ status, attempts }) => status === 'pending' && attempts <= 1) === true;
  useEffect(() => {
    if (!isOnItsWay) return;
    const timer = setInterval(reload, lookAgainMs);
    return () => clearInterval(timer);
  }, [isOnItsWay, reload]);
  return (
    <div>
      <ResourceView resource={deliveries} lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="alert-soft">No message in the last week.</p>
          ) : (
            <DataTable label="Deliveries" columns={columns} rows={items} rowKey={({ id }) => id} />
          )
        }
      </ResourceView>
      <div class="form-actions">
        <Button icon="refresh" onClick={reload}>
          Reload
        </Button>
        <Pager nextCursor={data?.next_cursor ?? null} parameter="deliveries" />
      </div>
    </div>
  );
}

const badges = {
  pending: <Badge tone="escalate">On its way</Badge>,
  delivered: <Badge tone="allow">Delivered</Badge>,
  failed: <Badge tone="deny">Failed</Badge>,
} as const satisfies Readonly<Record<Delivery['status'], unknown>>;

const columns: readonly Column<Delivery>[] = [
  { head: 'Event', kind: 'row', cell: ({ type }) => type },
  { head: 'Status', cell: ({ status }) => badges[status] },
  { head: 'Attempts', kind: 'number', cell: ({ attempts }) => attempts },
  {
    head: 'Last reply',
    cell: ({ last_status: status, last_reason: reason }) => (
      <>
        {status ?? ''} {reason !== null && <PlainText text={reason} isShort />}
      </>
    ),
  },
  { head: 'Created', class: 'table-when', cell: ({ created_at: at }) => <Ago at={at} /> },
  { head: 'Next attempt', class: 'table-when', cell: ({ next_at: at }) => at !== null && <Ago at={at} /> },
];
