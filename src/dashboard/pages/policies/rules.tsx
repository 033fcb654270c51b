// The rules of the active policies, with how often each has decided and held, and what shadow rules would
// have changed.

import { useState } from 'preact/hooks';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import { Field } from '../../parts/form/field.tsx';
import { Badge, DecisionBadge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { fileHref } from './links.ts';
import { chooseRules, type Order, type RuleHits, readFilter, type Show } from './rule-list.ts';

const showLabels: Readonly<Record<Show, string>> = {
  all: 'All rules',
  unused: 'Never held',
  shadow: 'In shadow',
};
const orderLabels: Readonly<Record<Order, string>> = {
  policy: 'By policy',
  decided: 'Decided most',
  last: 'Held last',
};
const shownFirst = 100;

interface RuleTableProps {
  readonly rules: readonly RuleHits[];
}

export function RuleTable({ rules }: RuleTableProps) {
  const { query } = useAddress();
  const filter = readFilter(query);
  const [shownMax, setShownMax] = useState(shownFirst);
  const chosen = chooseRules(rules, filter);
  return (
    <>
      <div class="policies-filter">
        <Field label="Rules with">
          <input
            type="search"
            value={filter.text}
            onInput={({ currentTarget }) => setQuery({ text: currentTarget.value }, { replace: true })}
          />
        </Field>
        <Choice name="show" label="Show" words={showLabels} value={filter.show} />
        <Choice name="order" label="Order" words={orderLabels} value={filter.order} />
        <p role="status">
          {chosen.length} of {rules.length} rules
        </p>
      </div>
      {chosen.length === 0 ? (
        <NoRule show={filter.show} hasText={filter.text !== ''} />
      ) : (
        <DataTable
          label="List of rules"
          columns={columns}
          rows={chosen.slice(0, shownMax)}
          rowKey={({ policy, rule }) => `${policy}/${rule}`}
          class="policies-rules"
        />
      )}
      {chosen.length > shownMax && (
        <div>
          <Button onClick={() => setShownMax(shownMax + 500)}>Show more rules</Button>
        </div>
      )}
    </>
  );
}

interface ChoiceProps<Value extends string> {
  readonly name: string;
  readonly label: string;
  readonly words: Readonly<Record<Value, string>>;
  readonly value: Value;
}

function Choice<Value extends string>({ name, label, words, value }: ChoiceProps<Value>) {
  const entries = Object.entries<string>(words);
  return (
    <Field label={label}>
      <select
        value={value}
        onChange={({ currentTarget }) =>
          setQuery(
            { [name]: currentTarget.value === entries[0]?.[0] ? null : currentTarget.value },
            { replace: true },
          )
        }
      >
        {entries.map(([key, word]) => (
          <option key={key} value={key}>
            {word}
          </option>
        ))}
      </select>
    </Field>
  );
}

function NoRule({ show, hasText }: { readonly show: Show; readonly hasText: boolean }) {
  if (hasText) return <Empty icon="search" title="No rule name contains this" />;
  return show === 'shadow' ? (
    <Empty icon="policy" title="No rule is in shadow">
      Write <code>shadow</code> before a rule to see here what it would change, before it decides anything.
    </Empty>
  ) : (
    <Empty icon="policy" title={show === 'unused' ? 'Every rule has matched' : 'No policy has a rule yet'} />
  );
}

const columns: readonly Column<RuleHits>[] = [
  { head: 'Outcome', label: null, cell: ({ effect }) => <EffectBadge effect={effect} /> },
  {
    head: 'Rule',
    kind: 'row',
    cell: ({ policy, rule, file, shadow_changed: changed }) => (
      <>
        <a href={fileHref({ path: file, rule: `${policy}/${rule}` })}>{`${policy}/${rule}`}</a>
        {changed !== null && (
          <>
            {' '}
            <Badge tone="unknown">in shadow</Badge>
          </>
        )}
      </>
    ),
  },
  {
    head: 'Decided',
    title: 'How often it made the decision',
    kind: 'number',
    cell: ({ effect, decided }) => (effect === 'risk' ? '–' : decided.toLocaleString()),
  },
  {
    head: 'Held',
    title: 'How often its condition was true or unknown',
    kind: 'number',
    cell: ({ met }) => met.toLocaleString(),
  },
  {
    head: 'Last hit',
    cell: ({ last_at: at }) => (at === null ? <span class="policies-never">never</span> : <Ago at={at} />),
  },
];

const decisions: Readonly<Partial<Record<RuleHits['effect'], string>>> = {
  allow: 'ALLOW',
  deny: 'DENY',
  escalate: 'ESCALATE',
  reauth: 'REAUTH_REQUIRED',
};

function EffectBadge({ effect }: Pick<RuleHits, 'effect'>) {
  const decision = decisions[effect];
  return decision === undefined ? <Badge tone="unknown">Risk</Badge> : <DecisionBadge decision={decision} />;
}

/** What the rules in shadow would have changed; empty when no rule is in shadow. */
export function ShadowEffects({ rules }: RuleTableProps) {
  const shadow = rules.filter(({ shadow_changed: changed }) => changed !== null);
  return (
    <ul class="policies-shadow">
      {shadow.map(
        ({ policy, rule, effect, file, met, shadow_changed: changed, shadow_outcomes: outcomes }) => {
          const id = `${policy}/${rule}`;
          return (
            <li key={id}>
              <p>
                <EffectBadge effect={effect} /> <a href={fileHref({ path: file, rule: id })}>{id}</a>
              </p>
              <p>
                {changed === 0
                  ? `Would have changed nothing; it matched ${met.toLocaleString()} times.`
                  : `Would have changed ${changed?.toLocaleString()} of the ${met.toLocaleString()} decisions in which it matched:`}
              </p>
              {outcomes.length > 0 && (
                <ul class="policies-changes">
                  {outcomes.map(({ from, to, count }) => (
                    <li key={`${from} ${to}`}>
                      {count.toLocaleString()} × <DecisionBadge decision={from} />
                      <span aria-hidden="true"> → </span>
                      <span class="visually-hidden"> would have been </span>
                      <DecisionBadge decision={to} />
                    </li>
                  ))}
                </ul>
              )}
            </li>
          );
        },
      )}
    </ul>
  );
}
