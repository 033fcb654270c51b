// The columns that a person wants to see in the list, kept in this browser. A narrow window hides further
// columns.

import { useState } from 'preact/hooks';

const columns = [
  ['time', 'Time'],
  ['agent', 'Agent'],
  ['reason', 'Reason'],
  ['risk', 'Risk'],
  ['status', 'Status'],
] as const;

/** The columns that can be hidden; the column with the subject of a request is always shown. */
export type ColumnName = (typeof columns)[number][0];

const key = 'writ.requests.hidden';

export function useHiddenColumns(): readonly [
  readonly ColumnName[],
  (hidden: readonly ColumnName[]) => void,
] {
  const [hidden, setHidden] = useState(remembered);
  return [
    hidden,
    (next) => {
      setHidden(next);
      try {
        window.localStorage.setItem(key, next.join(' '));
      } catch {
        // If storage is not available, the choice lasts until the page is reloaded.
      }
    },
  ];
}

function remembered(): readonly ColumnName[] {
  try {
    const names = window.localStorage.getItem(key)?.split(' ') ?? [];
    return columns.map(([name]) => name).filter((name) => names.includes(name));
  } catch {
    return [];
  }
}

interface ColumnChoiceProps {
  readonly hidden: readonly ColumnName[];
  readonly onChange: (hidden: readonly ColumnName[]) => void;
}

export function ColumnChoice({ hidden, onChange }: ColumnChoiceProps) {
  const toggle = (name: ColumnName): void =>
    onChange(hidden.includes(name) ? hidden.filter((one) => one !== name) : [...hidden, name]);
  return (
    <details class="requests-columns">
      <summary>Columns</summary>
      <fieldset>
        <legend class="visually-hidden">Visible columns</legend>
        {columns.map(([name, label]) => (
          <label key={name}>
            <input type="checkbox" checked={!hidden.includes(name)} onChange={() => toggle(name)} /> {label}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
