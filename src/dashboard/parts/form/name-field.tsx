// A field for the name of a person or a thing.

import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

interface NameFieldProps {
  readonly label?: string;
  readonly help?: ComponentChildren;
  /** Absent when the browser must not offer the person's own name. */
  readonly autoComplete?: 'name';
  readonly value: string;
  readonly onChange: (name: string) => void;
}

export function NameField(props: NameFieldProps) {
  const { label = 'Name', help, autoComplete = 'off', value, onChange } = props;
  return (
    <Field label={label} name="name" help={help}>
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
