// The stand-ins that the person may see: who votes in whose place, for which group and until when, with buttons that
// confirm and end them.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { ConfirmDialog } from '../dialog/confirm-dialog.tsx';
import { Badge } from '../layout/badge.tsx';
import { Button } from '../layout/button.tsx';
import { type Column, DataTable } from '../layout/data-table.tsx';
import { Ago } from '../layout/time.tsx';
import { PlainText } from '../text/plain-text.tsx';

export type StandIn = Reply<'listStandIns'>['items'][number];

interface StandInTableProps {
  readonly standIns: readonly StandIn[];
  /** The id of the person who looks. */
  readonly ownId: string;
  readonly onChange: () => void;
}

interface Chosen {
  readonly standIn: StandIn;
  readonly work: 'confirm' | 'end';
}

export function StandInTable({ standIns, ownId, onChange }: StandInTableProps) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const dialog = { onChange, onClose: () => setChosen(null) };
  return (
    <>
      <DataTable
        label="Stand-ins"
        columns={columnsOf(ownId, setChosen)}
        rows={standIns}
        rowKey={({ id }) => id}
      />
      {chosen?.work === 'confirm' && <ConfirmStandIn standIn={chosen.standIn} {...dialog} />}
      {chosen?.work === 'end' && <EndStandIn standIn={chosen.standIn} {...dialog} />}
    </>
  );
}

function columnsOf(ownId: string, onChoose: (chosen: Chosen) => void): readonly Column<StandIn>[] {
  const nameOf = ({ id, name }: StandIn['person']) => (
    <PlainText text={id === ownId ? `${name} (you)` : name} isShort />
  );
  return [
    { head: 'Group', kind: 'row', cell: ({ group }) => <bdi>{group}</bdi> },
    { head: 'Stand-in', cell: ({ stand_in: standIn }) => nameOf(standIn) },
    { head: 'For', cell: ({ person }) => nameOf(person) },
    { head: 'Until', cell: ({ until }) => <Ago at={until} /> },
    {
      head: 'Status',
      cell: ({ confirmed_at: at }) =>
        at === null ? (
          <Badge tone="escalate">needs an admin's confirmation</Badge>
        ) : (
          <Badge tone="allow">confirmed</Badge>
        ),
    },
    {
      head: 'Actions',
      kind: 'actions',
      cell: (standIn) => (
        <div class="form-actions">
          {standIn.can_confirm && (
            <Button onClick={() => onChoose({ standIn, work: 'confirm' })}>
              Confirm
              <HiddenName standIn={standIn} />
            </Button>
          )}
          {standIn.can_end && (
            <Button onClick={() => onChoose({ standIn, work: 'end' })}>
              End
              <HiddenName standIn={standIn} />
            </Button>
          )}
        </div>
      ),
    },
  ];
}

function HiddenName({ standIn: { stand_in: standIn } }: { readonly standIn: StandIn }) {
  return (
    <span class="visually-hidden">
      {' '}
      <PlainText text={standIn.name} isShort />
    </span>
  );
}

interface DialogProps {
  readonly standIn: StandIn;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function ConfirmStandIn({ standIn, onChange, onClose }: DialogProps) {
  const { id, person, stand_in, group } = standIn;
  return (
    <ConfirmDialog
      title="Confirm the stand-in"
      word="Confirm"
      variant="primary"
      done="The stand-in is confirmed"
      work={() => call('confirmStandIn', { params: { id } })}
      onDone={onChange}
      onClose={onClose}
    >
      <strong>
        <PlainText text={stand_in.name} isShort />
      </strong>{' '}
      may then vote for <bdi>{group}</bdi> in the place of <PlainText text={person.name} isShort />. The two
      of them count as one person.
    </ConfirmDialog>
  );
}

function EndStandIn({ standIn, onChange, onClose }: DialogProps) {
  const { id, person, stand_in } = standIn;
  return (
    <ConfirmDialog
      title="End the stand-in"
      word="End it"
      done="The stand-in has ended"
      work={() => call('endStandIn', { params: { id } })}
      onDone={onChange}
      onClose={onClose}
    >
      Approvals that{' '}
      <strong>
        <PlainText text={stand_in.name} isShort />
      </strong>{' '}
      has given in the place of <PlainText text={person.name} isShort /> no longer count for pending requests.
    </ConfirmDialog>
  );
}
