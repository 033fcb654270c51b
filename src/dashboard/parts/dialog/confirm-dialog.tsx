// One more question before something is done: what it means, a button that does it, and a way back. It closes once it is
// done, and says so; what fails stays in it.

import type { ComponentChildren } from 'preact';
import { useSending } from '../form/form.ts';
import { Button } from '../layout/button.tsx';
import { ProblemNote } from '../layout/note.tsx';
import { tellDone } from '../layout/toast.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  /** On the button. */
  readonly word: string;
  readonly look?: 'danger' | 'primary';
  /** Told when it is done. */
  readonly done: string;
  readonly work: () => Promise<unknown>;
  /** After `work`, before it closes. */
  readonly onDone: () => void;
  readonly onClose: () => void;
  /** What it means. */
  readonly children: ComponentChildren;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, word, look = 'danger', done, work, onDone, onClose, children } = props;
  const { isBusy, problem, run } = useSending();
  const confirm = (): Promise<void> =>
    run(async () => {
      await work();
      tellDone(done);
      onDone();
      onClose();
    });
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <ProblemNote problem={problem} />
      <div class="form-actions">
        <Button look={look} isBusy={isBusy} onClick={() => void confirm()}>
          {word}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
