// The invitations whose links still work, and a dialog that withdraws one.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import type { Resource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Marks } from '../../parts/form/roles.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { rolesOfAdmins } from './roles-and-groups-fields.tsx';

type OpenInvitation = Reply<'listInvitations'>['items'][number];

interface OpenInvitationsProps {
  readonly invitations: Resource<Reply<'listInvitations'>>;
  readonly onWithdrawn: (id: string) => void;
}

export function OpenInvitations({ invitations, onWithdrawn }: OpenInvitationsProps) {
  const [withdrawing, setWithdrawing] = useState<OpenInvitation | null>(null);
  const mayInvite = useGrant('people.invite') === 'yes';
  const isAdmin = useGrant('people.change') === 'yes';
  const mayWithdraw = ({ roles, groups }: OpenInvitation): boolean =>
    isAdmin || (groups.length === 0 && !rolesOfAdmins.some((role) => roles.includes(role)));
  const withdrawColumn: Column<OpenInvitation> = {
    head: 'Actions',
    kind: 'actions',
    cell: (invitation) =>
      mayWithdraw(invitation) ? (
        <Button onClick={() => setWithdrawing(invitation)}>
          Withdraw<span class="visually-hidden"> {invitation.email}</span>
        </Button>
      ) : (
        <span class="access-soft">only an admin can withdraw it</span>
      ),
  };
  return (
    <>
      <ListSection
        title="Open invitations"
        list={invitations}
        lines={3}
        empty={
          <Empty icon="people" title="No open invitations">
            <p>Invited people are listed here until they use their link, which works for a week.</p>
          </Empty>
        }
      >
        {(items, isOld) => (
          <DataTable
            label="List of open invitations"
            columns={[...columns, mayInvite && withdrawColumn]}
            rows={items}
            rowKey={({ id }) => id}
            isOld={isOld}
          />
        )}
      </ListSection>
      {withdrawing !== null && (
        <WithdrawDialog
          invitation={withdrawing}
          onChange={onWithdrawn}
          onClose={() => setWithdrawing(null)}
        />
      )}
    </>
  );
}

const columns: readonly Column<OpenInvitation>[] = [
  { head: 'Name', kind: 'row', cell: ({ name }) => <PlainText text={name} isShort /> },
  { head: 'E-mail address', label: 'E-mail', cell: ({ email }) => <PlainText text={email} isShort /> },
  { head: 'Roles', cell: ({ roles }) => <Marks words={roles} /> },
  { head: 'Groups', cell: ({ groups }) => <Marks words={groups} /> },
  { head: 'Invited', class: 'table-when', cell: ({ created_at: at }) => <Ago at={at} /> },
  { head: 'Ends', class: 'table-when', cell: ({ ends_at: at }) => <Ago at={at} /> },
];

interface WithdrawDialogProps {
  readonly invitation: OpenInvitation;
  readonly onChange: (id: string) => void;
  readonly onClose: () => void;
}

function WithdrawDialog({ invitation: { id, email }, onChange, onClose }: WithdrawDialogProps) {
  return (
    <ConfirmDialog
      title="Withdraw the invitation"
      word="Withdraw it"
      done="The invitation is withdrawn"
      work={() => call('withdrawInvitation', { params: { id } })}
      onDone={() => onChange(id)}
      onClose={onClose}
    >
      The link that <PlainText text={email} isShort /> received stops working. To give them access later,
      invite them again.
    </ConfirmDialog>
  );
}
