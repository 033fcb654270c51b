// The audit page: what people changed, or who approved what, filtered by the address; whether the chain of records is
// whole; and downloads.

import { addressOf } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useAddress } from '../../navigation/navigation.ts';
import { ChoiceFilter, DayFilter, Filters, TextFilter } from '../../parts/form/filters.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import './audit.css';
import { approvalColumns } from './approval-columns.tsx';
import { ChainStatus } from './chain-status.tsx';
import { changeColumns } from './change-columns.tsx';
import { changeKindLabels } from './change-text.ts';
import { startOfDay } from './days.ts';
import { RecordStream } from './record-stream.tsx';

/** Each change has many parts, so longer pages would be slow to show. */
const pageSize = '20';
/** The kinds of changes, and people's votes on requests. */
const whatChoices = [['approvals', 'Approvals of requests'], ...changeKindLabels] as const;
const filterNames = ['who', 'what', 'subject', 'from', 'to'] as const;

export default function Audit() {
  const { query } = useAddress();
  const times = { from: startOfDay(query.get('from')), to: startOfDay(query.get('to'), 1) };
  const isApprovals = query.get('what') === 'approvals';
  return (
    <PageFrame
      title="Audit"
      lead="Every management change and who made it, every approval and who gave it, with proof that no record was altered since."
      actions={
        <ButtonLink href={addressOf('exportRecords', { query: times })} icon="download" download>
          Export all records
        </ButtonLink>
      }
    >
      <ChainStatus />
      <RecordStream />
      <Filters label="Audit">
        <TextFilter name="who" label="Who" />
        <ChoiceFilter name="what" label="What" any="Anything" choices={whatChoices} />
        {!isApprovals && <TextFilter name="subject" label="Id of the subject" />}
        <DayFilter name="from" label="From" />
        <DayFilter name="to" label="Until (inclusive)" />
      </Filters>
      {isApprovals ? <Approvals times={times} /> : <Changes times={times} />}
    </PageFrame>
  );
}

interface ListProps {
  readonly times: { readonly from: string | undefined; readonly to: string | undefined };
}

function Changes({ times }: ListProps) {
  const { query } = useAddress();
  const parameter = (name: string): string | undefined => query.get(name) ?? undefined;
  const pageQuery = {
    who: parameter('who'),
    what: parameter('what'),
    subject: parameter('subject'),
    cursor: parameter('cursor'),
    limit: pageSize,
    ...times,
  };
  const list = useResource('listAuditLog', { query: pageQuery }, ['agents', 'people', 'kill_switches']);
  return (
    <ListSection title="Changes" list={list} empty={<NoChanges isFiltered={isFiltered(query)} />}>
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
  );
}

/** Who approved or rejected what. */
function Approvals({ times }: ListProps) {
  const { query } = useAddress();
  const who = query.get('who') ?? undefined;
  const list = useResource(
    'listApprovalLog',
    { query: { who, cursor: query.get('cursor') ?? undefined, limit: '50', ...times } },
    ['approvals'],
  );
  return (
    <ListSection
      title="Approvals"
      actions={
        <ButtonLink
          href={addressOf('exportApprovalLog', { query: { who, ...times } })}
          icon="download"
          download
        >
          CSV
        </ButtonLink>
      }
      list={list}
      empty={<NoChanges isFiltered={isFiltered(query)} />}
    >
      {(votes, isOld) => (
        <DataTable
          label="List of approvals"
          columns={approvalColumns}
          rows={votes}
          rowKey={({ sequence }) => sequence}
          isOld={isOld}
        />
      )}
    </ListSection>
  );
}

function isFiltered(query: URLSearchParams): boolean {
  return filterNames.some((name) => query.has(name) && query.get(name) !== 'approvals');
}

function NoChanges({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) return <Empty icon="audit" title="Nothing yet" />;
  return (
    <Empty icon="search" title="Nothing matches these filters">
      <ButtonLink href="/audit">Clear filters</ButtonLink>
    </Empty>
  );
}
