// Accepts an invitation by its link: the person chooses a password and is signed in. The link's token is
// removed from the address at once.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { detailFor } from '../../api/problem.ts';
import { useSending } from '../../parts/form/form.ts';
import { useJoin } from '../../parts/form/join.ts';
import { useLinkToken } from '../../parts/form/link-token.ts';
import { NewPassword } from '../../parts/form/new-password.tsx';
import { useLook } from '../../parts/form/use-look.ts';
import { UsernameOf } from '../../parts/form/username.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

export default function Invitation() {
  const token = useLinkToken();
  return (
    <div class="alone-card">
      <PageFrame title="Your invitation" lead="Choose a password to create your account.">
        {token === null ? <NoToken /> : <OpenInvitation token={token} />}
      </PageFrame>
    </div>
  );
}

function NoToken() {
  return (
    <Note tone="escalate" icon="warning">
      <p>The link is incomplete. Open it exactly as you received it. It works once, within a week.</p>
      <p>
        If you have already used it, <a href="/">sign in</a>. If you lost it, ask for a new one.
      </p>
    </Note>
  );
}

function OpenInvitation({ token }: { readonly token: string }) {
  const { data, problem, retry } = useLook(() =>
    call('previewInvitation', { body: { token }, isQuiet: true }),
  );
  if (problem !== null) return <ProblemNote problem={problem} onRetry={retry} />;
  return data === null ? <Loading /> : <InvitationForm token={token} invited={data} />;
}

interface InvitationFormProps {
  readonly token: string;
  readonly invited: Reply<'previewInvitation'>;
}

function InvitationForm({ token, invited }: InvitationFormProps) {
  const [password, setPassword] = useState('');
  const [email, setEmail] = useState<string | null>(null);
  const { isBusy, problem, run } = useSending();
  const join = useJoin();
  const send = (): Promise<void> =>
    run(async () => {
      const address = email ?? (await call('acceptInvitation', { body: { token, password } })).email;
      setEmail(address);
      await join({ email: address, password, next: '/' });
    });
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {email !== null && problem !== null && (
        <Note tone="allow" icon="check">
          Your account is created, but signing in failed. Try again.
        </Note>
      )}
      <ProblemNote problem={problem} />
      <Invited invited={invited} />
      <UsernameOf email={invited.email} />
      <NewPassword
        value={password}
        onInput={setPassword}
        owner={invited}
        problem={detailFor(problem, 'password')}
      />
      <div class="form-actions">
        <Button look="primary" type="submit" isBusy={isBusy}>
          {email === null ? 'Create account' : 'Sign in'}
        </Button>
      </div>
    </form>
  );
}

/** A sentence such as: Ann invites you to Writ as approver for finance. */
function Invited({ invited }: { readonly invited: InvitationFormProps['invited'] }) {
  const { email, name, invited_by: inviter, roles, groups } = invited;
  return (
    <p>
      <strong>
        <PlainText text={inviter} isShort />
      </strong>{' '}
      invites you to Writ as {roles.join(', ')}
      {groups.length > 0 && ` for ${groups.join(', ')}`}. You sign in as <PlainText text={name} isShort />,{' '}
      <bdi>{email}</bdi>.
    </p>
  );
}
