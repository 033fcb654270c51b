// A field for a person's e-mail address.

import type { ComponentChildren } from 'preact';
import { detailFor } from '../../api/problem.ts';
import { Field } from './field.tsx';

interface EmailFieldProps {
  readonly help?: ComponentChildren;
  /** What the browser offers; `off` for the address of somebody else. */
  readonly autoComplete: 'username' | 'email' | 'off';
  readonly value: string;
  readonly onChange: (email: string) => void;
  /** The problem of the whole form. */
  readonly problem: unknown;
}

export function EmailField({ help, autoComplete, value, onChange, problem }: EmailFieldProps) {
  return (
    <Field label="E-mail address" help={help} problem={detailFor(problem, 'email')}>
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
