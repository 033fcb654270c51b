// The ways to sign in: single sign-on if a provider is set up, password or passkey, and help for people who
// have none of them.

import { useResource } from '../api/resource.ts';
import { useAddress } from '../navigation/navigation.ts';
import { ButtonLink } from '../parts/layout/button.tsx';
import { Note } from '../parts/layout/note.tsx';
import { SignInForm } from './sign-in.tsx';

export function SignInWays() {
  const { data } = useResource('getSignInMethods', {});
  const { path, query } = useAddress();
  if (data?.is_empty === true) return <NobodyYet />;
  const provider = data?.sso_name ?? null;
  const rest = new URLSearchParams(query);
  rest.delete('sso');
  const next = rest.size === 0 ? path : `${path}?${rest}`;
  return (
    <>
      <SsoProblem code={query.get('sso')} provider={provider} />
      {provider !== null && (
        <div class="form-actions">
          <ButtonLink variant="primary" icon="key" href={`/sso/start?next=${encodeURIComponent(next)}`}>
            Sign in with {provider}
          </ButtonLink>
        </div>
      )}
      {data?.is_sso_only === true ? (
        <details>
          <summary>Admins: sign in with a password or a passkey</summary>
          <SignInForm />
        </details>
      ) : (
        <>
          <SignInForm />
          <p>
            Forgotten password? Ask an admin for a link. No account? <a href="/apply">Apply for access</a>.
          </p>
        </>
      )}
    </>
  );
}

/** Shown instead of the application form: with no admin yet, nobody would answer an application. */
function NobodyYet() {
  return (
    <Note tone="escalate" icon="key">
      <p>
        <strong>Nobody has access yet.</strong> Open the link that the service printed when it started.
      </p>
      <p>
        Lost it? <code>writ people setup-link --data DIRECTORY</code> prints a new one, on the machine of the
        service.
      </p>
    </Note>
  );
}

const ssoProblems: Readonly<Record<string, string>> = {
  'no-role': 'You are in no group that has access here. Ask an admin which group you need.',
  'not-provisioned':
    'Your provider has not sent your account to Writ. Ask an admin to assign Writ to you there.',
  'no-address': 'The provider gave no e-mail address for you that it has verified. Ask an admin.',
  disabled: 'Your access here is disabled. Ask an admin.',
  'address-taken':
    'There is an account with your address that does not come from the provider. Sign in with its password, or ask an admin.',
  'last-admin': 'You are the last admin, and your groups no longer make you one. Ask who runs the provider.',
  conflict: 'Your account was changed at this moment. Try again.',
  off: 'Single sign-on is not set up.',
  'provider-away': 'The provider does not answer. Try again in a moment.',
  refused: 'The provider did not sign you in, or this took too long. Try again.',
  'too-many-attempts': 'Too many attempts. Wait a minute and try again.',
};

interface SsoProblemProps {
  /** The code in the address. */
  readonly code: string | null;
  readonly provider: string | null;
}

function SsoProblem({ code, provider }: SsoProblemProps) {
  const text = code === null ? undefined : ssoProblems[code];
  if (text === undefined) return null;
  return (
    <div role="alert">
      <Note tone="deny" icon="warning">
        <strong>{provider === null ? 'Not signed in' : `Not signed in with ${provider}`}</strong>
        <p>{text}</p>
      </Note>
    </div>
  );
}
