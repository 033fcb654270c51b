// The dialog in which the control owner proves to be present.

import { call } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { StepUpForm } from '../../parts/form/step-up-form.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { agentName } from './request-table.tsx';
import type { RequestDetail } from './timeline-events.ts';

interface StepUpDialogProps {
  readonly request: RequestDetail;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function StepUpDialog({ request, onClose, onDone }: StepUpDialogProps) {
  const { request_id: id, action_key, title, expires_at: endsAt } = request;
  return (
    <Dialog title="Step up" onClose={onClose}>
      <p>
        <strong>
          <PlainText text={agentName(request)} isShort />
        </strong>{' '}
        asks for{' '}
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
      <StepUpForm
        challenge={() => call('getRequestStepUpChallenge', { params: { id } })}
        endsAt={endsAt}
        onClose={onClose}
        onProof={async (proof) => {
          const { status } = await call('stepUpForRequest', { params: { id }, body: proof });
          showToast(
            status === 'pending' ? 'You stepped up; the request still needs approvals' : 'You stepped up',
          );
          onDone();
          onClose();
        }}
      />
    </Dialog>
  );
}
