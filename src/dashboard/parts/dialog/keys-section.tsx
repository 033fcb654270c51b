// The keys of an agent or an enforcement point, and a dialog that makes a new key and sets when the present
// one ends.

import { useState } from 'preact/hooks';
import type { Resource } from '../../api/resource.ts';
import { useSending } from '../form/form.ts';
import { SendForm } from '../form/send-form.tsx';
import { Button } from '../layout/button.tsx';
import { KeyTable, type KeyTableProps } from '../layout/key-table.tsx';
import { Loading, ProblemNote } from '../layout/note.tsx';
import { Section } from '../layout/page.tsx';
import { At } from '../layout/time.tsx';
import { Dialog } from './dialog.tsx';
import { NewKey } from './new-key.tsx';
import { StoredButton } from './shown-once.tsx';

// Makes a new key for an agent or an enforcement point, shown only this once, and sets when the present key
// ends.

interface KeyRotation {
  readonly api_key: string;
  readonly old_keys_end_at: string;
}

export interface RotateProps {
  /** Name of the agent or enforcement point that owns the key. */
  readonly name: string;
  /**
   * Id of an agent for which an enforcement point asks; null when it has no agent yet, absent for an agent's
   * own key.
   */
  readonly askedFor?: string | null;
  readonly send: (body: { readonly grace_seconds: number }) => Promise<KeyRotation>;
  readonly onRotated: () => void;
  readonly onClose: () => void;
}

const graces = [
  ['0', 'Now: requests with it are refused at once'],
  ['3600', 'In an hour'],
  ['86400', 'In a day'],
  ['604800', 'In a week'],
] as const;

function RotateDialog({ name, askedFor, send, onRotated, onClose }: RotateProps) {
  const [grace, setGrace] = useState('86400');
  const [made, setMade] = useState<KeyRotation | null>(null);
  const { isBusy, problem, run } = useSending();
  const rotate = (): Promise<void> =>
    run(async () => {
      setMade(await send({ grace_seconds: Number(grace) }));
      onRotated();
    });
  if (made !== null) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <NewKey apiKey={made.api_key} name={name} {...(askedFor === undefined ? {} : { askedFor })} />
        <p>
          The old key works until <At at={made.old_keys_end_at} />.
        </p>
        <StoredButton onClick={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Rotate the key" onClose={onClose}>
      <p>
        <bdi>{name}</bdi> gets a new key that works at once. When should the current key end?
      </p>
      <SendForm word="Create a new key" isBusy={isBusy} problem={problem} onSend={rotate} onCancel={onClose}>
        <fieldset>
          <legend class="field-legend">The current key ends</legend>
          {graces.map(([seconds, words]) => (
            <label class="choice" key={seconds}>
              <input
                type="radio"
                name="grace"
                checked={grace === seconds}
                onChange={() => setGrace(seconds)}
              />
              {words}
            </label>
          ))}
        </fieldset>
      </SendForm>
    </Dialog>
  );
}

interface KeysSectionProps extends Pick<RotateProps, 'name' | 'askedFor' | 'send'> {
  /** Tells a screen reader whose keys these are. */
  readonly label: string;
  /** The first characters of every key. */
  readonly prefix: string;
  readonly keys: Resource<{ readonly items: KeyTableProps['keys'] }>;
  readonly mayRotate: boolean;
  readonly onRotated: () => void;
}

export function KeysSection({ label, prefix, keys, mayRotate, onRotated, ...rotated }: KeysSectionProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section
      title="Keys"
      actions={
        mayRotate && (
          <Button icon="key" onClick={() => setOpen(true)}>
            Rotate key
          </Button>
        )
      }
    >
      <ProblemNote problem={keys.problem} onRetry={keys.reload} />
      {keys.data === null ? (
        keys.problem === null && <Loading lines={2} />
      ) : (
        <KeyTable label={label} prefix={prefix} keys={keys.data.items} />
      )}
      {isOpen && (
        <RotateDialog
          {...rotated}
          onRotated={() => {
            keys.reload();
            onRotated();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </Section>
  );
}
