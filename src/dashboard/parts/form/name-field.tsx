// The name that a person gives to something, in a field.

import type { ComponentChildren } from 'preact';
import { detailFor } from '../../api/problem.ts';
import { Field } from './field.tsx';

interface NameFieldProps {
  readonly label?: string;
  readonly help?: ComponentChildren;
  /** Absent where the browser may not offer one's own name. */
  readonly autoComplete?: 'name';
  readonly value: string;
  readonly onChange: (name: string) => void;
  /** What was wrong with all that was sent. */
  readonly problem: unknown;
}

export function NameField(props: NameFieldProps) {
  const { label = 'Name', help, autoComplete = 'off', value, onChange, problem } = props;
  return (
    <Field label={label} help={help} problem={detailFor(problem, 'name')}>
      <input
        required
        maxLength={100}
        autoComplete={autoComplete}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </Field>
  );
}
