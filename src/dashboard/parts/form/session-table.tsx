// The sessions of a person: where, when and how they signed in, each with a button that ends it.

import type { Reply } from '../../../api/operations.ts';
import { Badge } from '../layout/badge.tsx';
import { Button } from '../layout/button.tsx';
import { type Column, DataTable } from '../layout/data-table.tsx';
import { ProblemNote } from '../layout/note.tsx';
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
  const columns: readonly Column<Session>[] = [
    { head: 'Address', kind: 'row', cell: ({ address }) => address },
    { head: 'Signed in', cell: ({ created_at: at }) => <Ago at={at} /> },
    { head: 'By', cell: ({ method }) => ways[method] },
    { head: 'Last seen', cell: ({ last_seen_at: at }) => <Ago at={at} /> },
    {
      head: 'Actions',
      kind: 'actions',
      cell: (session) =>
        session.is_current ? (
          <Badge tone="allow">This session</Badge>
        ) : (
          <EndButton session={session} onEnd={onEnd} />
        ),
    },
  ];
  return <DataTable label={label} columns={columns} rows={sessions} rowKey={({ id }) => id} />;
}

interface EndButtonProps extends Pick<SessionTableProps, 'onEnd'> {
  readonly session: Session;
}

function EndButton({ session: { id, address }, onEnd }: EndButtonProps) {
  const { isBusy, problem, run } = useSending();
  return (
    <>
      <ProblemNote problem={problem} />
      <Button isBusy={isBusy} onClick={() => void run(() => onEnd(id))}>
        End<span class="visually-hidden"> the session from {address}</span>
      </Button>
    </>
  );
}
