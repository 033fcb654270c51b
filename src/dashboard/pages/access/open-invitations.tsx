// The invitations whose links still work, and a dialog that withdraws one.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import type { Resource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Marks } from '../../parts/form/roles.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { Pager } from '../../parts/layout/pager.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { rolesOfAdmins } from './roles-and-groups-fields.tsx';

type OpenInvitation = Reply<'listInvitations'>['items'][number];

interface OpenInvitationsProps {
  readonly invitations: Resource<Reply<'listInvitations'>>;
  readonly onWithdrawn: (id: string) => void;
}

export function OpenInvitations({ invitations, onWithdrawn }: OpenInvitationsProps) {
  const { data, problem, isLoading, reload } = invitations;
  const [withdrawing, setWithdrawing] = useState<OpenInvitation | null>(null);
  return (
    <Section title="Open invitations" actions={<Pager nextCursor={data?.next_cursor ?? null} />}>
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading lines={3} />}
      {data?.items.length === 0 && (
        <Empty icon="people" title="No open invitations">
          <p>Invited people are listed here until they use their link, which works for a week.</p>
        </Empty>
      )}
      {data !== null && data.items.length > 0 && (
        <InvitationTable items={data.items} isOld={isLoading} onWithdraw={setWithdrawing} />
      )}
      {withdrawing !== null && (
        <WithdrawDialog
          invitation={withdrawing}
          onChange={onWithdrawn}
          onClose={() => setWithdrawing(null)}
        />
      )}
    </Section>
  );
}

interface InvitationTableProps {
  readonly items: readonly OpenInvitation[];
  readonly isOld: boolean;
  readonly onWithdraw: (invitation: OpenInvitation) => void;
}

function InvitationTable({ items, isOld, onWithdraw }: InvitationTableProps) {
  const mayInvite = useGrant('people.invite') === 'yes';
  const isAdmin = useGrant('people.change') === 'yes';
  const mayWithdraw = ({ roles, groups }: OpenInvitation): boolean =>
    isAdmin || (groups.length === 0 && !rolesOfAdmins.some((role) => roles.includes(role)));
  return (
    <TableScroll label="List of open invitations" isOld={isOld}>
      <table class="table table-stack">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">E-mail address</th>
            <th scope="col">Roles</th>
            <th scope="col">Groups</th>
            <th scope="col">Invited</th>
            <th scope="col">Ends</th>
            {mayInvite && <td />}
          </tr>
        </thead>
        <tbody>
          {items.map((invitation) => (
            <tr key={invitation.id}>
              <td data-label="Name">
                <PlainText text={invitation.name} isShort />
              </td>
              <td data-label="E-mail">
                <PlainText text={invitation.email} isShort />
              </td>
              <td data-label="Roles">
                <Marks words={invitation.roles} />
              </td>
              <td data-label="Groups">
                <Marks words={invitation.groups} />
              </td>
              <td data-label="Invited" class="access-when">
                <Ago at={invitation.created_at} />
              </td>
              <td data-label="Ends" class="access-when">
                <Ago at={invitation.ends_at} />
              </td>
              {mayInvite && (
                <td class="table-end">
                  {mayWithdraw(invitation) ? (
                    <Button onClick={() => onWithdraw(invitation)}>
                      Withdraw<span class="visually-hidden"> {invitation.email}</span>
                    </Button>
                  ) : (
                    <span class="access-soft">only an admin can withdraw it</span>
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

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
