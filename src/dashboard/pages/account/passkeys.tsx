// The person's passkeys: made by their own device, and removed when it is lost.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { makePasskey } from '../../api/passkey.ts';
import { useResource } from '../../api/resource.ts';
import { useReloadSession } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { NameField } from '../../parts/form/name-field.tsx';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Passkey = Reply<'listPasskeys'>['items'][number];

export function Passkeys() {
  const list = useResource('listPasskeys', {});
  const [open, setOpen] = useState<'add' | Passkey | null>(null);
  const dialog = { onChange: list.reload, onClose: () => setOpen(null) };
  return (
    <>
      <ListSection
        title="Passkeys"
        actions={
          <Button icon="passkey" onClick={() => setOpen('add')}>
            Add a passkey
          </Button>
        }
        list={list}
        lines={2}
        empty={
          <p>
            None yet. A passkey is your fingerprint, your face or a key: it signs you in without a password.
          </p>
        }
      >
        {(passkeys) => (
          <ul class="account-list">
            {passkeys.map((passkey) => (
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
      </ListSection>
      {open === 'add' && <AddDialog {...dialog} />}
      {open !== null && open !== 'add' && <RemoveDialog passkey={open} {...dialog} />}
    </>
  );
}

interface DialogProps {
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function AddDialog({ onChange, onClose }: DialogProps) {
  const [name, setName] = useState('');
  const reload = useReloadSession();
  const add = async (proof: Proof): Promise<void> => {
    const response = await makePasskey(await call('getPasskeyCreationOptions'));
    await call('addPasskey', { body: { name: name.trim(), response, ...proof } });
    showToast('The passkey is set up');
    onChange();
    onClose();
    await reload();
  };
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <ProofForm word="Continue in the browser" onProof={add} onClose={onClose}>
        <NameField
          label="Name of the device"
          help="To recognize it later: my phone, the blue key."
          value={name}
          onChange={setName}
        />
      </ProofForm>
    </Dialog>
  );
}

function RemoveDialog({ passkey, onChange, onClose }: DialogProps & { readonly passkey: Passkey }) {
  const reload = useReloadSession();
  const remove = async (proof: Proof): Promise<void> => {
    await call('deletePasskey', { params: { id: passkey.id }, body: proof });
    showToast('The passkey is removed');
    onChange();
    onClose();
    await reload();
  };
  return (
    <Dialog title="Remove the passkey" onClose={onClose}>
      <p>
        <strong>
          <PlainText text={passkey.name} isShort />
        </strong>{' '}
        no longer signs you in.
      </p>
      <ProofForm word="Remove it" variant="danger" onProof={remove} onClose={onClose} />
    </Dialog>
  );
}
