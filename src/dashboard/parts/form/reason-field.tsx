// A field for the reason that a change is recorded with.

import { Field } from './field.tsx';

interface ReasonFieldProps {
  readonly help?: string;
  readonly reason: string;
  readonly onChange: (reason: string) => void;
}

/** The input allows as many characters as the service accepts. */
export function ReasonField({ help, reason, onChange }: ReasonFieldProps) {
  return (
    <Field label="Reason" name="reason" help={help}>
      <input
        required
        maxLength={500}
        value={reason}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </Field>
  );
}
