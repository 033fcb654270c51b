// The list of proposals; its filter is in the address.

import { useResource } from '../../api/resource.ts';
import { useAddress } from '../../navigation/navigation.ts';
import { ChoiceFilter, Filters } from '../../parts/form/filters.tsx';
import { Badge } from '../../parts/layout/badge.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { ClassificationBadge, type Proposal } from '../../parts/policy/classification.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { statusWords } from './status-words.ts';

const statuses = ['pending', 'accepted', 'rejected', 'withdrawn'] as const;

export default function Proposals() {
  const { query } = useAddress();
  const status = statuses.find((one) => one === query.get('status'));
  const list = useResource('listProposals', { query: { status, cursor: query.get('cursor') ?? undefined } }, [
    'policies',
  ]);
  return (
    <PageFrame
      title="Proposals"
      lead="Changes of the policies that people and agents ask for, with what each would mean."
      actions={<ButtonLink href="/playground">Playground</ButtonLink>}
    >
      <Filters label="Proposals">
        <ChoiceFilter
          name="status"
          label="Status"
          any="Any"
          choices={statuses.map((one) => [one, statusWords[one].word] as const)}
        />
      </Filters>
      <ListSection
        title="All proposals"
        list={list}
        empty={<NoProposals isFiltered={status !== undefined} />}
      >
        {(items, isOld) => (
          <DataTable
            label="Proposals"
            columns={columns}
            rows={items}
            rowKey={({ id }) => id}
            narrow="brief"
            isOld={isOld}
          />
        )}
      </ListSection>
    </PageFrame>
  );
}

function NoProposals({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty icon="search" title="No proposals with this status">
        <ButtonLink href="/proposals">Clear filters</ButtonLink>
      </Empty>
    );
  return (
    <Empty icon="proposal" title="No proposals">
      <p>
        Change a file in the <a href="/playground">playground</a>, and propose the draft. Agents can propose
        changes if the setting <code>proposals.agents</code> is on.
      </p>
    </Empty>
  );
}

const columns: readonly Column<Proposal>[] = [
  {
    head: 'Reason',
    kind: 'row',
    cell: ({ id, reason }) => (
      <a href={`/proposals/${id}`}>
        <PlainText text={reason} isShort />
      </a>
    ),
  },
  { head: 'Meaning', cell: ({ classification }) => <ClassificationBadge of={classification} /> },
  {
    head: 'Status',
    cell: ({ status }) => <Badge tone={statusWords[status].tone}>{statusWords[status].word}</Badge>,
  },
  { head: 'Proposed by', cell: ({ proposed_by: by }) => <PlainText text={by.name} isShort /> },
  {
    head: 'Files',
    class: 'brief-hidden',
    cell: ({ files }) => (files.length === 1 ? <code>{files[0]}</code> : `${files.length} files`),
  },
  { head: 'When', class: 'table-when', cell: ({ created_at: at }) => <Ago at={at} /> },
];
