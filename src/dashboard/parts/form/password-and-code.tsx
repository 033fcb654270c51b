// The fields by which a signed-in person proves their identity once more. People type codes with a space in
// the middle; `codeDigits` returns what is sent.

import { useState } from 'preact/hooks';
import { Button } from '../layout/button.tsx';
import { DemoCode } from './demo-code.tsx';
import { Field } from './field.tsx';

interface CodeFieldProps {
  readonly label?: string;
  readonly help?: string;
  readonly code: string;
  readonly onCode: (code: string) => void;
  /** Whether a recovery code may be typed instead. */
  readonly takesRecoveryCode?: boolean;
  /** Whether the field gets the focus when it appears, because a button opened it for typing. */
  readonly isFocused?: boolean;
}

export function CodeField({ takesRecoveryCode = false, isFocused = false, ...props }: CodeFieldProps) {
  const { label = 'One-time code', help, code, onCode } = props;
  const [isRecovery, setRecovery] = useState(false);
  const helpOfCode = help ?? 'The six digits that your authenticator shows now.';
  return (
    <>
      <Field
        key={String(isRecovery)}
        label={isRecovery ? 'Recovery code' : label}
        name="code"
        help={isRecovery ? 'One of the ten that you stored. Each works once.' : helpOfCode}
      >
        <input
          inputMode={isRecovery ? 'text' : 'numeric'}
          autoComplete={isRecovery ? 'off' : 'one-time-code'}
          required
          maxLength={isRecovery ? 20 : 7}
          ref={isFocused || isRecovery ? focusOnce : null}
          value={code}
          onInput={({ currentTarget }) => onCode(currentTarget.value)}
        />
      </Field>
      {!isRecovery && <DemoCode onCode={onCode} />}
      {takesRecoveryCode && (
        <div>
          <Button
            variant="quiet"
            onClick={() => {
              onCode('');
              setRecovery(!isRecovery);
            }}
          >
            {isRecovery ? 'Use the authenticator app' : 'Lost your phone? Use a recovery code'}
          </Button>
        </div>
      )}
    </>
  );
}

/** Focuses an empty field, for fields that a button opens. */
function focusOnce(input: HTMLInputElement | null): void {
  if (input?.value === '') input.focus();
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
      <Field label="Current password" name="password">
        <input
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onInput={({ currentTarget }) => onPassword(currentTarget.value)}
        />
      </Field>
      <CodeField code={code} onCode={onCode} />
    </>
  );
}

/** The problems of a code alone. */
export const codeProblems = { code_used: 'code', code_needed: 'code' };

export function codeDigits(code: string): string {
  return code.replaceAll(' ', '');
}
