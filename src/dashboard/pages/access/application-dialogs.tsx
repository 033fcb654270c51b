// Dialogs that answer an application. Granting it with roles makes an invitation, whose link is shown once.
// Declining it takes a reason.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { InvitationLink } from './invitations.tsx';
import { type RolesAndGroups, RolesAndGroupsFields } from './roles-and-groups-fields.tsx';

export type Application = Reply<'listApplications'>['items'][number];

interface DialogProps {
  readonly application: Application;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

export function GrantDialog({ application, onChange, onClose }: DialogProps) {
  const [rolesAndGroups, setRolesAndGroups] = useState<RolesAndGroups>({ roles: [], groups: [] });
  const [invited, setInvited] = useState<Reply<'grantApplication'> | null>(null);
  const { isBusy, problem, run } = useSending();
  const grant = (): Promise<void> =>
    run(async () => {
      setInvited(await call('grantApplication', { params: { id: application.id }, body: rolesAndGroups }));
      onChange();
    });
  if (invited !== null) {
    return (
      <Dialog title="Granted" onClose={onClose}>
        <InvitationLink invited={invited} />
        <div class="form-actions">
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Grant access" onClose={onClose}>
      <Who application={application} />
      <SendForm word="Grant access" isBusy={isBusy} problem={problem} onSend={grant} onCancel={onClose}>
        <RolesAndGroupsFields rolesAndGroups={rolesAndGroups} onChange={setRolesAndGroups} />
      </SendForm>
    </Dialog>
  );
}

export function DeclineDialog({ application, onChange, onClose }: DialogProps) {
  const [reason, setReason] = useState('');
  const { isBusy, problem, run } = useSending();
  const decline = (): Promise<void> =>
    run(async () => {
      await call('declineApplication', { params: { id: application.id }, body: { reason } });
      showToast('Declined');
      onChange();
      onClose();
    });
  return (
    <Dialog title="Decline the application" onClose={onClose}>
      <Who application={application} />
      <SendForm
        word="Decline"
        variant="danger"
        isBusy={isBusy}
        problem={problem}
        onSend={decline}
        onCancel={onClose}
      >
        <Field label="Reason" help="The applicant reads it." name="reason">
          <textarea
            required
            maxLength={2_000}
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </Field>
      </SendForm>
    </Dialog>
  );
}

function Who({ application: { name, email } }: Pick<DialogProps, 'application'>) {
  return (
    <p>
      <strong>
        <PlainText text={name} isShort />
      </strong>{' '}
      <PlainText text={email} isShort />
    </p>
  );
}
