// Where one is signed in, and ending it there.

import { call, type Reply } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useSending } from '../../parts/form/form.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';

type Session = Reply<'listSessions'>['items'][number];

export function Sessions() {
  const { data, problem, reload } = useResource('listSessions', {});
  return (
    <Section title="Sessions">
      <p class="account-soft">
        Where you are signed in now. If you do not recognize a session, end it and change your password.
      </p>
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading lines={2} />}
      {data !== null && (
        <TableScroll label="Sessions">
          <table class="table table-stack">
            <thead>
              <tr>
                <th scope="col">Address</th>
                <th scope="col">Signed in</th>
                <th scope="col">Last seen</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {data.items.map((session) => (
                <SessionRow key={session.id} session={session} onChange={reload} />
              ))}
            </tbody>
          </table>
        </TableScroll>
      )}
    </Section>
  );
}

function SessionRow({ session, onChange }: { readonly session: Session; readonly onChange: () => void }) {
  const { id, address, created_at, last_seen_at, is_this_one: isThisOne } = session;
  const { isBusy, problem, run } = useSending();
  const end = (): Promise<void> =>
    run(async () => {
      await call('endSession', { params: { id } });
      tellDone('The session has ended');
      onChange();
    });
  return (
    <tr>
      <td data-label="Address">{address}</td>
      <td data-label="Signed in">
        <Ago at={created_at} />
      </td>
      <td data-label="Last seen">
        <Ago at={last_seen_at} />
      </td>
      <td class="account-end">
        <ProblemNote problem={problem} />
        {isThisOne ? (
          <Badge tone="allow">This session</Badge>
        ) : (
          <Button isBusy={isBusy} onClick={() => void end()}>
            End<span class="visually-hidden"> the session from {address}</span>
          </Button>
        )}
      </td>
    </tr>
  );
}
