// A form that needs a proof of the person's identity: the password, with a code if codes are set up, or a
// passkey. The caller sends the proof that `onProof` receives together with its own fields.

import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { demoAccount } from '../../api/demo.ts';
import { answerPasskey } from '../../api/passkey.ts';
import { usePerson } from '../../api/session.tsx';
import { Button } from '../layout/button.tsx';
import { Field } from './field.tsx';
import { useSending } from './form.ts';
import { FormFrame } from './form-frame.tsx';
import { CodeField, codeDigits, codeProblems } from './password-and-code.tsx';

export interface Proof {
  readonly password?: string;
  readonly code?: string;
  readonly passkey?: Readonly<Record<string, unknown>>;
}

interface ProofFormProps {
  /** The text on the button that sends. */
  readonly word: string;
  readonly variant?: 'danger' | 'primary';
  readonly onProof: (proof: Proof) => Promise<unknown>;
  /** When absent, there is no button to go back. */
  readonly onClose?: () => void;
  /** The caller's own fields. */
  readonly children?: ComponentChildren;
}

export function ProofForm({ word, variant = 'primary', onProof, onClose, children }: ProofFormProps) {
  const { has_totp: hasCodes } = usePerson();
  const [password, setPassword] = useState(demoAccount?.password ?? '');
  const [code, setCode] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const { isBusy, problem, run } = useSending();

  const send = (proof: Proof): Promise<void> =>
    onProof(proof).then(() => {
      setPassword('');
      setCode('');
    });
  const byPassword = (): Promise<void> =>
    run(() => send({ password, ...(hasCodes ? { code: codeDigits(code) } : {}) }));
  const byPasskey = (): void => {
    if (!areOwnFieldsFilled(form.current)) return;
    void run(async () => send({ passkey: await answerPasskey(await call('getPasskeyChallenge')) }));
  };
  return (
    <FormFrame
      formRef={form}
      problem={problem}
      fieldOf={hasCodes ? codeProblems : passwordProblems}
      onSend={byPassword}
    >
      {children}
      <div class="form" data-proof>
        <Field label="Current password" name="password" help="To confirm that it is you.">
          <input
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onInput={({ currentTarget }) => setPassword(currentTarget.value)}
          />
        </Field>
        {hasCodes && <CodeField takesRecoveryCode code={code} onCode={setCode} />}
      </div>
      <div class="form-actions">
        <Button variant={variant} type="submit" isBusy={isBusy}>
          {word}
        </Button>
        <Button icon="passkey" onClick={byPasskey}>
          With a passkey instead
        </Button>
        {onClose !== undefined && <Button onClick={onClose}>Cancel</Button>}
      </div>
    </FormFrame>
  );
}

/** With the password alone, only the password can be wrong. */
const passwordProblems = { wrong_credentials: 'password' };

/** A passkey replaces only the password, so the form's other fields must be filled. */
function areOwnFieldsFilled(form: HTMLFormElement | null): boolean {
  const inputs = [...(form?.querySelectorAll<HTMLInputElement>('input, select, textarea') ?? [])];
  return inputs
    .filter((input) => input.closest('[data-proof]') === null)
    .every((input) => input.reportValidity());
}
