// The filters of the list, set by controls and kept in the address; each filter that is set is shown as a
// chip.

import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { setQuery } from '../../navigation/navigation.ts';
import { Field } from '../../parts/form/field.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/form/filters.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import {
  absoluteTime,
  type Chip,
  chipsOf,
  decisionChoices,
  type FilterName,
  filterNames,
  type Filters as GivenFilters,
  localTime,
  statusChoices,
} from './filters.ts';

interface FilterBarProps {
  readonly filters: GivenFilters;
  readonly search: RefObject<HTMLInputElement | null>;
}

export function FilterBar({ filters, search }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false);
  const chips = chipsOf(filters);
  return (
    <div class="requests-filters">
      <Filters label="Requests">
        <TextFilter name="text" label="Search" placeholder="Ids, reasons, payloads" input={search} />
        <ChoiceFilter name="decision" label="Decision" any="Any" choices={decisionChoices} />
        <ChoiceFilter name="status" label="Status" any="Any" choices={statusChoices} />
        <div>
          <Button
            aria-expanded={isOpen}
            aria-controls="requests-more"
            icon="down"
            onClick={() => setOpen(!isOpen)}
          >
            More filters
          </Button>
        </div>
      </Filters>
      <div id="requests-more">{isOpen && <MoreFilters filters={filters} />}</div>
      {chips.length > 0 && (
        <ul class="requests-chips" aria-label="Filters that are set">
          {chips.map((chip) => (
            <ChipButton key={chip.name} chip={chip} />
          ))}
          <li>
            <Button variant="quiet" onClick={clearAll}>
              Clear all
            </Button>
          </li>
        </ul>
      )}
    </div>
  );
}

function clearAll(): void {
  setQuery(Object.fromEntries(filterNames.map((name) => [name, null])));
}

function ChipButton({ chip: { name, label, value } }: { readonly chip: Chip }) {
  const isTime = name === 'from' || name === 'to';
  const text = isTime ? localTime(value).replace('T', ' ') || value : value;
  return (
    <li>
      <button type="button" class="requests-chip" onClick={() => setQuery({ [name]: null })}>
        <span class="visually-hidden">Remove the filter </span>
        <span class="requests-chip-label">{label}</span> <PlainText text={text} isShort />
        <Icon name="close" size={13} />
      </button>
    </li>
  );
}

/** Makes an input show the value in the address, except while a person is typing in it. */
function useFollowed(input: RefObject<HTMLInputElement | null>, value: string): void {
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value;
  }, [value]);
}

function MoreFilters({ filters }: { readonly filters: GivenFilters }) {
  const mayViewAgents = useGrant('agents.view') !== 'no';
  const mayViewPolicies = useGrant('policies.view') !== 'no';
  const agents = useResource('listAgents', mayViewAgents ? { query: { limit: '200' } } : null);
  const actions = useResource('listActions', mayViewPolicies ? {} : null);
  const policies = useResource('getPolicies', mayViewPolicies ? { query: { limit: '200' } } : null);
  return (
    <div class="requests-more">
      <NameFilter
        name={'agent'}
        label={'Agent'}
        filters={filters}
        names={agents.data?.items.map(({ name }) => name)}
      />
      <NameFilter
        name={'action'}
        label={'Action'}
        filters={filters}
        names={actions.data?.items.map(({ action_key: key }) => key)}
        help="The full key"
      />
      <NameFilter
        name={'policy'}
        label={'Policy'}
        filters={filters}
        names={policies.data?.items.map(({ name }) => name)}
      />
      <NumberFilter name={'amount_min'} label={'Amount at least'} filters={filters} {...amounts} />
      <NumberFilter name={'amount_max'} label={'Amount at most'} filters={filters} {...amounts} />
      <NumberFilter name={'risk_min'} label={'Risk at least'} filters={filters} {...risks} />
      <NumberFilter name={'risk_max'} label={'Risk at most'} filters={filters} {...risks} />
      <TimeFilter name={'from'} label={'From'} filters={filters} />
      <TimeFilter name={'to'} label={'Until'} filters={filters} />
      <fieldset class="requests-spans">
        <legend class="field-legend">The last</legend>
        {spans.map(([word, ms]) => (
          <Button
            key={word}
            onClick={() => setQuery({ from: new Date(Date.now() - ms).toISOString(), to: null })}
          >
            {word}
          </Button>
        ))}
      </fieldset>
    </div>
  );
}

const risks = { min: 0, max: 100, step: 1 } as const;
const amounts = { step: 'any' } as const;

const spans = [
  ['hour', 3_600_000],
  ['day', 86_400_000],
  ['week', 604_800_000],
] as const;

interface OneFilter {
  readonly name: FilterName;
  readonly label: string;
  readonly filters: GivenFilters;
}

function NameFilter({
  name,
  label,
  filters,
  names = [],
  help,
}: OneFilter & { readonly names?: readonly string[] | undefined; readonly help?: string }) {
  const listId = `requests-names-${name}`;
  const input = useRef<HTMLInputElement>(null);
  useFollowed(input, filters[name] ?? '');
  return (
    <div>
      <Field label={label} {...(help === undefined ? {} : { help })}>
        <input
          ref={input}
          list={listId}
          defaultValue={filters[name] ?? ''}
          onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value.trim() })}
        />
      </Field>
      <datalist id={listId}>
        {names.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  );
}

interface NumberFilterProps extends OneFilter {
  readonly min?: number;
  readonly max?: number;
  readonly step: number | 'any';
}

function NumberFilter({ name, label, filters, ...limits }: NumberFilterProps) {
  const input = useRef<HTMLInputElement>(null);
  useFollowed(input, filters[name] ?? '');
  return (
    <Field label={label}>
      <input
        ref={input}
        type="number"
        {...limits}
        defaultValue={filters[name] ?? ''}
        onChange={({ currentTarget }) => {
          if (currentTarget.reportValidity()) setQuery({ [name]: currentTarget.value });
        }}
      />
    </Field>
  );
}

function TimeFilter({ name, label, filters }: OneFilter) {
  const input = useRef<HTMLInputElement>(null);
  useFollowed(input, localTime(filters[name]));
  return (
    <Field label={label}>
      <input
        ref={input}
        type="datetime-local"
        defaultValue={localTime(filters[name])}
        onChange={({ currentTarget }) => setQuery({ [name]: absoluteTime(currentTarget.value) })}
      />
    </Field>
  );
}
