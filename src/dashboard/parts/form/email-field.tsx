// A field for a person's e-mail address.

import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

interface EmailFieldProps {
  readonly help?: ComponentChildren;
  /** What the browser offers; `off` for the address of somebody else. */
  readonly autoComplete: 'username' | 'email' | 'off';
  readonly value: string;
  readonly onChange: (email: string) => void;
}

export function EmailField({ help, autoComplete, value, onChange }: EmailFieldProps) {
  return (
    <Field label="E-mail address" name="email" help={help}>
      <input
        type="email"
        autoComplete={autoComplete}
        required
        maxLength={254}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </Field>
  );
}
