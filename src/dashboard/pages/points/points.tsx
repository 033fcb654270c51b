// The list of enforcement points, and a dialog that registers one: its key is shown once, with a command that
// uses it.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { usePlace } from '../../navigation/navigation.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { NewKey } from '../../parts/dialog/new-key.tsx';
import { Marks } from '../../parts/form/roles.tsx';
import { StatusBadge } from '../../parts/layout/badge.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame, Section } from '../../parts/layout/page.tsx';
import { Pager } from '../../parts/layout/pager.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PointForm } from './point-form.tsx';
import type { Point } from './point-props.ts';
import './points.css';

export default function Points() {
  const { query } = usePlace();
  const [isOpen, setOpen] = useState(false);
  const mayChange = useGrant('points.change') === 'yes';
  const cursor = query.get('cursor') ?? undefined;
  const { data, problem, isLoading, reload } = useResource('listEnforcementPoints', { query: { cursor } }, [
    'agents',
  ]);
  return (
    <PageFrame
      title="Enforcement points"
      lead="Proxies, hooks and other programs between agents and their tools, which send requests for the agents."
      actions={
        mayChange && (
          <Button look="primary" icon="plus" onClick={() => setOpen(true)}>
            Register an enforcement point
          </Button>
        )
      }
    >
      <ProblemNote problem={problem} onRetry={reload} />
      <Section title="All enforcement points" actions={<Pager nextCursor={data?.next_cursor ?? null} />}>
        {data === null ? (
          problem === null && <Loading />
        ) : data.items.length === 0 ? (
          <Empty icon="point" title="No enforcement point yet">
            An enforcement point has a key of its own, so that agents need none, and says in which session an
            agent asks.
          </Empty>
        ) : (
          <PointTable points={data.items} isOld={isLoading} />
        )}
      </Section>
      {isOpen && <RegisterDialog onChange={reload} onClose={() => setOpen(false)} />}
    </PageFrame>
  );
}

function PointTable({ points, isOld }: { readonly points: readonly Point[]; readonly isOld: boolean }) {
  return (
    <TableScroll label="Enforcement points" isOld={isOld}>
      <table class="table table-stack points-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Status</th>
            <th scope="col">Asks for</th>
            <th scope="col">Last seen</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {points.map(({ id, name, status, agents, last_seen_at: seen, changed_at: at }) => (
            <tr key={id}>
              <th scope="row">
                <a href={`/enforcement-points/${id}`}>
                  <bdi>{name}</bdi>
                </a>
              </th>
              <td data-label="Status">
                <StatusBadge status={status} />
              </td>
              <td data-label="Asks for">
                <Marks words={agents.slice(0, namesShown).map((agent) => agent.name)} />
                {agents.length > namesShown && ` and ${agents.length - namesShown} more`}
              </td>
              <td data-label="Last seen" class="points-when">
                {seen === null ? 'never' : <Ago at={seen} />}
              </td>
              <td data-label="Changed" class="points-when">
                <Ago at={at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

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
          <ButtonLink look="primary" href={`/enforcement-points/${point.id}`}>
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
