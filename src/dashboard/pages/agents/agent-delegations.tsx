// What an agent has passed on to sub-agents: the tree of its delegations, what each may do, and the button that
// revokes one with everything below it.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import type { AgentProps } from './agent-props.ts';
import { inTreeOrder } from './delegation-tree.ts';

type Delegation = Reply<'listAgentDelegations'>['items'][number];

const tones = { active: 'allow', revoked: 'deny', ended: 'unknown' } as const;
const words = { active: 'Active', revoked: 'Revoked', ended: 'Ended' } as const;

/** Absent for an agent that has not delegated. */
export function AgentDelegations({ agent: { id } }: AgentProps) {
  const list = useResource('listAgentDelegations', { params: { id } }, ['agents']);
  const mayRevoke = useGrant('agents.disable') !== 'no';
  const [revoked, setRevoked] = useState<Delegation | null>(null);
  if (list.data?.items.length === 0) return null;
  const columns: readonly Column<Delegation>[] = [
    { head: 'Sub-agent', kind: 'row', cell: ({ chain }) => <bdi>{chain.join(' › ')}</bdi> },
    { head: 'May do', cell: (one) => <MayDo {...one} /> },
    { head: 'Status', cell: ({ status }) => <Badge tone={tones[status]}>{words[status]}</Badge> },
    { head: 'Ends', cell: ({ until }) => <Ago at={until} /> },
    {
      head: 'Revoke',
      cell: (one) =>
        mayRevoke && one.status === 'active' && <Button onClick={() => setRevoked(one)}>Revoke</Button>,
    },
  ];
  return (
    <>
      <ListSection title="Sub-agents" list={list} lines={2} empty={null}>
        {(items) => (
          <DataTable
            label="Delegations of the agent"
            columns={columns}
            rows={inTreeOrder(items)}
            rowKey={(one) => one.id}
          />
        )}
      </ListSection>
      {revoked !== null && (
        <ConfirmDialog
          title="Revoke the delegation"
          word="Revoke"
          done={`${revoked.name} is revoked`}
          work={() => call('revokeDelegation', { params: { id: revoked.id } })}
          onDone={list.reload}
          onClose={() => setRevoked(null)}
        >
          <strong>
            <bdi>{revoked.chain.join(' › ')}</bdi>
          </strong>
          : its key, and the keys of everything below it, are refused at once. You cannot undo this.
        </ConfirmDialog>
      )}
    </>
  );
}

function MayDo({ actions, when, uses, used }: Delegation) {
  return (
    <>
      <code>{actions.join(', ')}</code>
      {when !== null && (
        <>
          {' '}
          when <code>{when}</code>
        </>
      )}
      {uses !== null && (used === null ? `, ${uses} at most` : `, ${used} of ${uses} used`)}
    </>
  );
}
