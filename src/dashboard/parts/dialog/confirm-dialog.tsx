// A dialog that asks for confirmation: it explains the action and has a button that does it and one that
// cancels. It closes once the action is done, with a message; a failure is shown inside.

import type { ComponentChildren } from 'preact';
import { useSending } from '../form/form.ts';
import { Button } from '../layout/button.tsx';
import { ProblemNote } from '../layout/note.tsx';
import { showToast } from '../layout/toast.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  /** The text on the button. */
  readonly word: string;
  readonly variant?: 'danger' | 'primary';
  /** The message that is shown when the action is done. */
  readonly done: string;
  readonly work: () => Promise<unknown>;
  /** Called after `work`, before the dialog closes. */
  readonly onDone: () => void;
  readonly onClose: () => void;
  /** What the action means. */
  readonly children: ComponentChildren;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, word, variant = 'danger', done, work, onDone, onClose, children } = props;
  const { isBusy, problem, run } = useSending();
  const confirm = (): Promise<void> =>
    run(async () => {
      await work();
      showToast(done);
      onDone();
      onClose();
    });
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <ProblemNote problem={problem} />
      <div class="form-actions">
        <Button variant={variant} isBusy={isBusy} onClick={() => void confirm()}>
          {word}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
