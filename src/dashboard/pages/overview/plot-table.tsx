// The table behind a plot, with the values of each step; built on demand.

import { useState } from 'preact/hooks';
import type { Series, Steps } from './series.ts';

interface PlotTableProps {
  readonly label: string;
  readonly series: readonly Series[];
  readonly steps: Steps;
  readonly count: number;
  readonly stepName: (index: number) => string;
  readonly valueText: (value: number | null) => string;
}

export function PlotTable({ label, series, steps, count, stepName, valueText }: PlotTableProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="overview-details" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Table<span class="visually-hidden"> of {label}</span>
      </summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
        <section class="table-wrap overview-table" tabIndex={0} aria-label={`Table of ${label}`}>
          <table class="table">
            <thead>
              <tr>
                <th scope="col">{steps.kind === 'time' ? 'Time' : 'Risk'}</th>
                {series.map(({ key, name }) => (
                  <th key={key} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {Array.from({ length: count }, (_, index) => (
                <tr key={index}>
                  <th scope="row">{stepName(index)}</th>
                  {series.map(({ key, values }) => (
                    <td key={key} class="number">
                      {valueText(values[index] ?? null)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
