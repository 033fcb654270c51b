// Fields that are sent by one button: what is wrong stands above them, and the button is busy until the answer is there.

import type { ComponentChildren } from 'preact';
import { Button } from '../layout/button.tsx';
import { ProblemNote } from '../layout/note.tsx';

interface SendFormProps {
  /** What the button says. */
  readonly word: string;
  readonly look?: 'primary' | 'danger';
  readonly isBusy: boolean;
  readonly problem: unknown;
  readonly onSend: () => Promise<void>;
  /** Absent where there is nothing to go back to. */
  readonly onCancel?: () => void;
  readonly children?: ComponentChildren;
}

export function SendForm(props: SendFormProps) {
  const { word, look = 'primary', isBusy, problem, onSend, onCancel, children } = props;
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void onSend();
      }}
    >
      <ProblemNote problem={problem} />
      {children}
      <div class="form-actions">
        <Button look={look} type="submit" isBusy={isBusy}>
          {word}
        </Button>
        {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </form>
  );
}
