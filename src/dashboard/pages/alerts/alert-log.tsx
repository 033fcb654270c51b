// The active alerts, and past alerts.

import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useAddress } from '../../navigation/navigation.ts';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { spanText } from '../../parts/layout/span-text.ts';
import { Ago, At } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Alert = Reply<'listAlerts'>['items'][number];

export function AlertLog() {
  return (
    <>
      <ActiveAlerts />
      <Past />
    </>
  );
}

function ActiveAlerts() {
  return (
    <ListSection
      title="Active alerts"
      list={useResource('listActiveAlerts', {}, ['alerts'])}
      lines={3}
      empty={
        <Empty icon="allow" title="No active alerts">
          <p>
            The <a href="/alerts?tab=rules">rules</a> define when an alert begins.
          </p>
        </Empty>
      }
    >
      {(alerts) => (
        <ul class="alert-list">
          {alerts.map((alert) => (
            <li key={alert.id}>
              <strong class="alert-head">
                <PlainText text={alert.name} isShort />
              </strong>
              <span>{alert.text}</span>
              <span class="alert-soft">
                Began <Ago at={alert.started_at} /> · <a href={alert.page}>View details</a>
              </span>
            </li>
          ))}
        </ul>
      )}
    </ListSection>
  );
}

function Past() {
  const cursor = useAddress().query.get('cursor') ?? undefined;
  return (
    <ListSection
      title="History"
      list={useResource('listAlerts', { query: { limit: '20', cursor } }, ['alerts'])}
      lines={3}
      empty={<p>No alert in 90 days.</p>}
    >
      {(alerts, isOld) => (
        <DataTable
          label="History of alerts"
          columns={pastColumns}
          rows={alerts}
          rowKey={({ id }) => id}
          isOld={isOld}
        />
      )}
    </ListSection>
  );
}

const pastColumns: readonly Column<Alert>[] = [
  { head: 'Alert', kind: 'row', cell: ({ name }) => <PlainText text={name} isShort /> },
  { head: 'What happened', cell: ({ text }) => text },
  { head: 'Began', cell: ({ started_at: at }) => <At at={at} /> },
  { head: 'Lasted', cell: lastedText },
];

function lastedText({ started_at: began, ended_at: over }: Alert): string {
  return over === null ? 'active' : spanText(Date.parse(over) - Date.parse(began));
}
