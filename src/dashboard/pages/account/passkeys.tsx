// Passkeys: made by the person's own device, and removed when it is lost.

import { useState } from 'preact/hooks';
import { call, type Reply } from '../../api/client.ts';
import { makePasskey } from '../../api/passkey.ts';
import { useResource } from '../../api/resource.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { useSending } from '../../parts/form.ts';
import { Loading, ProblemNote } from '../../parts/note.tsx';
import { Section } from '../../parts/page.tsx';
import { PlainText } from '../../parts/plain-text.tsx';
import { Ago } from '../../parts/time.tsx';
import { tellDone } from '../../shell/toast.tsx';

type Passkey = Reply<'listPasskeys'>['items'][number];

export function Passkeys() {
  const { data, problem, reload } = useResource('listPasskeys', {});
  const [open, setOpen] = useState<'add' | Passkey | null>(null);
  return (
    <Section
      title="Passkeys"
      actions={
        <Button icon="passkey" onClick={() => setOpen('add')}>
          Add a passkey
        </Button>
      }
    >
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading lines={2} />}
      {data?.items.length === 0 && (
        <p>
          None yet. A passkey is your fingerprint, your face or a key: it signs you in without a password.
        </p>
      )}
      {data !== null && data.items.length > 0 && (
        <ul class="account-list">
          {data.items.map((passkey) => (
            <li key={passkey.id}>
              <span>
                <PlainText text={passkey.name} isShort />{' '}
                <span class="account-soft">
                  added <Ago at={passkey.created_at} />
                </span>
              </span>
              <Button onClick={() => setOpen(passkey)}>
                Remove
                <span class="visually-hidden">
                  {' '}
                  <PlainText text={passkey.name} isShort />
                </span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      {open === 'add' && <AddDialog onChange={reload} onClose={() => setOpen(null)} />}
      {open !== null && open !== 'add' && (
        <RemoveDialog passkey={open} onChange={reload} onClose={() => setOpen(null)} />
      )}
    </Section>
  );
}

interface DialogProps {
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function AddDialog({ onChange, onClose }: DialogProps) {
  const [name, setName] = useState('');
  const { isBusy, problem, run } = useSending();
  const add = (): Promise<void> =>
    run(async () => {
      const response = await makePasskey(await call('offerPasskey'));
      await call('addPasskey', { body: { name: name.trim(), response } });
      tellDone('The passkey is set up');
      onChange();
      onClose();
    });
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <ProblemNote problem={problem} />
        <Field label="Name of the device" help="So that you know it again: my phone, the blue key.">
          <input
            required
            maxLength={100}
            autoComplete="off"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </Field>
        <div class="form-actions">
          <Button look="primary" type="submit" icon="passkey" isBusy={isBusy}>
            Go on with the browser
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

function RemoveDialog({ passkey, onChange, onClose }: DialogProps & { readonly passkey: Passkey }) {
  return (
    <ConfirmDialog
      title="Remove the passkey"
      word="Remove it"
      done="The passkey is removed"
      work={() => call('removePasskey', { params: { id: passkey.id } })}
      onDone={onChange}
      onClose={onClose}
    >
      <strong>
        <PlainText text={passkey.name} isShort />
      </strong>{' '}
      signs you in no more.
    </ConfirmDialog>
  );
}
