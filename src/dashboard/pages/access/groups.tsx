// The groups whose approval the active policies ask for: who is in each, and which have too few people.

import { useResource } from '../../api/resource.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { FillGroup, type Group } from '../../parts/people/group-gap.tsx';
import type { StandIn } from '../../parts/people/stand-ins.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

const namedMax = 5;

export function Groups() {
  const list = useResource('listGroups', {}, ['people', 'policies', 'approvals']);
  const standIns = useResource('listStandIns', {}, ['people']).data?.items ?? [];
  return (
    <ListSection
      title="Groups"
      lead={<p class="access-soft">The groups that the active policies ask for approval.</p>}
      list={list}
      lines={2}
      empty={<p class="access-soft">No policy asks a group for approval.</p>}
    >
      {(groups, isOld) => (
        <DataTable
          label="Approval groups"
          columns={columnsOf(standIns)}
          rows={groups}
          rowKey={({ name }) => name}
          narrow="brief"
          isOld={isOld}
        />
      )}
    </ListSection>
  );
}

function columnsOf(standIns: readonly StandIn[]): readonly Column<Group>[] {
  return [
    { head: 'Group', kind: 'row', cell: ({ name }) => <bdi>{name}</bdi> },
    {
      head: 'Title',
      class: 'brief-hidden',
      cell: ({ title }) => <PlainText text={title} isShort />,
    },
    { head: 'Members', cell: (group) => <Members group={group} standIns={standIns} /> },
    { head: 'Needed', cell: (group) => <Needed group={group} /> },
    {
      head: 'By chat',
      cell: ({ chat_max_risk: maxRisk }) => (maxRisk === null ? 'never' : `up to risk ${maxRisk}`),
    },
    {
      head: 'Requests',
      cell: ({ pending }) =>
        pending === null || pending === 0 ? 'none' : `${pending.toLocaleString()} pending`,
    },
    { head: 'Actions', kind: 'actions', cell: (group) => <Actions group={group} /> },
  ];
}

interface MembersProps {
  readonly group: Group;
  readonly standIns: readonly StandIn[];
}

function Members({ group: { name: group, members: all, has }, standIns }: MembersProps) {
  const members = all ?? [];
  const standInOf = (id: string): string | undefined =>
    standIns.find((one) => one.group === group && one.person.id === id && one.confirmed_at !== null)?.stand_in
      .name;
  if (has === 0) return <span class="access-soft">nobody</span>;
  const named = members.slice(0, namedMax);
  return (
    <>
      {named.map(({ id, name }, at) => (
        <span key={id}>
          {at > 0 && ', '}
          <a href={`/access?person=${id}`}>
            <PlainText text={name} isShort />
          </a>
          <StandInName name={standInOf(id)} />
        </span>
      ))}
      {has > named.length && ` and ${has - named.length} more`}
    </>
  );
}

function StandInName({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <span class="access-soft">
      {' '}
      (stand-in: <PlainText text={name} isShort />)
    </span>
  );
}

function Needed({ group: { needs, has, owners_needed: owners } }: { readonly group: Group }) {
  const text = `needs ${needs}, has ${has}`;
  if (has < needs)
    return (
      <Badge tone="deny" icon="warning">
        {text}
      </Badge>
    );
  if (owners === null || owners.length === 0) return <Badge tone="allow">{text}</Badge>;
  return (
    <>
      <Badge tone="escalate" icon="warning">
        {text}
      </Badge>{' '}
      <span class="access-soft">
        {has - 1} for agents of <PlainText text={owners.map(({ name }) => name).join(' or ')} isShort />
      </span>
    </>
  );
}

function Actions({ group }: { readonly group: Group }) {
  return (
    <div class="form-actions access-group-actions">
      <FillGroup group={group} />
    </div>
  );
}
