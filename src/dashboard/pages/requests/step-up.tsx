// The dialog in which the control owner proves to be present: by a passkey, or by password and one-time code.
// INVARIANT: password and code are forgotten with the dialog.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { answerPasskey } from '../../api/passkey.ts';
import { ApiProblem } from '../../api/problem.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { agentName } from './request-table.tsx';
import type { RequestDetail } from './timeline-events.ts';

interface StepUpDialogProps {
  readonly request: RequestDetail;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function StepUpDialog({ request, onClose, onDone }: StepUpDialogProps) {
  const { request_id: id, action_key, title } = request;
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const { isBusy, problem, run } = useSending();
  const stepUp = (
    shown: () => Promise<{ passkey: Readonly<Record<string, unknown>> } | { password: string; code: string }>,
  ) =>
    run(async () => {
      const { status } = await call('stepUpForRequest', { params: { id }, body: await shown() });
      tellDone(status === 'pending' ? 'You stepped up; the request still needs approvals' : 'You stepped up');
      onDone();
      onClose();
    });
  const lacksSecond = problem instanceof ApiProblem && problem.code === 'second_factor_missing';
  return (
    <Dialog title="Step up" onClose={onClose}>
      <p>
        <strong>
          <PlainText text={agentName(request)} isShort />
        </strong>{' '}
        wants to do{' '}
        <strong>
          <PlainText text={title === '' ? action_key : title} isShort />
        </strong>
        {title !== '' && (
          <>
            {' '}
            (<PlainText text={action_key} isShort />)
          </>
        )}
        . As its control owner, confirm that it is you; the policies then decide again.
      </p>
      <ProblemNote problem={problem} />
      {lacksSecond && (
        <p>
          <a href="/account">Set up one-time codes or a passkey</a>, then come back here.
        </p>
      )}
      <div>
        <Button
          icon="passkey"
          look="primary"
          onClick={() =>
            stepUp(async () => ({
              passkey: await answerPasskey(await call('getRequestStepUpChallenge', { params: { id } })),
            }))
          }
        >
          Use a passkey
        </Button>
      </div>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void stepUp(async () => ({ password, code: code.replaceAll(/\s/g, '') }));
        }}
      >
        <Field label="Password">
          <input
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onInput={({ currentTarget }) => setPassword(currentTarget.value)}
          />
        </Field>
        <Field label="One-time code" help="The six digits that your authenticator shows now.">
          <input
            inputMode="numeric"
            autoComplete="one-time-code"
            pattern="\s*(\d\s*){6}"
            title="six digits"
            required
            value={code}
            onInput={({ currentTarget }) => setCode(currentTarget.value)}
          />
        </Field>
        <div class="form-actions">
          <Button type="submit" isBusy={isBusy}>
            Step up with password and code
          </Button>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
