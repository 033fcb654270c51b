// The plans that the person may see, newest first, all or those of one state.

import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useAddress } from '../../navigation/navigation.ts';
import { ChoiceFilter, Filters } from '../../parts/form/filters.tsx';
import { Badge } from '../../parts/layout/badge.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { At } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Plan = Reply<'listPlans'>['items'][number];

export default function PlansPage() {
  const { query } = useAddress();
  const cursor = query.get('cursor') ?? undefined;
  const state = stateChoices.find(([value]) => value === query.get('state'))?.[0];
  const list = useResource('listPlans', { query: { cursor, state } }, ['approvals', 'requests']);
  return (
    <PageFrame
      title="Plans"
      lead="What agents want to do, step by step, before they do it."
      actions={<ButtonLink href="/approvals">Inbox</ButtonLink>}
    >
      <Filters label="Plans">
        <ChoiceFilter name="state" label="State" any="Any" choices={stateChoices} />
      </Filters>
      <ListSection
        title={state === undefined ? 'All plans' : 'Plans found'}
        list={list}
        empty={
          <Empty icon="inbox" title={state === undefined ? 'No plans' : 'No plans in this state'}>
            <p>
              An agent can tell the steps of a task in advance, so that people approve them together:{' '}
              <code>POST /v1/plans</code>.
            </p>
          </Empty>
        }
      >
        {(items, isOld) => (
          <DataTable
            label="Plans"
            columns={columns}
            rows={items}
            rowKey={({ plan_id }) => plan_id}
            isOld={isOld}
          />
        )}
      </ListSection>
    </PageFrame>
  );
}

const stateChoices = [
  ['pending', 'Pending'],
  ['decided', 'Decided'],
  ['preview', 'Preview'],
] as const;

const stateWords: Readonly<Record<string, string>> = Object.fromEntries(stateChoices);

const columns: readonly Column<Plan>[] = [
  {
    head: 'Plan',
    kind: 'row',
    cell: ({ plan_id: id, goal, steps }) => (
      <a href={`/plans/${id}`}>
        {goal === null ? `Plan of ${stepsText(steps)}` : <PlainText text={goal} isShort />}
      </a>
    ),
  },
  {
    head: 'Agent',
    cell: ({ agent, agent_id: id }) => (
      <a href={`/agents/${id}`}>
        <bdi>{agent}</bdi>
      </a>
    ),
  },
  { head: 'Steps', kind: 'number', cell: ({ steps }) => steps },
  { head: 'Sum', cell: ({ sums }) => sums.join(', ') },
  { head: 'Created', class: 'table-when', cell: ({ created_at: at }) => <At at={at} /> },
  { head: 'State', cell: (plan) => <State plan={plan} /> },
];

function stepsText(steps: number): string {
  return `${steps} ${steps === 1 ? 'step' : 'steps'}`;
}

function State({ plan: { state, pending } }: { readonly plan: Plan }) {
  const word = stateWords[state] ?? state;
  return (
    <Badge tone={state === 'pending' ? 'escalate' : 'unknown'}>
      {state === 'pending' ? `${word}: ${stepsText(pending)}` : word}
    </Badge>
  );
}
