// The sign-in form: a password and, if set up, a one-time code; or a passkey.

import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { codeMs, demoAccount, demoCodeAt } from '../api/demo.ts';
import { answerPasskey } from '../api/passkey.ts';
import { ApiProblem } from '../api/problem.ts';
import { type Session, useSession } from '../api/session.tsx';
import { Field } from '../parts/form/field.tsx';
import { useSending } from '../parts/form/form.ts';
import { CodeField, codeDigits, codeProblems } from '../parts/form/password-and-code.tsx';
import { SendForm } from '../parts/form/send-form.tsx';
import { Button } from '../parts/layout/button.tsx';
import { Icon } from '../parts/layout/icon.tsx';
import type { Banner } from './banners.tsx';

export function demoBanners(): readonly Banner[] {
  if (demoAccount === null) return [];
  return [{ key: 'demo', tone: 'accent', icon: 'try', label: 'Demo', words: 'Demo: nothing here is real.' }];
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
      return call('signIn', { body, isQuiet: true }).catch(async (error: unknown) => {
        // In a demo the page answers for the authenticator. The code before this one counts as well, and leaves this
        // one for a step-up.
        const isAsked = error instanceof ApiProblem && error.code === 'code_needed';
        const own = isAsked ? await demoCodeAt(Date.now() - codeMs) : null;
        if (own === null) throw error;
        return await call('signIn', { body: { ...body, code: own }, isQuiet: true });
      });
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
      fieldOf={codeProblems}
      onSend={withPassword}
      actions={
        <Button icon="passkey" onClick={withPasskey}>
          Use a passkey
        </Button>
      }
    >
      <Field label="E-mail address" name="email">
        <input
          type="email"
          autoComplete="username webauthn"
          required
          ref={known === '' ? focusField : null}
          value={email}
          onInput={({ currentTarget }) => setEmail(currentTarget.value)}
        />
      </Field>
      <Field label="Password" name="password">
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

/** Also a field that a demo has filled in: Enter then signs in. */
function focusField(input: HTMLInputElement | null): void {
  input?.focus();
}
