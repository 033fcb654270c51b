// The word of what became of a grant, by somebody who knows. It ends the grant and cannot be taken back.

import { call } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useSending } from '../../parts/form.ts';
import { ProblemNote } from '../../parts/note.tsx';
import { tellDone } from '../../shell/toast.tsx';
import type { RequestDetail } from './story.ts';

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
      tellDone(executed ? 'Reported: it was carried out' : 'Reported: it will not be carried out');
      onDone();
      onClose();
    });
  return (
    <Dialog title="What became of it" onClose={onClose}>
      <p>
        Usually the agent says so itself. Your report ends the grant and cannot be taken back; it stands in
        the record under your name.
      </p>
      <ProblemNote problem={problem} />
      <div class="form-actions">
        <Button look="primary" onClick={() => report(true)}>
          It was carried out
        </Button>
        {request.status !== 'expired' && (
          <Button onClick={() => report(false)}>It will not be carried out</Button>
        )}
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}
