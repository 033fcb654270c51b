// Where the person is signed in, with a button that ends a session.

import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { SessionTable } from '../../parts/form/session-table.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';

export function Sessions() {
  const { data, problem, reload } = useResource('listSessions', {});
  const end = async (id: string): Promise<void> => {
    await call('endSession', { params: { id } });
    tellDone('The session has ended');
    reload();
  };
  return (
    <Section title="Sessions">
      <p class="account-soft">
        Where you are signed in now. If you do not recognize a session, end it and change your password.
      </p>
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading lines={2} />}
      {data !== null && <SessionTable label="Sessions" sessions={data.items} onEnd={end} />}
    </Section>
  );
}
