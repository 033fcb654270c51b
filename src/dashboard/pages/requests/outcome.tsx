// The dialog in which a person reports the outcome of a grant. The report ends the grant and cannot be taken
// back.

import { call } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import type { RequestDetail } from './timeline-events.ts';

interface OutcomeDialogProps {
  readonly request: RequestDetail;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function OutcomeDialog({ request, onClose, onDone }: OutcomeDialogProps) {
  const { problem, run } = useSending();
  const report = (executed: boolean): Promise<void> =>
    run(async () => {
      await call('reportOutcome', { params: { id: request.request_id }, body: { executed } });
      showToast(executed ? 'Reported: it was carried out' : 'Reported: it will not be carried out');
      onDone();
      onClose();
    });
  return (
    <Dialog title="Outcome of the request" onClose={onClose}>
      <p>
        Usually the agent reports the outcome itself. Your report ends the grant and cannot be undone. It is
        recorded with your name.
      </p>
      <ProblemNote problem={problem} />
      <div class="form-actions">
        <Button variant="primary" onClick={() => report(true)}>
          It was carried out
        </Button>
        {request.status !== 'expired' && (
          <Button onClick={() => report(false)}>It will not be carried out</Button>
        )}
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}
