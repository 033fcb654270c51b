// Personal tokens for a person's programs: made with some of the person's roles, shown once, and removable at
// any time.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { usePerson, useReloadSession } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { OneTimeSecret, StoredButton } from '../../parts/dialog/one-time-secret.tsx';
import { Field } from '../../parts/form/field.tsx';
import { NameField } from '../../parts/form/name-field.tsx';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { isRole, Marks, type Role, RoleChoice } from '../../parts/form/roles.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type AccessToken = Reply<'listTokens'>['items'][number];

export function Tokens() {
  const list = useResource('listTokens', {});
  const [open, setOpen] = useState<'make' | AccessToken | null>(null);
  const dialog = { onChange: list.reload, onClose: () => setOpen(null) };
  return (
    <>
      <ListSection
        title="Personal tokens"
        actions={
          <Button icon="plus" onClick={() => setOpen('make')}>
            Create a token
          </Button>
        }
        list={list}
        lines={2}
        empty={
          <Empty icon="key" title="No token yet">
            <p>
              A program sends one as <code>Authorization: Bearer writp_…</code> and has the roles that you
              choose, at most your own.
            </p>
          </Empty>
        }
      >
        {(tokens) => (
          <DataTable label="Tokens" columns={columnsOf(setOpen)} rows={tokens} rowKey={({ id }) => id} />
        )}
      </ListSection>
      {open === 'make' && <MakeDialog {...dialog} />}
      {open !== null && open !== 'make' && <RemoveDialog token={open} {...dialog} />}
    </>
  );
}

function columnsOf(onRemove: (token: AccessToken) => void): readonly Column<AccessToken>[] {
  return [
    { head: 'Name', kind: 'row', cell: ({ name }) => <PlainText text={name} isShort /> },
    { head: 'Token', cell: ({ id }) => <code>writp_{id}…</code> },
    { head: 'Roles', cell: ({ roles }) => <Marks words={roles} /> },
    { head: 'Created', cell: ({ created_at: at }) => <Ago at={at} /> },
    { head: 'Ends', cell: ({ ends_at: at }) => <Ago at={at} /> },
    {
      head: 'Actions',
      kind: 'actions',
      cell: (token) => (
        <Button onClick={() => onRemove(token)}>
          Remove
          <span class="visually-hidden">
            {' '}
            <PlainText text={token.name} isShort />
          </span>
        </Button>
      ),
    },
  ];
}

interface DialogProps {
  readonly onChange: () => void;
  readonly onClose: () => void;
}

const spans = [
  ['7', 'a week'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['366', 'a year'],
] as const;

function MakeDialog({ onChange, onClose }: DialogProps) {
  const held = usePerson().roles.filter(isRole);
  const [name, setName] = useState('');
  const [roles, setRoles] = useState<readonly Role[]>(held.length === 1 ? held : []);
  const [days, setDays] = useState('90');
  const [made, setMade] = useState<Reply<'createToken'> | null>(null);
  const reload = useReloadSession();
  const make = async (proof: Proof): Promise<void> => {
    const body = { name: name.trim(), roles, days: Number(days), ...proof };
    setMade(await call('createToken', { body }));
    onChange();
    await reload();
  };
  if (made !== null) {
    return (
      <Dialog title="The new token" onClose={onClose}>
        <OneTimeSecret title={made.name} label="token" text={made.token} />
        <StoredButton onClick={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Create a token" onClose={onClose}>
      <ProofForm word="Create the token" onProof={make} onClose={onClose}>
        <NameField help="The program that will use it." value={name} onChange={setName} />
        <RoleChoice legend="It can act as" offered={held} chosen={roles} onChoose={setRoles} />
        <Field label="Valid for" name="days">
          <select value={days} onChange={({ currentTarget }) => setDays(currentTarget.value)}>
            {spans.map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        </Field>
      </ProofForm>
    </Dialog>
  );
}

function RemoveDialog({ token, onChange, onClose }: DialogProps & { readonly token: AccessToken }) {
  return (
    <ConfirmDialog
      title="Remove the token"
      word="Remove it"
      done="The token is removed"
      work={() => call('deleteToken', { params: { id: token.id } })}
      onDone={onChange}
      onClose={onClose}
    >
      A program that still sends{' '}
      <strong>
        <PlainText text={token.name} isShort />
      </strong>{' '}
      is refused from now on.
    </ConfirmDialog>
  );
}
