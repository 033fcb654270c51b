// Fields with a button that sends them. The button is busy until the answer arrives.

import type { ComponentChildren } from 'preact';
import { Button } from '../layout/button.tsx';
import type { IconName } from '../layout/icon.tsx';
import { FormFrame } from './form-frame.tsx';

interface SendFormProps {
  /** The text on the button. */
  readonly word: string;
  readonly variant?: 'primary' | 'danger' | 'plain';
  readonly icon?: IconName;
  /** Whether the button can be pressed. */
  readonly isReady?: boolean;
  readonly isBusy: boolean;
  readonly problem: unknown;
  /** The fields to which problems without a place belong, by the code of the problem. */
  readonly fieldOf?: Readonly<Record<string, string>>;
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
    variant = 'primary',
    icon,
    isReady = true,
    isBusy,
    problem,
    fieldOf,
    onSend,
    onCancel,
    actions,
    children,
  } = props;
  return (
    <FormFrame
      problem={problem}
      onSend={() => (isReady ? onSend() : undefined)}
      {...(fieldOf && { fieldOf })}
    >
      {children}
      <div class="form-actions">
        <Button variant={variant} type="submit" isBusy={isBusy} disabled={!isReady} {...(icon && { icon })}>
          {word}
        </Button>
        {actions}
        {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </FormFrame>
  );
}
