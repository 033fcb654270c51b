// The outcome of a webhook's messages of the last week. While a message is at its first attempt, the list is
// reloaded every two seconds.

import { useEffect } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { usePlace } from '../../navigation/navigation.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Pager } from '../../parts/layout/pager.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Delivery = Reply<'listDeliveries'>['items'][number];

const lookAgainMs = 2_000;

export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { query } = usePlace();
  const cursor = query.get('deliveries') ?? undefined;
  const asked = { params: { id: webhookId }, query: { limit: '20', cursor } };
  const { data, problem, reload } = useResource('listDeliveries', asked, ['requests', 'approvals']);
  const isOnItsWay =
    data?.items.some(({ status, attempts }) => status === 'pending' && attempts <= 1) === true;
  useEffect(() => {
    if (!isOnItsWay) return;
    const timer = setInterval(reload, lookAgainMs);
    return () => clearInterval(timer);
  }, [isOnItsWay, reload]);
  return (
    <div>
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading lines={3} />}
      {data?.items.length === 0 && <p class="alert-soft">No message in the last week.</p>}
      {data !== null && data.items.length > 0 && <DeliveryTable deliveries={data.items} />}
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

function DeliveryTable({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  return (
    <TableScroll label="Deliveries">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Attempts
            </th>
            <th scope="col">Last reply</th>
            <th scope="col">Created</th>
            <th scope="col">Next attempt</th>
          </tr>
        </thead>
        <tbody>
          {deliveries.map((one) => (
            <tr key={one.id}>
              <td>{one.type}</td>
              <td>{badges[one.status]}</td>
              <td class="number">{one.attempts}</td>
              <td>
                {one.last_status ?? ''}{' '}
                {one.last_reason !== null && <PlainText text={one.last_reason} isShort />}
              </td>
              <td class="access-when">
                <Ago at={one.created_at} />
              </td>
              <td class="access-when">{one.next_at !== null && <Ago at={one.next_at} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}
