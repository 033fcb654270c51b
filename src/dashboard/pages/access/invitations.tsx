// The form that invites a person with roles and groups, the new invitation's link, which is shown once, and
// the open invitations.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant, useSession } from '../../api/session.tsx';
import { useAddress } from '../../navigation/navigation.ts';
import { OneTimeSecret } from '../../parts/dialog/one-time-secret.tsx';
import { EmailField } from '../../parts/form/email-field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { NameField } from '../../parts/form/name-field.tsx';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { At } from '../../parts/layout/time.tsx';
import { OpenInvitations } from './open-invitations.tsx';
import { type RolesAndGroups, RolesAndGroupsFields } from './roles-and-groups-fields.tsx';

export function Invitations() {
  const cursor = useAddress().query.get('cursor') ?? undefined;
  const invitations = useResource('listInvitations', { query: { cursor } }, ['people']);
  const mayInvite = useGrant('people.invite') === 'yes';
  const [invited, setInvited] = useState<Reply<'createInvitation'> | null>(null);
  return (
    <>
      {mayInvite && invited === null && (
        <InviteForm
          onDone={(made) => {
            setInvited(made);
            invitations.reload();
          }}
        />
      )}
      {invited !== null && (
        <Section title="Invited">
          <InvitationLink invited={invited} />
          <div class="form-actions">
            <Button onClick={() => setInvited(null)}>Invite another</Button>
          </div>
        </Section>
      )}
      <OpenInvitations
        invitations={invitations}
        onWithdrawn={(id) => {
          // Hides the link of a withdrawn invitation, so that nobody hands it out.
          if (invited?.id === id) setInvited(null);
          invitations.reload();
        }}
      />
    </>
  );
}

function InviteForm({ onDone }: { readonly onDone: (invited: Reply<'createInvitation'>) => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const group = useAddress().query.get('group');
  const [rolesAndGroups, setRolesAndGroups] = useState(() => initialRolesAndGroups(group));
  const { isBusy, problem, run } = useSending();
  const send = (): Promise<void> =>
    run(async () => {
      const body = { name: name.trim(), email: email.trim(), ...rolesAndGroups };
      onDone(await call('createInvitation', { body }));
    });
  return (
    <Section title="Invite someone">
      <SendForm word="Create invitation" isBusy={isBusy} problem={problem} onSend={send}>
        <NameField value={name} onChange={setName} />
        <EmailField autoComplete="off" value={email} onChange={setEmail} />
        <RolesAndGroupsFields rolesAndGroups={rolesAndGroups} onChange={setRolesAndGroups} />
      </SendForm>
    </Section>
  );
}

/** What an invitation to a group gives; nothing without a group. */
function initialRolesAndGroups(group: string | null): RolesAndGroups {
  return group === null ? { roles: [], groups: [] } : { roles: ['approver'], groups: [group] };
}

/** The link of a new invitation, which is shown only this once. */
export function InvitationLink({ invited }: { readonly invited: Reply<'createInvitation'> }) {
  const { session } = useSession();
  const mailed =
    session?.sends_mail === true
      ? 'Writ has also mailed it to them.'
      : 'No mail server is set up, so send it yourself.';
  const link = `${window.location.origin}/invitation#token=${invited.token}`;
  return (
    <OneTimeSecret title={`Invitation for ${invited.email}`} label="invitation link" text={link}>
      <p>
        Give this link only to them. It works once, until <At at={invited.ends_at} />. {mailed}
      </p>
    </OneTimeSecret>
  );
}
