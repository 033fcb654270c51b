// The form for a new password, and its field, which rates the password while it is typed and can show it. With `next`,
// the form also signs the person in. INVARIANT: the password is set once; after a failed sign-in, only the sign-in is
// repeated.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useSession } from '../../api/session.tsx';
import { go } from '../../navigation/navigation.ts';
import { Note, sentence } from '../layout/note.tsx';
import { Field } from './field.tsx';
import { useSending } from './form.ts';
import { useFieldProblem } from './form-frame.tsx';
import './new-password-form.css';
import { type PasswordHint, type PasswordOwner, passwordHint } from './password-hint.ts';
import { SendForm } from './send-form.tsx';

interface NewPasswordFormProps {
  readonly owner: PasswordOwner;
  readonly label?: string;
  /** The text on the button. */
  readonly word: string;
  /** Sets the password and returns the address with which the person signs in. */
  readonly send: (password: string) => Promise<string>;
  /** The address to go to after the sign-in; absent when the person signs in later. */
  readonly next?: string;
  /** What is above the password. */
  readonly children: ComponentChildren;
}

export function NewPasswordForm({ owner, label, word, send, next, children }: NewPasswordFormProps) {
  const [password, setPassword] = useState('');
  const [created, setCreated] = useState<string | null>(null);
  const { isBusy, problem, run } = useSending();
  const { take } = useSession();
  const submit = (): Promise<void> =>
    run(async () => {
      const email = created ?? (await send(password));
      if (next === undefined) return;
      setCreated(email);
      take(await call('signIn', { body: { email, password }, isQuiet: true }));
      go(next, { replace: true });
    });
  return (
    <SendForm word={created === null ? word : 'Sign in'} isBusy={isBusy} problem={problem} onSend={submit}>
      {created !== null && problem !== null && (
        <Note tone="allow" icon="check">
          Your account is created, but signing in failed. Try again.
        </Note>
      )}
      {children}
      <NewPassword label={label} value={password} onInput={setPassword} owner={owner} />
    </SendForm>
  );
}

interface NewPasswordProps {
  readonly label?: string | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly owner: PasswordOwner;
  /** Name of the field in the body of the call. */
  readonly name?: string;
}

export function NewPassword({
  label = 'Password',
  value,
  onInput,
  owner,
  name = 'password',
}: NewPasswordProps) {
  const [isSeen, setSeen] = useState(false);
  const { level, text } = useRating(value, owner);
  const refused = useFieldProblem(name);
  const input = {
    ...({ autoComplete: 'new-password', autoCapitalize: 'none', spellcheck: false, required: true } as const),
    maxLength: 1024,
    value,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      onInput(currentTarget.value),
  };
  return (
    <div class="new-password">
      <Field label={label} name={name}>
        {isSeen ? <input type="text" {...input} /> : <input type="password" {...input} />}
      </Field>
      <div class="new-password-below">
        <span role="status" class="new-password-hint" data-level={value === '' ? 'none' : level}>
          <span class="new-password-bars" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
          {text === refused ? null : text}
        </span>
        <label class="new-password-see">
          <input type="checkbox" checked={isSeen} onChange={() => setSeen(!isSeen)} /> Show it
        </label>
      </div>
    </div>
  );
}

const typingPauseMs = 400;

/**
 * Rates the password. What the page cannot know, whether attackers try the password first, the service says once
 * typing pauses: until then, the rating promises nothing.
 */
function useRating(password: string, owner: PasswordOwner): PasswordHint {
  const hint = passwordHint(password, owner);
  const [checked, setChecked] = useState<{ readonly password: string; readonly problem: string | null }>();
  const { email, name } = owner;
  useEffect(() => {
    if (hint.level === 0) return;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      const body = { password, email, name };
      call('checkPassword', { body, isQuiet: true, signal: asking.signal }).then(
        ({ problem }) => setChecked({ password, problem }),
        () => undefined,
      );
    }, typingPauseMs);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [password, email, name, hint.level]);
  if (hint.level === 0) return hint;
  if (checked?.password !== password) return { level: 1, text: 'Long enough.' };
  return checked.problem === null ? hint : { level: 0, text: sentence(checked.problem) };
}

/** Tells a password manager whose password a form sets. The field is not visible and is not sent. */
export function UsernameOf({ email }: { readonly email: string }) {
  return (
    <input
      class="visually-hidden"
      type="email"
      name="username"
      autoComplete="username"
      aria-label="E-mail address"
      readOnly
      tabIndex={-1}
      value={email}
    />
  );
}
