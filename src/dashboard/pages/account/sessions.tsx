// Where one is signed in, and ending it there.

import { call, type Reply } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { useSending } from '../../parts/form.ts';
import { Loading, ProblemNote } from '../../parts/note.tsx';
import { Section } from '../../parts/page.tsx';
import { TableScroll } from '../../parts/table-scroll.tsx';
import { Ago } from '../../parts/time.tsx';
import { tellDone } from '../../shell/toast.tsx';

type Session = Reply<'listSessions'>['items'][number];

export function Sessions() {
  const { data, problem, reload } = useResource('listSessions', {});
  return (
    <Section title="Sessions">
      <p class="account-soft">
        Where you are signed in now. End what you do not know, and change your password.
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
          <Badge tone="allow">This one</Badge>
        ) : (
          <Button isBusy={isBusy} onClick={() => void end()}>
            End<span class="visually-hidden"> the session from {address}</span>
          </Button>
        )}
      </td>
    </tr>
  );
}
