// Another password: it ends all other sessions and the tokens, and this page goes on in a new session.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { detailFor } from '../../api/problem.ts';
import { usePerson, useSession } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { useSending } from '../../parts/form.ts';
import { NewPassword } from '../../parts/new-password.tsx';
import { ProblemNote } from '../../parts/note.tsx';
import { Section } from '../../parts/page.tsx';
import { tellDone } from '../../shell/toast.tsx';

export function Password() {
  const { name, email } = usePerson();
  const { take } = useSession();
  const [password, setPassword] = useState('');
  const [next, setNext] = useState('');
  const { isBusy, problem, run } = useSending();
  const change = (): Promise<void> =>
    run(async () => {
      take(await call('changePassword', { body: { password, new_password: next } }));
      setPassword('');
      setNext('');
      tellDone('Your password is changed; other sessions and your tokens have ended');
    });
  return (
    <Section title="Password">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void change();
        }}
      >
        <ProblemNote problem={problem} />
        <Field label="Present password">
          <input
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onInput={({ currentTarget }) => setPassword(currentTarget.value)}
          />
        </Field>
        <NewPassword
          label="New password"
          value={next}
          onInput={setNext}
          names={[name, email]}
          problem={detailFor(problem, 'new_password')}
        />
        <p class="account-soft">All your other sessions and your tokens end with it.</p>
        <div class="form-actions">
          <Button type="submit" isBusy={isBusy}>
            Change the password
          </Button>
        </div>
      </form>
    </Section>
  );
}
