// Sets a new password by the link of an admin. The link's token is removed from the address at once.
// Afterwards the person signs in, with a second factor if they have one.

import { call } from '../../api/client.ts';
import { isCutOff } from '../../api/problem.ts';
import { go } from '../../navigation/navigation.ts';
import { useLinkToken } from '../../parts/form/link-token.ts';
import { NewPasswordForm, UsernameOf } from '../../parts/form/new-password-form.tsx';
import { useLookup } from '../../parts/form/use-lookup.ts';
import { Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

export default function Reset() {
  const token = useLinkToken();
  return (
    <div class="alone-card">
      <PageFrame title="Set a new password">
        {token === null ? <NoToken /> : <ResetLink token={token} />}
      </PageFrame>
    </div>
  );
}

function NoToken() {
  return (
    <Note tone="escalate" icon="warning">
      <p>The link is incomplete. Open it exactly as you received it. It works once, within a day.</p>
      <p>
        If you have already used it, <a href="/">sign in</a>. If you lost it, ask an admin for a new one.
      </p>
    </Note>
  );
}

function ResetLink({ token }: { readonly token: string }) {
  const { data, problem, retry } = useLookup(() =>
    call('previewResetLink', { body: { token }, isQuiet: true }),
  );
  if (problem !== null)
    return <ProblemNote problem={problem} {...(isCutOff(problem) ? { onRetry: retry } : {})} />;
  if (data === null) return <Loading />;
  const { email, name, removes_second_factors: removesFactors } = data;
  const reset = async (password: string): Promise<string> => {
    await call('resetPassword', { body: { token, password }, isQuiet: true });
    showToast('Your new password is set: sign in with it');
    go('/', { replace: true });
    return email;
  };
  return (
    <NewPasswordForm owner={data} label="New password" word="Set the password" send={reset}>
      <p>
        For <PlainText text={name} isShort /> (<bdi>{email}</bdi>). All your sessions and personal tokens end.{' '}
        {removesFactors
          ? 'Your one-time codes and passkeys are removed: set them up again after you have signed in.'
          : 'Your one-time codes and passkeys stay.'}
      </p>
      <UsernameOf email={email} />
    </NewPasswordForm>
  );
}
