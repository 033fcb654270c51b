// The sessions of a person: where, when and how they signed in, each with a button that ends it.

import type { Reply } from '../../../api/operations.ts';
import { Badge } from '../layout/badge.tsx';
import { Button } from '../layout/button.tsx';
import { ProblemNote } from '../layout/note.tsx';
import { TableScroll } from '../layout/table-scroll.tsx';
import { Ago } from '../layout/time.tsx';
import { useSending } from './form.ts';

type Session = Reply<'listSessions'>['items'][number];

const ways: Readonly<Record<Session['method'], string>> = {
  password: 'Password',
  'password-and-code': 'Password and code',
  'password-and-recovery-code': 'Password and recovery code',
  passkey: 'Passkey',
  'single-sign-on': 'Single sign-on',
};

interface SessionTableProps {
  readonly label: string;
  readonly sessions: readonly Session[];
  readonly onEnd: (id: string) => Promise<void>;
}

export function SessionTable({ label, sessions, onEnd }: SessionTableProps) {
  return (
    <TableScroll label={label}>
      <table class="table table-stack">
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">Signed in</th>
            <th scope="col">By</th>
            <th scope="col">Last seen</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} onEnd={onEnd} />
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

interface SessionRowProps extends Pick<SessionTableProps, 'onEnd'> {
  readonly session: Session;
}

function SessionRow({ session, onEnd }: SessionRowProps) {
  const { id, address, method, created_at, last_seen_at, is_current: isThisOne } = session;
  const { isBusy, problem, run } = useSending();
  return (
    <tr>
      <td data-label="Address">{address}</td>
      <td data-label="Signed in">
        <Ago at={created_at} />
      </td>
      <td data-label="By">{ways[method]}</td>
      <td data-label="Last seen">
        <Ago at={last_seen_at} />
      </td>
      <td class="table-end">
        <ProblemNote problem={problem} />
        {isThisOne ? (
          <Badge tone="allow">This session</Badge>
        ) : (
          <Button isBusy={isBusy} onClick={() => void run(() => onEnd(id))}>
            End<span class="visually-hidden"> the session from {address}</span>
          </Button>
        )}
      </td>
    </tr>
  );
}
