// The policies that decided most requests, as bars of their outcomes, and the table behind them.

import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { countText, type Overview, outcomes } from './series.ts';

type PolicyRow = Overview['policies'][number];

const shown = outcomes.filter((one) => one.key !== 'refused');

export function PoliciesSection({ overview }: { readonly overview: Overview }) {
  const rows = overview.policies;
  const most = Math.max(1, ...rows.map(sumOf));
  const shownMax = 8;
  return (
    <Section title="Policies that decided most">
      {rows.length === 0 && <p>No request was decided in this time.</p>}
      <ol class="overview-policies">
        {rows.slice(0, shownMax).map((row) => (
          <li key={row.name ?? ''} title={wordsOf(row)}>
            <PolicyName row={row} overview={overview} />
            <span class="overview-policy-count">{countText(sumOf(row))}</span>
            <div class="overview-policy-bar" aria-hidden="true">
              {shown.map(({ key }) => (
                <span
                  key={key}
                  class={`overview-part overview-part-${key}`}
                  style={{ width: `${(100 * row[key]) / most}%` }}
                />
              ))}
            </div>
          </li>
        ))}
      </ol>
      <PolicyTable rows={rows} />
    </Section>
  );
}

function PolicyName({ row: { name }, overview }: { readonly row: PolicyRow; readonly overview: Overview }) {
  if (name === null) return <span>No policy</span>;
  const query = new URLSearchParams({ policy: name, from: overview.from, to: overview.to });
  return <a href={`/requests?${query}`}>{name}</a>;
}

function PolicyTable({ rows }: { readonly rows: readonly PolicyRow[] }) {
  return (
    <details class="overview-details">
      <summary>
        Table<span class="visually-hidden"> of policies</span>
      </summary>
      <DataTable
        label="Table of policies"
        columns={columns}
        rows={rows}
        rowKey={({ name }) => name ?? ''}
        narrow="scroll"
      />
    </details>
  );
}

const columns: readonly Column<PolicyRow>[] = [
  { head: 'Policy', kind: 'row', cell: ({ name }) => name ?? 'No policy' },
  ...shown.map(
    ({ key, name }): Column<PolicyRow> => ({
      head: name,
      kind: 'number',
      cell: (row) => countText(row[key]),
    }),
  ),
];

function sumOf(row: PolicyRow): number {
  return shown.reduce((total, { key }) => total + row[key], 0);
}

function wordsOf(row: PolicyRow): string {
  return shown.map(({ key, name }) => `${name} ${countText(row[key])}`).join(', ');
}
