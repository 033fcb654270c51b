// The form for anybody to apply for access. Afterwards the page shows when to expect an answer.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { EmailField } from '../../parts/form/email-field.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { NameField } from '../../parts/form/name-field.tsx';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { Ago, At } from '../../parts/layout/time.tsx';

const reasonLengthMax = 2_000;

export default function Apply() {
  const [answer, setAnswer] = useState<Reply<'applyForAccess'> | null>(null);
  return (
    <div class="alone-card">
      <PageFrame title="Apply for access" lead="An operator of this service answers within 24 hours.">
        {answer === null ? <ApplyForm onDone={setAnswer} /> : <Applied dueAt={answer.due_at} />}
        <p>
          Already have an account? <a href="/">Sign in</a>.
        </p>
      </PageFrame>
    </div>
  );
}

function Applied({ dueAt }: { readonly dueAt: string }) {
  return (
    <div role="status">
      <Note tone="allow" icon="check">
        <strong>Your application has arrived.</strong>
        <p>
          You will get an answer by <At at={dueAt} /> (<Ago at={dueAt} />
          ): an invitation link, or the reason for a refusal.
        </p>
      </Note>
    </div>
  );
}

function ApplyForm({ onDone }: { readonly onDone: (answer: Reply<'applyForAccess'>) => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [reason, setReason] = useState('');
  const { isBusy, problem, run } = useSending();
  const send = (): Promise<void> =>
    run(async () =>
      onDone(await call('applyForAccess', { body: { name: name.trim(), email: email.trim(), reason } })),
    );
  return (
    <SendForm word="Apply" isBusy={isBusy} problem={problem} onSend={send}>
      <NameField label="Your name" autoComplete="name" value={name} onChange={setName} />
      <EmailField autoComplete="email" value={email} onChange={setEmail} />
      <Field
        label="Reason"
        help={`${reason.length} of ${reasonLengthMax.toLocaleString()} characters`}
        name="reason"
      >
        <textarea
          required
          maxLength={reasonLengthMax}
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </Field>
    </SendForm>
  );
}
