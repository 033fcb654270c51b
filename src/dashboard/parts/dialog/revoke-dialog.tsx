// Revokes an agent or an enforcement point permanently. Its name must be typed first, because this cannot be
// undone.

import { useState } from 'preact/hooks';
import { Field } from '../form/field.tsx';
import { useSending } from '../form/form.ts';
import { SendForm } from '../form/send-form.tsx';
import { showToast } from '../layout/toast.tsx';
import { Dialog } from './dialog.tsx';

interface RevokeDialogProps {
  /** The kind of thing, such as `agent`. */
  readonly noun: string;
  readonly name: string;
  readonly send: (body: { readonly name: string }) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function RevokeDialog({ noun: what, name, send, onDone, onClose }: RevokeDialogProps) {
  const [typed, setTyped] = useState('');
  const { isBusy, problem, run } = useSending();
  const revoke = (): Promise<void> =>
    run(async () => {
      await send({ name });
      showToast(`${name} is revoked`);
      onDone();
      onClose();
    });
  return (
    <Dialog title={`Revoke the ${what}`} onClose={onClose}>
      <p>
        All its requests are refused permanently, with any key. This cannot be undone: to continue, register
        another. What it has done stays in the record.
      </p>
      <SendForm
        word="Revoke permanently"
        variant="danger"
        isReady={typed === name}
        isBusy={isBusy}
        problem={problem}
        onSend={revoke}
        onCancel={onClose}
      >
        <Field
          label={`Name of the ${what}`}
          name="name"
          help={
            <>
              Type <strong>{name}</strong> to confirm.
            </>
          }
        >
          <input
            required
            autoComplete="off"
            spellcheck={false}
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </Field>
      </SendForm>
    </Dialog>
  );
}
