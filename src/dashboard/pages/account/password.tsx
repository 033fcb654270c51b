// Changes the person's password. The change ends all other sessions and the tokens; this page continues in a
// new session.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { detailFor } from '../../api/problem.ts';
import { usePerson, useSession } from '../../api/session.tsx';
import { NewPassword } from '../../parts/form/new-password.tsx';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';

export function Password() {
  const { name, email } = usePerson();
  const { take } = useSession();
  const [next, setNext] = useState('');
  const change = async (proof: Proof): Promise<void> => {
    take(await call('changePassword', { body: { new_password: next, ...proof } }));
    setNext('');
    tellDone('Your password is changed; other sessions and your tokens have ended');
  };
  return (
    <Section title="Password">
      <ProofForm word="Change the password" onProof={change}>
        {(problem) => (
          <>
            <NewPassword
              label="New password"
              value={next}
              onInput={setNext}
              owner={{ name, email }}
              problem={detailFor(problem, 'new_password')}
            />
            <p class="account-soft">This ends all your other sessions and your tokens.</p>
          </>
        )}
      </ProofForm>
    </Section>
  );
}
