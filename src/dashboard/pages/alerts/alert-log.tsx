// The alerts that are on now, and past alerts.

import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { usePlace } from '../../navigation/navigation.ts';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { Pager } from '../../parts/layout/pager.tsx';
import { spanText } from '../../parts/layout/span-text.ts';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago, At } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Alert = Reply<'listAlerts'>['items'][number];

export function AlertLog() {
  return (
    <>
      <OnNow />
      <Past />
    </>
  );
}

function OnNow() {
  const { data, problem, reload } = useResource('listActiveAlerts', {}, ['alerts']);
  return (
    <Section title="On now">
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading lines={3} />}
      {data?.items.length === 0 && (
        <Empty icon="allow" title="Nothing is out of the ordinary">
          The rules say what would be.
        </Empty>
      )}
      <ul class="alert-list">
        {data?.items.map((alert) => (
          <li key={alert.id}>
            <strong class="alert-head">
              <PlainText text={alert.name} isShort />
            </strong>
            <span>{alert.text}</span>
            <span class="alert-soft">
              Began <Ago at={alert.started_at} /> · <a href={alert.page}>Look at it</a>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Past() {
  const cursor = usePlace().query.get('cursor') ?? undefined;
  const { data, problem, isLoading, reload } = useResource('listAlerts', { query: { limit: '20', cursor } }, [
    'alerts',
  ]);
  return (
    <Section title="History" actions={<Pager nextCursor={data?.next_cursor ?? null} />}>
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading lines={3} />}
      {data?.items.length === 0 && <p>No alert in 90 days.</p>}
      {data !== null && data.items.length > 0 && (
        <TableScroll label="History of alerts" isOld={isLoading}>
          <table class="table table-stack">
            <thead>
              <tr>
                <th scope="col">Alert</th>
                <th scope="col">What happened</th>
                <th scope="col">Began</th>
                <th scope="col">Lasted</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((alert) => (
                <tr key={alert.id}>
                  <th scope="row">
                    <PlainText text={alert.name} isShort />
                  </th>
                  <td data-label="What happened">{alert.text}</td>
                  <td data-label="Began">
                    <At at={alert.started_at} />
                  </td>
                  <td data-label="Lasted">{lastedText(alert)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableScroll>
      )}
    </Section>
  );
}

function lastedText({ started_at: began, ended_at: over }: Alert): string {
  return over === null ? 'on now' : spanText(Date.parse(over) - Date.parse(began));
}
