// The person's own account: name and roles, password, second factors, sessions, chat accounts, and tokens for their
// programs.

import { usePerson, useSession } from '../../api/session.tsx';
import { NewPassword } from '../../parts/form/new-password-form.tsx';
import { Marks } from '../../parts/form/roles.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Facts, PageFrame, Section } from '../../parts/layout/page.tsx';
import { At } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import './account.css';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { SessionTable } from '../../parts/form/session-table.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { ChatAccounts } from './chat-accounts.tsx';
import { Codes } from './codes.tsx';
import { Passkeys } from './passkeys.tsx';
import { StandIns } from './stand-ins.tsx';
import { Tokens } from './tokens.tsx';

export default function Account() {
  const person = usePerson();
  return (
    <PageFrame title="Your account" lead="Sign-in and security, and what you may do here.">
      <div class="account-columns">
        <div class="account-column">
          <Section title="You">
            <Facts
              items={[
                ['Name', <PlainText key="name" text={person.name} isShort />],
                ['E-mail address', <bdi key="email">{person.email}</bdi>],
                ['Roles', <Marks key="roles" words={person.roles} />],
                ['Groups you approve for', <Marks key="groups" words={person.groups} />],
                ['Added', <At key="since" at={person.created_at} />],
              ]}
            />
            <p class="account-soft">An admin changes name, roles and groups.</p>
          </Section>
          <Password />
        </div>
        <div class="account-column">
          <Codes />
          <Passkeys />
        </div>
      </div>
      <StandIns />
      <Sessions />
      <ChatAccounts />
      <Tokens />
    </PageFrame>
  );
}

/** Where the person is signed in, with a button that ends a session. */
export function Sessions() {
  const list = useResource('listSessions', {});
  const end = async (id: string): Promise<void> => {
    await call('endSession', { params: { id } });
    showToast('The session has ended');
    list.reload();
  };
  return (
    <ListSection
      title="Sessions"
      lead={
        <p class="account-soft">
          Where you are signed in now. If you do not recognize a session, end it and change your password.
        </p>
      }
      list={list}
      lines={2}
      empty={null}
    >
      {(sessions) => <SessionTable label="Sessions" sessions={sessions} onEnd={end} />}
    </ListSection>
  );
}

/**
 * Changes the person's password. The change ends all other sessions and the tokens; this page continues in a
 * new session.
 */
export function Password() {
  const { name, email } = usePerson();
  const { take } = useSession();
  const [next, setNext] = useState('');
  const change = async (proof: Proof): Promise<void> => {
    take(await call('changePassword', { body: { new_password: next, ...proof } }));
    setNext('');
    showToast('Your password is changed; other sessions, your tokens and chat accounts have ended');
  };
  return (
    <Section title="Password">
      <ProofForm word="Change the password" onProof={change}>
        <NewPassword
          label="New password"
          value={next}
          onInput={setNext}
          owner={{ name, email }}
          name="new_password"
        />
        <p class="account-soft">
          This ends all your other sessions, your tokens and the links to chat accounts.
        </p>
      </ProofForm>
    </Section>
  );
}
