// Answering an application: granting it with roles, which makes an invitation whose link is shown once, or declining it
// with a reason.

import { useState } from 'preact/hooks';
import { call, type Reply } from '../../api/client.ts';
import { detailFor } from '../../api/problem.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { InvitationLink } from './invitation-link.tsx';
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
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Grant access" onClose={onClose}>
      <Who application={application} />
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void grant();
        }}
      >
        <ProblemNote problem={problem} />
        <RolesAndGroupsFields
          rolesAndGroups={rolesAndGroups}
          onChange={setRolesAndGroups}
          problem={problem}
        />
        <div class="form-actions">
          <Button look="primary" type="submit" isBusy={isBusy}>
            Grant access
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

export function DeclineDialog({ application, onChange, onClose }: DialogProps) {
  const [reason, setReason] = useState('');
  const { isBusy, problem, run } = useSending();
  const decline = (): Promise<void> =>
    run(async () => {
      await call('declineApplication', { params: { id: application.id }, body: { reason } });
      tellDone('Declined');
      onChange();
      onClose();
    });
  return (
    <Dialog title="Decline the application" onClose={onClose}>
      <Who application={application} />
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void decline();
        }}
      >
        <ProblemNote problem={problem} />
        <Field label="Reason" help="The applicant reads it." problem={detailFor(problem, 'reason')}>
          <textarea
            required
            maxLength={2_000}
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </Field>
        <div class="form-actions">
          <Button look="danger" type="submit" isBusy={isBusy}>
            Decline
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
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
