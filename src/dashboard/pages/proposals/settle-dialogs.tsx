// The dialogs that accept and reject a proposal, each with a comment for the record.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import type { ProposalDetail } from './proposal.tsx';

interface DialogProps {
  readonly proposal: ProposalDetail;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function AcceptDialog({ proposal, onDone, onClose }: DialogProps) {
  const { id, active_digest, proposed_digest, classification } = proposal;
  const breaks = classification === 'breaks-guarantee';
  const [isBreakAccepted, setBreakAccepted] = useState(false);
  const accept = async (comment: string): Promise<void> => {
    const body = { active_digest, proposed_digest: proposed_digest ?? '', comment };
    const accepted = await call('acceptProposal', {
      params: { id },
      body: breaks ? { ...body, breaks_guarantee: isBreakAccepted } : body,
    });
    showToast(
      accepted.delivery === 'files' ? 'The proposed policies are active' : 'Accepted: apply the patch',
    );
  };
  return (
    <SettleDialog
      title="Accept the proposal"
      word="Accept"
      isReady={!breaks || isBreakAccepted}
      settle={accept}
      onDone={onDone}
      onClose={onClose}
      lead="The service writes the files and makes the proposed policies active. Where it cannot write, you get the patch. It is recorded with your name."
    >
      {breaks && (
        <label class="proposal-breaks">
          <input
            type="checkbox"
            checked={isBreakAccepted}
            onChange={({ currentTarget }) => setBreakAccepted(currentTarget.checked)}
          />
          I accept that it breaks a guarantee
        </label>
      )}
    </SettleDialog>
  );
}

export function RejectDialog({ proposal: { id }, onDone, onClose }: DialogProps) {
  const reject = async (comment: string): Promise<void> => {
    await call('rejectProposal', { params: { id }, body: { comment } });
    showToast('The proposal is rejected');
  };
  return (
    <SettleDialog
      title="Reject the proposal"
      word="Reject"
      isReady
      settle={reject}
      onDone={onDone}
      onClose={onClose}
      lead="The policies stay as they are. The proposer sees the reason."
    />
  );
}

interface SettleProps extends Pick<DialogProps, 'onDone' | 'onClose'> {
  readonly title: string;
  readonly word: string;
  readonly lead: string;
  readonly isReady: boolean;
  readonly settle: (comment: string) => Promise<void>;
  readonly children?: ComponentChildren;
}

function SettleDialog({ title, word, lead, isReady, settle, onDone, onClose, children }: SettleProps) {
  const { isBusy, problem, run } = useSending();
  const [comment, setComment] = useState('');
  const send = (): Promise<void> =>
    run(async () => {
      try {
        await settle(comment.trim());
        onClose();
      } finally {
        // A refusal may come from a proposal that was judged again.
        onDone();
      }
    });
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{lead}</p>
      <SendForm
        word={word}
        variant={word === 'Reject' ? 'danger' : 'primary'}
        isReady={isReady}
        isBusy={isBusy}
        problem={problem}
        onSend={send}
        onCancel={onClose}
      >
        <Field label="Reason" name="comment">
          <input
            required
            maxLength={500}
            value={comment}
            onInput={({ currentTarget }) => setComment(currentTarget.value)}
          />
        </Field>
        {children}
      </SendForm>
    </Dialog>
  );
}
