// A table of standing approvals: what each covers, how often it was used, and a button that revokes it.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { ConfirmDialog } from '../dialog/confirm-dialog.tsx';
import { Button } from '../layout/button.tsx';
import { type Column, DataTable } from '../layout/data-table.tsx';
import { At } from '../layout/time.tsx';
import { PlainText } from '../text/plain-text.tsx';
import { standingWords } from './standing-words.ts';
import './standing-approvals.css';

export type StandingApproval = Reply<'listStandingApprovals'>['items'][number];

interface StandingTableProps {
  readonly items: readonly StandingApproval[];
  readonly isOld: boolean;
  /** Whether all are of the agent that the page is about. */
  readonly isOfAgent?: boolean;
  readonly reload: () => void;
}

export function StandingTable({ items, isOld, isOfAgent = false, reload }: StandingTableProps) {
  const [revoked, setRevoked] = useState<StandingApproval | null>(null);
  const columns = [
    ...subjectColumns,
    !isOfAgent && agentColumn,
    ...stateColumns,
    items.some((one) => one.can_revoke) && actionColumn(setRevoked),
  ];
  return (
    <>
      <DataTable
        label="Standing approvals"
        columns={columns}
        rows={items}
        rowKey={({ id }) => id}
        isOld={isOld}
      />
      {revoked !== null && (
        <ConfirmDialog
          title="Revoke this standing approval"
          word="Revoke"
          done="The standing approval is revoked"
          work={() => call('revokeStandingApproval', { params: { id: revoked.id } })}
          onDone={reload}
          onClose={() => setRevoked(null)}
        >
          From now on, each such request of <bdi>{revoked.agent}</bdi> waits for people again. Grants that
          were given stay.
        </ConfirmDialog>
      )}
    </>
  );
}

const subjectColumns: readonly Column<StandingApproval>[] = [
  {
    head: 'For',
    kind: 'row',
    cell: ({ per, rule, request_id: id }) => (
      <>
        <a href={`/requests/${id}`}>
          <PlainText text={standingWords(per)} />
        </a>
        <div class="standing-rule">
          <PlainText text={rule} />
        </div>
      </>
    ),
  },
];

const agentColumn: Column<StandingApproval> = {
  head: 'Agent',
  cell: ({ agent, agent_id: id }) => (
    <a href={`/agents/${id}`}>
      <bdi>{agent}</bdi>
    </a>
  ),
};

const stateColumns: readonly Column<StandingApproval>[] = [
  {
    head: 'Used',
    cell: ({ used, times }) => `${used ?? '?'}${times === null ? '' : ` of ${times}`}`,
  },
  { head: 'Until', cell: ({ until }) => <At at={until} /> },
  { head: 'State', cell: ({ ended }) => <PlainText text={ended === null ? 'Active' : `Ended: ${ended}`} /> },
];

function actionColumn(onRevoke: (one: StandingApproval) => void): Column<StandingApproval> {
  return {
    head: 'Actions',
    kind: 'actions',
    cell: (one) => one.can_revoke && <Button onClick={() => onRevoke(one)}>Revoke</Button>,
  };
}
