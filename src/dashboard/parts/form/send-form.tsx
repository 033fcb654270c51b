// Fields with a button that sends them. The problem is shown above the fields, and the button is busy until the answer
// arrives.

import type { ComponentChildren } from 'preact';
import { Button } from '../layout/button.tsx';
import type { IconName } from '../layout/icon.tsx';
import { ProblemNote } from '../layout/note.tsx';

interface SendFormProps {
  /** The text on the button. */
  readonly word: string;
  readonly look?: 'primary' | 'danger' | 'plain';
  readonly icon?: IconName;
  /** Whether the button can be pressed. */
  readonly isReady?: boolean;
  readonly isBusy: boolean;
  readonly problem: unknown;
  readonly onSend: () => Promise<void>;
  /** Absent when there is nothing to go back to. */
  readonly onCancel?: () => void;
  /** Further buttons. */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function SendForm(props: SendFormProps) {
  const {
    word,
    look = 'primary',
    icon,
    isReady = true,
    isBusy,
    problem,
    onSend,
    onCancel,
    actions,
    children,
  } = props;
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void onSend();
      }}
    >
      <ProblemNote problem={problem} />
      {children}
      <div class="form-actions">
        <Button look={look} type="submit" isBusy={isBusy} disabled={!isReady} {...(icon && { icon })}>
          {word}
        </Button>
        {actions}
        {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </form>
  );
}
