// The proof of a step-up: a passkey, or password and one-time code. It offers only what the person has and can
// use now; otherwise it says what is missing and from when a new factor can be used. INVARIANT: password and
// code are forgotten once they are sent with success.

import { useState } from 'preact/hooks';
import { demoAccount } from '../../api/demo.ts';
import { answerPasskey } from '../../api/passkey.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useReloadSession, useSession } from '../../api/session.tsx';
import { Button, ButtonLink } from '../layout/button.tsx';
import { Note, ProblemNote } from '../layout/note.tsx';
import { Ago, ClockTime, useNow } from '../layout/time.tsx';
import { useSending } from './form.ts';
import { FormFrame } from './form-frame.tsx';
import { codeDigits, codeProblems, PasswordAndCode } from './password-and-code.tsx';

type StepUpProof =
  | { readonly passkey: Readonly<Record<string, unknown>> }
  | { readonly password: string; readonly code: string };

interface StepUpFormProps {
  /** Gets the question that a passkey answers. */
  readonly challenge: () => Promise<Readonly<Record<string, unknown>>>;
  readonly onProof: (proof: StepUpProof) => Promise<unknown>;
  /** When the request that the step-up is for ends, as an ISO time; null when it is for no request. */
  readonly endsAt?: string | null;
  /** The class of the form of password and code. */
  readonly formClass?: string;
  /** Absent when there is nothing to close. */
  readonly onClose?: () => void;
}

export function StepUpForm({
  challenge,
  onProof,
  endsAt = null,
  formClass = 'form',
  onClose,
}: StepUpFormProps) {
  const { codesAre, passkeyIs } = useFactors();
  const [password, setPassword] = useState(demoAccount?.password ?? '');
  const [code, setCode] = useState('');
  const sending = useSending();
  const reload = useReloadSession();
  const send = (proof: () => Promise<StepUpProof>): Promise<void> =>
    sending.run(async () => {
      await onProof(await proof()).catch(async (error: unknown) => {
        // The factors have changed since the page read them; it then says what there is now.
        if (error instanceof ApiProblem && error.code.startsWith('second_factor_')) await reload();
        throw error;
      });
      setPassword('');
      setCode('');
    });
  const byPasskey = () => send(async () => ({ passkey: await answerPasskey(await challenge()) }));
  const byCode = () => send(async () => ({ password, code: codeDigits(code) }));
  if (codesAre !== 'usable' && passkeyIs !== 'usable') {
    return (
      <>
        <NoFactor isNew={codesAre === 'new' || passkeyIs === 'new'} endsAt={endsAt} />
        {onClose !== undefined && (
          <div class="form-actions">
            <Button onClick={onClose}>Close</Button>
          </div>
        )}
      </>
    );
  }
  const passkeyButton = passkeyIs === 'usable' && (
    <div>
      <Button icon="passkey" variant="primary" isBusy={sending.isBusy} onClick={byPasskey}>
        Use a passkey
      </Button>
    </div>
  );
  if (codesAre !== 'usable') {
    return (
      <>
        <ProblemNote problem={sending.problem} />
        {passkeyButton}
      </>
    );
  }
  return (
    <>
      {passkeyButton}
      <FormFrame class={formClass} problem={sending.problem} fieldOf={codeProblems} onSend={byCode}>
        <PasswordAndCode password={password} onPassword={setPassword} code={code} onCode={setCode} />
        <div class="form-actions">
          <Button
            type="submit"
            variant={passkeyIs === 'usable' ? 'plain' : 'primary'}
            isBusy={sending.isBusy}
          >
            Step up with password and code
          </Button>
          {onClose !== undefined && (
            <Button variant="quiet" onClick={onClose}>
              Cancel
            </Button>
          )}
        </div>
      </FormFrame>
    </>
  );
}

type FactorState = 'none' | 'new' | 'usable';

function useFactors(): { readonly codesAre: FactorState; readonly passkeyIs: FactorState } {
  const now = useNow();
  const { session } = useSession();
  const stateOf = (from: string | null | undefined): FactorState => {
    if (from === null || from === undefined) return 'none';
    return Date.parse(from) > now ? 'new' : 'usable';
  };
  return {
    codesAre: stateOf(session?.step_up.codes_from),
    passkeyIs: stateOf(session?.step_up.passkey_from),
  };
}

interface NoFactorProps {
  readonly isNew: boolean;
  readonly endsAt: string | null;
}

/** Says why there is no way to step up now, and what to do. */
function NoFactor({ isNew, endsAt }: NoFactorProps) {
  const now = useNow();
  const { session } = useSession();
  if (session === null) return null;
  const { codes_from: codes, passkey_from: passkey, new_for_seconds: seconds } = session.step_up;
  const newFrom = [codes, passkey].flatMap((at) => (at === null ? [] : Date.parse(at)));
  const fromMs = isNew ? Math.min(...newFrom) : now + seconds * 1000;
  const from = new Date(fromMs).toISOString();
  const isTooLate = endsAt !== null && Date.parse(endsAt) <= fromMs;
  return (
    <Note tone="escalate" icon="key">
      {isNew ? (
        <p>
          <strong>Your second factor is new.</strong> You can step up with it from <ClockTime at={from} /> (
          <Ago at={from} />
          ), so that nobody who has just taken over an account can.
        </p>
      ) : (
        <>
          <p>
            <strong>You have no second factor.</strong> A step-up needs one-time codes or a passkey.
            {seconds > 0 && (
              <>
                {' '}
                If you set one up now, you can step up from <ClockTime at={from} />.
              </>
            )}
          </p>
          <ButtonLink variant="primary" icon="key" href="/account">
            Set up a second factor
          </ButtonLink>
        </>
      )}
      {isTooLate && endsAt !== null && (
        <p>
          This request ends before that, at <ClockTime at={endsAt} />. It is then not granted; the agent can
          ask again, and you step up for the new request.
        </p>
      )}
    </Note>
  );
}
