// What is asked of the queue: each filter and the order are parameters of the address.

import { useState } from 'preact/hooks';
import type { Reply } from '../../api/client.ts';
import type { Operations } from '../../api/types.ts';
import { usePlace } from '../../navigation/navigation.ts';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/form/filters.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { agentName } from '../requests/request-table.tsx';
import { groupWords, ownerGroup } from '../requests/timeline-events.ts';

const queueFilters = [
  'text',
  'kind',
  'group',
  'agent',
  'action',
  'older_than',
  'assigned',
  'snoozed',
] as const;
/** Those that are asked for rarely. */
const folded = queueFilters.filter((name) => name !== 'text');
type QueueQuery = NonNullable<Operations['listApprovals']['query']>;

/** What the address asks; a value that the service does not know is its to refuse, with words. */
export function queueQuery(query: URLSearchParams): QueueQuery {
  const names = [...queueFilters, 'order'];
  return Object.fromEntries(names.flatMap((name) => [...(query.get(name) ? [[name, query.get(name)]] : [])]));
}

export function isFiltered(query: URLSearchParams): boolean {
  return queueFilters.some((name) => query.get(name));
}

/** The address's parameters with which nothing is left out. */
export const noQueueFilter = Object.fromEntries(queueFilters.map((name) => [name, null]));

interface QueueFiltersProps {
  readonly items: Reply<'listApprovals'>['items'];
  /** Of the person. */
  readonly groups: readonly string[];
}

/** One searches and orders at once; the rest is shown where somebody asks for it, or some of it is set. */
export function QueueFilters({ items, groups }: QueueFiltersProps) {
  const { query } = usePlace();
  const [isAsked, setAsked] = useState(false);
  const isOpen = isAsked || folded.some((name) => query.get(name));
  return (
    <div class="approvals-filters">
      <Filters>
        <TextFilter name="text" label="Search" />
        <ChoiceFilter name="order" label="Order" any="Nearest deadline" choices={orders} />
        <div>
          <Button icon="down" aria-expanded={isOpen} onClick={() => setAsked(!isOpen)}>
            More filters
          </Button>
        </div>
      </Filters>
      {isOpen && <MoreFilters items={items} groups={groups} />}
    </div>
  );
}

function MoreFilters({ items, groups }: QueueFiltersProps) {
  const agents = distinct(items.map((item) => agentName(item)));
  const actions = distinct(items.map(({ action_key }) => action_key));
  return (
    <Filters>
      <ChoiceFilter name="kind" label="Kind" any="Any" choices={kinds} />
      <ChoiceFilter
        name="group"
        label="Asked of"
        any="Anyone"
        choices={[...groups, ownerGroup].map((group) => [group, groupWords(group)])}
      />
      <ChoiceFilter name="agent" label="Agent" any="Any" choices={agents.map((one) => [one, one])} />
      <ChoiceFilter name="action" label="Action" any="Any" choices={actions.map((one) => [one, one])} />
      <ChoiceFilter name="older_than" label="Waiting for" any="Any time" choices={ages} />
      <ChoiceFilter name="assigned" label="Assigned to" any="Anyone" choices={assignees} />
      <ChoiceFilter name="snoozed" label="Put off" any="No" choices={[['yes', 'Yes, by you']]} />
    </Filters>
  );
}

const kinds = [
  ['approval', 'Approvals'],
  ['step_up', 'Step-ups'],
] as const;

/** In seconds. */
const ages = [
  ['600', 'Over 10 minutes'],
  ['3600', 'Over an hour'],
  ['14400', 'Over 4 hours'],
  ['86400', 'Over a day'],
] as const;

const assignees = [
  ['me', 'You'],
  ['others', 'Somebody else'],
  ['nobody', 'Nobody'],
] as const;

const orders = [
  ['oldest', 'Oldest'],
  ['risk', 'Highest risk'],
] as const;

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
