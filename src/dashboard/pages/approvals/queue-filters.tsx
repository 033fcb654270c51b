// The filters and the order of the inbox; each is a parameter of the address.

import { useState } from 'preact/hooks';
import type { Operations, Reply } from '../../../api/operations.ts';
import { useAddress } from '../../navigation/navigation.ts';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/form/filters.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { groupLabel, ownerGroup } from '../requests/person-name.ts';
import { agentName } from '../requests/request-table.tsx';

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
/** Filters that are rarely used and hidden at first. */
const folded = queueFilters.filter((name) => name !== 'text');
type QueueQuery = NonNullable<Operations['listApprovals']['query']>;

/**
 * The query from the address. A value that the service does not know is passed on, so that the service
 * refuses it with an explanation.
 */
export function queueQuery(query: URLSearchParams): QueueQuery {
  const names = [...queueFilters, 'order'];
  return Object.fromEntries(names.flatMap((name) => [...(query.get(name) ? [[name, query.get(name)]] : [])]));
}

export function isFiltered(query: URLSearchParams): boolean {
  return queueFilters.some((name) => query.get(name));
}

/** Parameters of the address that remove all filters. */
export const noQueueFilter = Object.fromEntries(queueFilters.map((name) => [name, null]));

interface QueueFiltersProps {
  readonly items: Reply<'listApprovals'>['items'];
  /** Approval groups of the person. */
  readonly groups: readonly string[];
}

/** Search and order are always shown; the other filters are shown on demand, or when any of them is set. */
export function QueueFilters({ items, groups }: QueueFiltersProps) {
  const { query } = useAddress();
  const [isAsked, setAsked] = useState(false);
  const isOpen = isAsked || folded.some((name) => query.get(name));
  return (
    <div class="approvals-filters">
      <Filters label="Inbox">
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
    <Filters label="More of the inbox">
      <ChoiceFilter name="kind" label="Kind" any="Any" choices={kinds} />
      <ChoiceFilter
        name="group"
        label="Asked of"
        any="Anyone"
        choices={[...groups, ownerGroup].map((group) => [group, groupLabel(group)])}
      />
      <ChoiceFilter name="agent" label="Agent" any="Any" choices={agents.map((one) => [one, one])} />
      <ChoiceFilter name="action" label="Action" any="Any" choices={actions.map((one) => [one, one])} />
      <ChoiceFilter name="older_than" label="Pending for" any="Any time" choices={ages} />
      <ChoiceFilter name="assigned" label="Assigned to" any="Anyone" choices={assignees} />
      <ChoiceFilter name="snoozed" label="Snoozed" any="No" choices={[['yes', 'Yes, by you']]} />
    </Filters>
  );
}

const kinds = [
  ['approval', 'Approvals'],
  ['step_up', 'Step-ups'],
] as const;

/** Ages in seconds. */
const ages = [
  ['600', 'Over 10 minutes'],
  ['3600', 'Over an hour'],
  ['14400', 'Over 4 hours'],
  ['86400', 'Over a day'],
] as const;

const assignees = [
  ['me', 'You'],
  ['others', 'Someone else'],
  ['nobody', 'Nobody'],
] as const;

const orders = [
  ['oldest', 'Oldest'],
  ['risk', 'Highest risk'],
] as const;

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
