// Accepts an invitation by its link: the person chooses a password and is signed in. The link's token is
// removed from the address at once.

import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { isCutOff } from '../../api/problem.ts';
import { useLinkToken } from '../../parts/form/link-token.ts';
import { NewPasswordForm, UsernameOf } from '../../parts/form/new-password-form.tsx';
import { useLookup } from '../../parts/form/use-lookup.ts';
import { Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

export default function Invitation() {
  const token = useLinkToken();
  return (
    <div class="alone-card">
      <PageFrame title="Your invitation">
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
  const { data, problem, retry } = useLookup(() =>
    call('previewInvitation', { body: { token }, isQuiet: true }),
  );
  if (problem !== null)
    return <ProblemNote problem={problem} {...(isCutOff(problem) ? { onRetry: retry } : {})} />;
  if (data === null) return <Loading />;
  const accept = async (password: string): Promise<string> =>
    (await call('acceptInvitation', { body: { token, password } })).email;
  return (
    <NewPasswordForm owner={data} word="Create account" send={accept} next="/">
      <Invited invited={data} />
      <p>Choose a password to create your account.</p>
      <UsernameOf email={data.email} />
    </NewPasswordForm>
  );
}

/** A sentence such as: Ann invites you to Writ as approver for finance. */
function Invited({ invited }: { readonly invited: Reply<'previewInvitation'> }) {
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
