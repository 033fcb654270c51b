// Creates the first admin by the link that the first start prints: the person gives a name, an address and a
// password and is signed in. The link's token is removed from the address at once.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { EmailField } from '../../parts/form/email-field.tsx';
import { useLinkToken } from '../../parts/form/link-token.ts';
import { NameField } from '../../parts/form/name-field.tsx';
import { NewPasswordForm } from '../../parts/form/new-password-form.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';

export default function SetUp() {
  const token = useLinkToken();
  return (
    <div class="alone-card">
      <PageFrame title="Set up Writ">{token === null ? <NoToken /> : <SetUpForm token={token} />}</PageFrame>
    </div>
  );
}

function NoToken() {
  return (
    <Note tone="escalate" icon="warning">
      <p>The link is incomplete. Open it exactly as the service printed it when it started. It works once.</p>
      <p>
        <code>writ people setup-link</code> prints a new one while nobody has access. If you already have an
        account, <a href="/">sign in</a>.
      </p>
    </Note>
  );
}

function SetUpForm({ token }: { readonly token: string }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const send = async (password: string): Promise<string> => {
    const address = email.trim();
    await call('createFirstAdmin', { body: { token, email: address, name: name.trim(), password } });
    return address;
  };
  return (
    <NewPasswordForm owner={{ name, email }} word="Create account" send={send} next="/welcome">
      <p>You become the first admin and invite everyone else.</p>
      <NameField label="Your name" autoComplete="name" value={name} onChange={setName} />
      <EmailField help="You sign in with it." autoComplete="username" value={email} onChange={setEmail} />
    </NewPasswordForm>
  );
}
