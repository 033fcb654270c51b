// The policies that decided most requests, as bars of their outcomes, and the table behind them.

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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section class="table-wrap overview-table" tabIndex={0} aria-label="Table of policies">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Policy</th>
              {shown.map(({ key, name }) => (
                <th key={key} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name ?? ''}>
                <th scope="row">{row.name ?? 'No policy'}</th>
                {shown.map(({ key }) => (
                  <td key={key} class="number">
                    {countText(row[key])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}

function sumOf(row: PolicyRow): number {
  return shown.reduce((total, { key }) => total + row[key], 0);
}

function wordsOf(row: PolicyRow): string {
  return shown.map(({ key, name }) => `${name} ${countText(row[key])}`).join(', ');
}
