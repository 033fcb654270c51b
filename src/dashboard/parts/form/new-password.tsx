// The field for a new password: it rates the password while it is typed, and has a switch that shows it.

import { useState } from 'preact/hooks';
import { Field } from './field.tsx';
import './new-password.css';
import { type PasswordOwner, passwordHint } from './password-hint.ts';

interface NewPasswordProps {
  readonly label?: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly owner: PasswordOwner;
  readonly problem?: string | null;
}

export function NewPassword({ label = 'Password', value, onInput, owner, problem = null }: NewPasswordProps) {
  const [isSeen, setSeen] = useState(false);
  const { level, text } = passwordHint(value, owner);
  const input = {
    ...({ autoComplete: 'new-password', autoCapitalize: 'none', spellcheck: false, required: true } as const),
    maxLength: 1024,
    value,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      onInput(currentTarget.value),
  };
  return (
    <div class="new-password">
      <Field label={label} problem={problem}>
        {isSeen ? <input type="text" {...input} /> : <input type="password" {...input} />}
      </Field>
      <div class="new-password-below">
        <span role="status" class="new-password-hint" data-level={value === '' ? 'none' : level}>
          <span class="new-password-bars" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
          {text}
        </span>
        <label class="new-password-see">
          <input type="checkbox" checked={isSeen} onChange={() => setSeen(!isSeen)} /> Show it
        </label>
      </div>
    </div>
  );
}
