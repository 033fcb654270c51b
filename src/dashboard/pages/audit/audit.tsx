// The audit page: what people changed, filtered by the address; whether the chain of records is whole; and a
// download of all records.

import { addressOf } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { usePlace } from '../../navigation/navigation.ts';
import { ChoiceFilter, DayFilter, Filters, TextFilter } from '../../parts/form/filters.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import './audit.css';
import { ChainStatus } from './chain-status.tsx';
import { changeColumns } from './change-columns.tsx';
import { kindsOfChange } from './change-words.ts';
import { startOfDay } from './days.ts';

/** Each change has many parts, so longer pages would be slow to show. */
const pageSize = '20';
const filterNames = ['who', 'what', 'subject', 'from', 'to'] as const;

export default function Audit() {
  const { query } = usePlace();
  const given = (name: string): string | undefined => query.get(name) ?? undefined;
  const times = { from: startOfDay(query.get('from')), to: startOfDay(query.get('to'), 1) };
  const asked = {
    who: given('who'),
    what: given('what'),
    subject: given('subject'),
    cursor: given('cursor'),
    limit: pageSize,
    ...times,
  };
  const list = useResource('listAuditLog', { query: asked }, ['agents', 'people', 'kill_switches']);
  const isFiltered = filterNames.some((name) => query.has(name));
  return (
    <PageFrame
      title="Audit"
      lead="Every management change and who made it, with proof that no record was altered since."
      actions={
        <ButtonLink href={addressOf('exportRecords', { query: times })} icon="download" download>
          Export all records
        </ButtonLink>
      }
    >
      <ChainStatus />
      <Filters>
        <TextFilter name="who" label="Who" />
        <ChoiceFilter name="what" label="What" any="anything" choices={kindsOfChange} />
        <TextFilter name="subject" label="Id of the subject" />
        <DayFilter name="from" label="From" />
        <DayFilter name="to" label="Until (inclusive)" />
      </Filters>
      <ListSection title="Changes" list={list} empty={<NoChanges isFiltered={isFiltered} />}>
        {(changes, isOld) => (
          <DataTable
            label="List of changes"
            columns={changeColumns}
            rows={changes}
            rowKey={({ sequence }) => sequence}
            isOld={isOld}
            class="audit-table"
          />
        )}
      </ListSection>
    </PageFrame>
  );
}

function NoChanges({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) return <Empty icon="audit" title="No change yet" />;
  return (
    <Empty icon="search" title="No changes match these filters">
      <ButtonLink href="/audit">Clear filters</ButtonLink>
    </Empty>
  );
}
