// The two things by which somebody who is signed in shows once more that it is them. People type codes with a space in the
// middle; `codeDigits` is what is sent.

import { Field } from './field.tsx';

interface CodeFieldProps {
  readonly label: string;
  readonly help?: string;
  readonly code: string;
  readonly onCode: (code: string) => void;
}

export function CodeField({ label, help, code, onCode }: CodeFieldProps) {
  return (
    <Field label={label} help={help}>
      <input
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        maxLength={7}
        value={code}
        onInput={({ currentTarget }) => onCode(currentTarget.value)}
      />
    </Field>
  );
}

interface PasswordAndCodeProps {
  readonly password: string;
  readonly onPassword: (password: string) => void;
  readonly code: string;
  readonly onCode: (code: string) => void;
}

export function PasswordAndCode({ password, onPassword, code, onCode }: PasswordAndCodeProps) {
  return (
    <>
      <Field label="Current password">
        <input
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onInput={({ currentTarget }) => onPassword(currentTarget.value)}
        />
      </Field>
      <CodeField label="One-time code" code={code} onCode={onCode} />
    </>
  );
}

export function codeDigits(code: string): string {
  return code.replaceAll(' ', '');
}
