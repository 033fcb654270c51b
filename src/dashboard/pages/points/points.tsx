// The list of enforcement points, and a dialog that registers one: its key is shown once, with a command that
// uses it.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { useAddress } from '../../navigation/navigation.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { NewKey } from '../../parts/dialog/new-key.tsx';
import { Marks } from '../../parts/form/roles.tsx';
import { StatusBadge } from '../../parts/layout/badge.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PointForm } from './point-form.tsx';
import type { Point } from './point-props.ts';
import './points.css';

export default function Points() {
  const { query } = useAddress();
  const [isOpen, setOpen] = useState(false);
  const mayChange = useGrant('points.change') === 'yes';
  const cursor = query.get('cursor') ?? undefined;
  const list = useResource('listEnforcementPoints', { query: { cursor } }, ['agents']);
  return (
    <PageFrame
      title="Enforcement points"
      lead="Proxies, hooks and other programs between agents and their tools, which send requests for the agents."
      actions={
        mayChange && (
          <Button variant="primary" icon="plus" onClick={() => setOpen(true)}>
            Register an enforcement point
          </Button>
        )
      }
    >
      <ListSection
        title="All enforcement points"
        list={list}
        empty={
          <Empty icon="point" title="No enforcement point yet">
            An enforcement point has its own key, so agents need none, and it states the session of each
            request.
          </Empty>
        }
      >
        {(points, isOld) => (
          <DataTable
            label="Enforcement points"
            columns={columns}
            rows={points}
            rowKey={({ id }) => id}
            isOld={isOld}
          />
        )}
      </ListSection>
      {isOpen && <RegisterDialog onChange={list.reload} onClose={() => setOpen(false)} />}
    </PageFrame>
  );
}

const columns: readonly Column<Point>[] = [
  {
    head: 'Name',
    kind: 'row',
    cell: ({ id, name }) => (
      <a href={`/enforcement-points/${id}`}>
        <bdi>{name}</bdi>
      </a>
    ),
  },
  { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    head: 'Asks for',
    cell: ({ agents }) => (
      <>
        <Marks words={agents.slice(0, namesShown).map((agent) => agent.name)} />
        {agents.length > namesShown && ` and ${agents.length - namesShown} more`}
      </>
    ),
  },
  {
    head: 'Last seen',
    class: 'table-when',
    cell: ({ last_seen_at: seen }) => (seen === null ? 'never' : <Ago at={seen} />),
  },
  { head: 'Changed', class: 'table-when', cell: ({ changed_at: at }) => <Ago at={at} /> },
];

const namesShown = 8;

interface RegisterDialogProps {
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function RegisterDialog({ onChange, onClose }: RegisterDialogProps) {
  const [made, setMade] = useState<Reply<'registerEnforcementPoint'> | null>(null);
  if (made !== null) {
    const { point, api_key: key } = made;
    return (
      <Dialog title="Registered" onClose={onClose}>
        <NewKey apiKey={key} name={point.name} askedFor={point.agents[0]?.id ?? null} />
        <div class="form-actions">
          <ButtonLink variant="primary" href={`/enforcement-points/${point.id}`}>
            Open it
          </ButtonLink>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Register an enforcement point" onClose={onClose}>
      <PointForm
        before={{ name: '', agents: [], may_release: false }}
        word="Register"
        send={async (body) => {
          setMade(await call('registerEnforcementPoint', { body }));
          onChange();
        }}
        onCancel={onClose}
      />
    </Dialog>
  );
}
