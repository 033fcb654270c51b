// Personal tokens for a person's programs: made with some of the person's roles, shown once, and removable at
// any time.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { detailFor } from '../../api/problem.ts';
import { useResource } from '../../api/resource.ts';
import { usePerson, useReloadSession } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { ShownOnce, StoredButton } from '../../parts/dialog/shown-once.tsx';
import { Field } from '../../parts/form/field.tsx';
import { NameField } from '../../parts/form/name-field.tsx';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { isRole, Marks, type Role, RoleChoice } from '../../parts/form/roles.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type AccessToken = Reply<'listTokens'>['items'][number];

export function Tokens() {
  const { data, problem, reload } = useResource('listTokens', {});
  const [open, setOpen] = useState<'make' | AccessToken | null>(null);
  return (
    <Section
      title="Personal tokens"
      actions={
        <Button icon="plus" onClick={() => setOpen('make')}>
          Create a token
        </Button>
      }
    >
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading lines={2} />}
      {data?.items.length === 0 && (
        <Empty icon="key" title="No token yet">
          <p>
            A program sends one as <code>Authorization: Bearer writp_…</code> and can do what you can, as far
            as you allow it to.
          </p>
        </Empty>
      )}
      {data !== null && data.items.length > 0 && <TokenTable tokens={data.items} onRemove={setOpen} />}
      {open === 'make' && <MakeDialog onChange={reload} onClose={() => setOpen(null)} />}
      {open !== null && open !== 'make' && (
        <RemoveDialog token={open} onChange={reload} onClose={() => setOpen(null)} />
      )}
    </Section>
  );
}

interface TableProps {
  readonly tokens: readonly AccessToken[];
  readonly onRemove: (token: AccessToken) => void;
}

function TokenTable({ tokens, onRemove }: TableProps) {
  return (
    <TableScroll label="Tokens">
      <table class="table table-stack">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Token</th>
            <th scope="col">Roles</th>
            <th scope="col">Created</th>
            <th scope="col">Ends</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <tr key={token.id}>
              <td data-label="Name">
                <PlainText text={token.name} isShort />
              </td>
              <td data-label="Token">
                <code>writp_{token.id}…</code>
              </td>
              <td data-label="Roles">
                <Marks words={token.roles} />
              </td>
              <td data-label="Created">
                <Ago at={token.created_at} />
              </td>
              <td data-label="Ends">
                <Ago at={token.ends_at} />
              </td>
              <td class="table-end">
                <Button onClick={() => onRemove(token)}>
                  Remove
                  <span class="visually-hidden">
                    {' '}
                    <PlainText text={token.name} isShort />
                  </span>
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
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
        <ShownOnce title={made.name} label="token" text={made.token} />
        <StoredButton onClick={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Create a token" onClose={onClose}>
      <ProofForm word="Create the token" onProof={make} onClose={onClose}>
        {(problem) => (
          <>
            <NameField help="What will use it." value={name} onChange={setName} problem={problem} />
            <RoleChoice
              legend="It can act as"
              offered={held}
              chosen={roles}
              onChoose={setRoles}
              problem={detailFor(problem, 'roles')}
            />
            <Field label="Valid for" problem={detailFor(problem, 'days')}>
              <select value={days} onChange={({ currentTarget }) => setDays(currentTarget.value)}>
                {spans.map(([value, word]) => (
                  <option key={value} value={value}>
                    {word}
                  </option>
                ))}
              </select>
            </Field>
          </>
        )}
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
      Whatever still sends{' '}
      <strong>
        <PlainText text={token.name} isShort />
      </strong>{' '}
      is refused from now on.
    </ConfirmDialog>
  );
}
