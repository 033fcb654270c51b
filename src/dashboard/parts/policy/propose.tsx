// Proposes a change of the policies: a button that asks for the reason, sends the change, and opens its page.

import { useState } from 'preact/hooks';
import type { Operations } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { go } from '../../navigation/navigation.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { useSending } from '../form/form.ts';
import { ReasonField } from '../form/reason-field.tsx';
import { SendForm } from '../form/send-form.tsx';
import { Button } from '../layout/button.tsx';
import { showToast } from '../layout/toast.tsx';

interface ProposeProps {
  /** The change, without its reason. */
  readonly change: Omit<Operations['proposePolicies']['body'], 'reason'>;
  /** What the button is about, for screen readers. */
  readonly about?: string;
}

export function ProposeButton(props: ProposeProps) {
  const [isOpen, setOpen] = useState(false);
  if (useGrant('proposals.make') !== 'yes') return null;
  return (
    <>
      <Button icon="proposal" onClick={() => setOpen(true)}>
        Propose…{props.about !== undefined && <span class="visually-hidden"> {props.about}</span>}
      </Button>
      {isOpen && <ProposeDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ProposeDialog({ change, onClose }: ProposeProps & { readonly onClose: () => void }) {
  const { isBusy, problem, run } = useSending();
  const [reason, setReason] = useState('');
  const send = (): Promise<void> =>
    run(async () => {
      const { id } = await call('proposePolicies', { body: { ...change, reason: reason.trim() } });
      showToast('Proposed');
      go(`/proposals/${id}`);
    });
  return (
    <Dialog title="Propose the change" onClose={onClose}>
      <p>
        The service compiles the change, runs the tests and proves what it means. Nothing changes until
        somebody else accepts it.
      </p>
      <SendForm word="Propose" isBusy={isBusy} problem={problem} onSend={send} onCancel={onClose}>
        <ReasonField reason={reason} onChange={setReason} help="Shown to the person who decides." />
      </SendForm>
    </Dialog>
  );
}
