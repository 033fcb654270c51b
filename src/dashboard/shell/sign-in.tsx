// The sign-in form: a password and, if set up, a one-time code; or a passkey.

import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { answerPasskey } from '../api/passkey.ts';
import { ApiProblem } from '../api/problem.ts';
import { type Session, useSession } from '../api/session.tsx';
import { Field } from '../parts/form/field.tsx';
import { useSending } from '../parts/form/form.ts';
import { CodeField, codeDigits, focusOnce } from '../parts/form/password-and-code.tsx';
import { SendForm } from '../parts/form/send-form.tsx';
import { Button } from '../parts/layout/button.tsx';
import { Icon } from '../parts/layout/icon.tsx';

// The banner that a demo shows on every page, and the account that its sign-in page offers. Only the service
// of a demo puts that account into the page.

export interface DemoAccount {
  readonly email: string;
  readonly password: string;
}

/** Null when the service is not a demo. */
const demoAccount: DemoAccount | null = readAccount(document.documentElement.dataset.demo);

function readAccount(text: string | undefined): DemoAccount | null {
  return text === undefined ? null : (JSON.parse(text) as DemoAccount);
}

export function DemoBanner() {
  if (demoAccount === null) return null;
  return (
    <p class="demo" role="note">
      <Icon name="try" /> Demo: agents and colleagues are simulated, and nothing here is real.
    </p>
  );
}

/** `email` is known after a session has ended. */
export function SignInForm({ email: known = '' }: { readonly email?: string }) {
  const { take } = useSession();
  const [email, setEmail] = useState(known === '' ? (demoAccount?.email ?? '') : known);
  const [password, setPassword] = useState(demoAccount?.password ?? '');
  const [code, setCode] = useState('');
  const [isCodeAsked, setCodeAsked] = useState(false);
  const { isBusy, problem, run } = useSending();

  const attempt = (way: () => Promise<Session>): Promise<void> =>
    run(async () => {
      const session = await way().catch((error: unknown) => {
        if (!(error instanceof ApiProblem) || error.code !== 'code_needed') throw error;
        setCodeAsked(true);
        return null;
      });
      if (session !== null) take(session);
    });
  const withPassword = (): Promise<void> =>
    attempt(() => {
      const body = {
        email: email.trim(),
        password,
        ...(code === '' ? {} : { code: codeDigits(code) }),
      };
      return call('signIn', { body, isQuiet: true });
    });
  const withPasskey = (): Promise<void> =>
    attempt(async () => {
      const response = await answerPasskey(await call('getSignInChallenge', { isQuiet: true }));
      return await call('signInWithPasskey', { body: { response }, isQuiet: true });
    });

  return (
    <SendForm
      word="Sign in"
      isBusy={isBusy}
      problem={problem}
      onSend={withPassword}
      actions={
        <Button icon="passkey" onClick={withPasskey}>
          Use a passkey
        </Button>
      }
    >
      <Field label="E-mail address">
        <input
          type="email"
          autoComplete="username webauthn"
          required
          ref={known === '' ? focusOnce : null}
          value={email}
          onInput={({ currentTarget }) => setEmail(currentTarget.value)}
        />
      </Field>
      <Field label="Password">
        <input
          type="password"
          autoComplete="current-password"
          required
          data-first={known === '' ? undefined : true}
          value={password}
          onInput={({ currentTarget }) => setPassword(currentTarget.value)}
        />
      </Field>
      {isCodeAsked && <CodeField takesRecoveryCode isFocused code={code} onCode={setCode} />}
    </SendForm>
  );
}
