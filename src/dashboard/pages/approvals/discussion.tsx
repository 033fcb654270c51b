// The form for remarks on a waiting request that do not decide it: a comment, a question to the control
// owner, or an answer.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';

type Kind = RequestDetail['comments'][number]['kind'];

const textLengthMax = 2_000;

interface DiscussionProps {
  readonly request: RequestDetail;
  readonly reload: () => void;
}

export function Discussion({ request, reload }: DiscussionProps) {
  const { request_id: id, allowed_actions: allowed, comments, status } = request;
  const [kind, setKind] = useState<Kind>('comment');
  const [text, setText] = useState('');
  const { isBusy, problem, run } = useSending();
  if (status !== 'pending' || allowed?.comment !== true) return null;
  const isAsked = comments.some((one) => one.kind === 'question');
  const send = (): Promise<void> =>
    run(async () => {
      await call('addComment', { params: { id }, body: { kind, text: text.trim() } });
      setText('');
      showToast(doneTexts[kind]);
      reload();
    });
  return (
    <Section title="Comment">
      <SendForm word="Send" variant="plain" isBusy={isBusy} problem={problem} onSend={send}>
        <Field label="Kind" name="kind">
          <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value as Kind)}>
            <option value="comment">Comment</option>
            <option value="question">Question to the control owner</option>
            {isAsked && <option value="answer">Answer</option>}
          </select>
        </Field>
        <Field label="Text" name="text" help="Recorded with your name. The agent does not see it.">
          <textarea
            required
            maxLength={textLengthMax}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </Field>
      </SendForm>
    </Section>
  );
}

const doneTexts: Readonly<Record<Kind, string>> = {
  comment: 'Your comment is recorded',
  question: 'Your question is recorded',
  answer: 'Your answer is recorded',
};
