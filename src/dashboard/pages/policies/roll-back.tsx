// Rolls back to an earlier set: the dialog explains the effect and asks for a reason before the files are
// written. If the files come from Git, it shows the command instead.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { type Activation, diffHref, shortDigest } from '../../parts/diff/activations.ts';
import { useSending } from '../../parts/form/form.ts';
import { ReasonField } from '../../parts/form/reason-field.tsx';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { CopyText } from '../../parts/text/copy.tsx';

interface RollBackProps {
  readonly activation: Activation;
  /** Digest of the active policies. */
  readonly active: string;
}

export function RollBack({ activation, active }: RollBackProps) {
  const [isOpen, setOpen] = useState(false);
  if (useGrant('policies.roll-back') !== 'yes') return null;
  return (
    <div>
      <Button onClick={() => setOpen(true)}>
        Roll back to this<span class="visually-hidden"> set of {activation.activated_at}</span>
      </Button>
      {isOpen && <RollBackDialog activation={activation} active={active} onClose={() => setOpen(false)} />}
    </div>
  );
}

function RollBackDialog({ activation, active, onClose }: RollBackProps & { readonly onClose: () => void }) {
  const { digest, commit } = activation;
  const { isBusy, problem, run } = useSending();
  const [reason, setReason] = useState('');
  const send = (): Promise<void> =>
    run(async () => {
      await call('rollBackPolicies', { body: { digest, active_digest: active, reason: reason.trim() } });
      showToast(`${shortDigest(digest)} is active again`);
      onClose();
    });
  return (
    <Dialog title={`Roll back to ${shortDigest(digest)}`} onClose={onClose}>
      <p>
        The files of this set are written into the policy directory in place of the active ones, which stay in
        the history. It is recorded with your name. <a href={diffHref({ old: active, new: digest })}>Diff</a>
      </p>
      {commit !== null && (
        <>
          <p>Where the directory comes from Git, this command does the same there:</p>
          <CopyText text={`git checkout ${commit} -- .`} label="the command" />
        </>
      )}
      <SendForm
        word="Roll back"
        variant="danger"
        isBusy={isBusy}
        problem={problem}
        onSend={send}
        onCancel={onClose}
      >
        <ReasonField reason={reason} onChange={setReason} />
      </SendForm>
    </Dialog>
  );
}
