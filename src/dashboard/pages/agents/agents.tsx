// The list of agents; its filters are in the address.

import { useMemo } from 'preact/hooks';
import { type KillSwitch, killSwitchFor } from '../../../api/applicable-kill-switch.ts';
import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant, usePerson } from '../../api/session.tsx';
import { useAddress } from '../../navigation/navigation.ts';
import { riskTiers } from '../../parts/form/agent-fields.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/form/filters.tsx';
import { Marks } from '../../parts/form/roles.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { OwnerName } from '../../parts/people/owner-name.tsx';
import { AgentStatus, StopReason, useKillSwitches } from '../../parts/policy/kill-switches.tsx';
import './agents.css';

type Agent = Reply<'listAgents'>['items'][number];

const statuses = ['active', 'disabled', 'revoked'] as const;
const filterNames = ['text', 'status', 'tier', 'owner'] as const;

export default function Agents() {
  const { query } = useAddress();
  const mayRegister = useGrant('agents.register') === 'yes';
  const parameter = (name: string): string | undefined => query.get(name) ?? undefined;
  const pageQuery = {
    text: parameter('text'),
    owner: parameter('owner'),
    cursor: parameter('cursor'),
    status: statuses.find((one) => one === query.get('status')),
    tier: riskTiers.find((one) => one === query.get('tier')),
  };
  const list = useResource('listAgents', { query: pageQuery }, ['agents']);
  const killSwitches = useKillSwitches().data?.items;
  const columns = useMemo(() => columnsOf(killSwitches ?? []), [killSwitches]);
  const isFiltered = filterNames.some((name) => query.has(name));
  return (
    <PageFrame
      title="Agents"
      lead="Agents that request decisions, their control owners and their status."
      actions={
        mayRegister && (
          <ButtonLink variant="primary" icon="plus" href="/agents/new">
            Register an agent
          </ButtonLink>
        )
      }
    >
      <AgentFilters />
      <ListSection title="All agents" list={list} empty={<NoAgents isFiltered={isFiltered} />}>
        {(agents, isOld) => (
          <DataTable
            label="Agents"
            columns={columns}
            rows={agents}
            rowKey={({ id }) => id}
            narrow="brief"
            isOld={isOld}
          />
        )}
      </ListSection>
    </PageFrame>
  );
}

function AgentFilters() {
  const { email } = usePerson();
  const same = (words: readonly string[]) => words.map((word) => [word, word] as const);
  return (
    <Filters label="Agents">
      <TextFilter name="text" label="Search" placeholder="Name, owner, tag" />
      <ChoiceFilter name="status" label="Status" any="Any" choices={same(statuses)} />
      <ChoiceFilter name="tier" label="Risk tier" any="Any" choices={same(riskTiers)} />
      <ChoiceFilter name="owner" label="Control owner" any="Anyone" choices={[[email, 'You']]} />
    </Filters>
  );
}

function NoAgents({ isFiltered }: { readonly isFiltered: boolean }) {
  const { path } = useAddress();
  const mayRegister = useGrant('agents.register') === 'yes';
  if (isFiltered) {
    return (
      <Empty icon="search" title="No agents match these filters">
        <ButtonLink href={path}>Clear filters</ButtonLink>
      </Empty>
    );
  }
  return (
    <Empty icon="agent" title="No agent yet">
      {mayRegister
        ? 'Register one: it gets its own key, and requests a decision before it acts.'
        : 'Agents for which you are the control owner are listed here.'}
    </Empty>
  );
}

const columnsOf = (killSwitches: readonly KillSwitch[]): readonly Column<Agent>[] => [
  {
    head: 'Name',
    kind: 'row',
    cell: ({ id, name }) => (
      <a href={`/agents/${id}`}>
        <bdi>{name}</bdi>
      </a>
    ),
  },
  {
    head: 'Status',
    cell: (agent) => {
      const stop = agent.status === 'active' ? killSwitchFor(agent, killSwitches) : null;
      return (
        <div class="agents-status">
          <AgentStatus status={agent.status} stop={stop} />
          {stop !== null && (
            <span>
              <StopReason stop={stop} />
            </span>
          )}
        </div>
      );
    },
  },
  {
    head: 'Risk tier',
    cell: ({ risk_tier: tier }) => (
      <>
        {tier}
        <span class="brief-word"> risk</span>
      </>
    ),
  },
  {
    head: 'Control owner',
    cell: ({ control_owner: address, control_owner_name: name }) => (
      <OwnerName address={address} name={name} />
    ),
  },
  { head: 'Tags', cell: ({ tags }) => <Marks words={tags} /> },
  { head: 'Signs', class: 'brief-hidden', cell: ({ signing }) => signing },
  { head: 'Changed', class: 'table-when brief-hidden', cell: ({ changed_at: at }) => <Ago at={at} /> },
];
