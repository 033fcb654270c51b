// The list of agents; its filters are in the address.

import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant, usePerson } from '../../api/session.tsx';
import { usePlace } from '../../navigation/navigation.ts';
import { riskTiers } from '../../parts/form/agent-fields.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/form/filters.tsx';
import { Marks } from '../../parts/form/roles.tsx';
import { StatusBadge } from '../../parts/layout/badge.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame, Section } from '../../parts/layout/page.tsx';
import { Pager } from '../../parts/layout/pager.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import './agents.css';

type Agent = Reply<'listAgents'>['items'][number];

const statuses = ['active', 'disabled', 'revoked'] as const;
const filterNames = ['text', 'status', 'tier', 'owner'] as const;

export default function Agents() {
  const { query } = usePlace();
  const mayRegister = useGrant('agents.register') === 'yes';
  const given = (name: string): string | undefined => query.get(name) ?? undefined;
  const asked = {
    text: given('text'),
    owner: given('owner'),
    cursor: given('cursor'),
    status: statuses.find((one) => one === query.get('status')),
    tier: riskTiers.find((one) => one === query.get('tier')),
  };
  const { data, problem, isLoading, reload } = useResource('listAgents', { query: asked }, ['agents']);
  const isFiltered = filterNames.some((name) => query.has(name));
  return (
    <PageFrame
      title="Agents"
      lead="Agents that ask for decisions, their control owners and their status."
      actions={
        mayRegister && (
          <ButtonLink look="primary" icon="plus" href="/agents/new">
            Register Agent
          </ButtonLink>
        )
      }
    >
      <AgentFilters />
      <ProblemNote problem={problem} onRetry={reload} />
      <Section title="All agents" actions={<Pager nextCursor={data?.next_cursor ?? null} />}>
        {data === null ? (
          problem === null && <Loading />
        ) : data.items.length === 0 ? (
          <NoAgents isFiltered={isFiltered} />
        ) : (
          <AgentTable agents={data.items} isOld={isLoading} />
        )}
      </Section>
    </PageFrame>
  );
}

function AgentFilters() {
  const { email } = usePerson();
  const same = (words: readonly string[]) => words.map((word) => [word, word] as const);
  return (
    <Filters>
      <TextFilter name="text" label="Name, control owner, tag or id" />
      <ChoiceFilter name="status" label="Status" any="any" choices={same(statuses)} />
      <ChoiceFilter name="tier" label="Risk tier" any="any" choices={same(riskTiers)} />
      <ChoiceFilter name="owner" label="Control owner" any="anyone" choices={[[email, 'me']]} />
    </Filters>
  );
}

function NoAgents({ isFiltered }: { readonly isFiltered: boolean }) {
  const { path } = usePlace();
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
        ? 'Register one: it gets a key of its own, and asks for a decision before it acts.'
        : 'Agents that you are the control owner of are listed here.'}
    </Empty>
  );
}

function AgentTable({ agents, isOld }: { readonly agents: readonly Agent[]; readonly isOld: boolean }) {
  return (
    <TableScroll label="Agents" isOld={isOld}>
      <table class="table table-stack table-brief agents-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Status</th>
            <th scope="col">Risk tier</th>
            <th scope="col">Control owner</th>
            <th scope="col">Tags</th>
            <th scope="col">Signs</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <AgentRow key={agent.id} agent={agent} />
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function AgentRow({ agent }: { readonly agent: Agent }) {
  const { id, name, status, risk_tier: tier, control_owner: owner, tags, signing, changed_at: at } = agent;
  return (
    <tr>
      <th scope="row">
        <a href={`/agents/${id}`}>
          <bdi>{name}</bdi>
        </a>
      </th>
      <td data-label="Status">
        <StatusBadge status={status} />
      </td>
      <td data-label="Risk tier">
        {tier}
        <span class="brief-word"> risk</span>
      </td>
      <td data-label="Control owner">
        <bdi>{owner}</bdi>
      </td>
      <td data-label="Tags">
        <Marks words={tags} />
      </td>
      <td data-label="Signs" class="brief-hidden">
        {signing}
      </td>
      <td data-label="Changed" class="agents-when brief-hidden">
        <Ago at={at} />
      </td>
    </tr>
  );
}
