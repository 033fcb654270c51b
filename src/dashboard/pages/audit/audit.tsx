// The audit page: what people changed, filtered by the address; whether the chain of records is whole; and a
// download of all records.

import { addressOf } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { usePlace } from '../../navigation/navigation.ts';
import { ChoiceFilter, DayFilter, Filters, TextFilter } from '../../parts/form/filters.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame, Section } from '../../parts/layout/page.tsx';
import { Pager } from '../../parts/layout/pager.tsx';
import './audit.css';
import { ChainStatus } from './chain-status.tsx';
import { ChangeList } from './change-list.tsx';
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
  const { data, problem, isLoading, reload } = useResource('listAuditLog', { query: asked }, [
    'agents',
    'people',
    'kill_switches',
  ]);
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
      <ProblemNote problem={problem} onRetry={reload} />
      <Section title="Changes" actions={<Pager nextCursor={data?.next_cursor ?? null} />}>
        {data === null && problem === null && <Loading />}
        {data?.items.length === 0 && <NoChanges isFiltered={isFiltered} />}
        {data !== null && data.items.length > 0 && <ChangeList changes={data.items} isOld={isLoading} />}
      </Section>
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
