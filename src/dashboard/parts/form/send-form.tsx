// Fields with one button that sends them. The problem is shown above the fields, and the button is busy until
// the answer arrives.

import type { ComponentChildren } from 'preact';
import { Button } from '../layout/button.tsx';
import { ProblemNote } from '../layout/note.tsx';

interface SendFormProps {
  /** The text on the button. */
  readonly word: string;
  readonly look?: 'primary' | 'danger';
  readonly isBusy: boolean;
  readonly problem: unknown;
  readonly onSend: () => Promise<void>;
  /** Absent when there is nothing to go back to. */
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
