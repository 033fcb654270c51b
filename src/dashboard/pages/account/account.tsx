// The person's own account: name and roles, password, second factors, sessions, and tokens for their
// programs.

import { usePerson } from '../../api/session.tsx';
import { Marks } from '../../parts/form/roles.tsx';
import { Facts, PageFrame, Section } from '../../parts/layout/page.tsx';
import { At } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import './account.css';
import { Codes } from './codes.tsx';
import { Passkeys } from './passkeys.tsx';
import { Password } from './password.tsx';
import { Sessions } from './sessions.tsx';
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
      <Sessions />
      <Tokens />
    </PageFrame>
  );
}
