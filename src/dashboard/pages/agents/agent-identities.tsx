// The identities of an agent: the tokens of workloads by which it is known without a key, when each was last used,
// and the dialogs that add and remove one.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import type { AgentProps } from './agent-props.ts';

type Identity = Reply<'listAgentIdentities'>['items'][number];

const tones = { active: 'allow', ended: 'unknown', unconfigured: 'deny' } as const;
const words = { active: 'Active', ended: 'Ended', unconfigured: 'Issuer not in the settings' } as const;

/** Absent for an agent without identities, to people who may not add one. */
export function AgentIdentities({ agent }: Pick<AgentProps, 'agent'>) {
  const list = useResource('listAgentIdentities', { params: { id: agent.id } }, ['agents']);
  const mayMap = useGrant('agents.identities') !== 'no';
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Identity | null>(null);
  if (list.data?.items.length === 0 && !mayMap) return null;
  const columns: readonly Column<Identity>[] = [
    { head: 'Tokens', kind: 'row', cell: (one) => <Tokens {...one} /> },
    { head: 'Status', cell: ({ status }) => <Badge tone={tones[status]}>{words[status]}</Badge> },
    { head: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : <Ago at={at} />) },
    {
      head: 'Remove',
      cell: (one) =>
        mayMap && one.ended_at === null && <Button onClick={() => setRemoved(one)}>Remove</Button>,
    },
  ];
  return (
    <>
      <ListSection
        title="Identities"
        list={list}
        lines={2}
        empty={<p>None: the agent is known by its keys only.</p>}
        actions={mayMap && agent.status !== 'revoked' && <Button onClick={() => setAdding(true)}>Add</Button>}
      >
        {(items) => (
          <DataTable
            label="Identities of the agent"
            columns={columns}
            rows={items}
            rowKey={(one) => one.id}
          />
        )}
      </ListSection>
      {isAdding && <AddDialog id={agent.id} onAdded={list.reload} onClose={() => setAdding(false)} />}
      {removed !== null && (
        <ConfirmDialog
          title="Remove the identity"
          word="Remove"
          done="The identity is removed"
          work={() =>
            call('deleteAgentIdentity', { params: { id: agent.id, identity: removed.id } }).then(
              () => undefined,
            )
          }
          onDone={list.reload}
          onClose={() => setRemoved(null)}
        >
          Tokens of <bdi>{removed.issuer}</bdi> that fit it are refused at once. You can add the identity
          again.
        </ConfirmDialog>
      )}
    </>
  );
}

function Tokens({ issuer, required_claims: claims, actors }: Identity) {
  return (
    <>
      <bdi>{issuer}</bdi>
      {Object.entries(claims).map(([name, values]) => (
        <div class="token-claim" key={name}>
          {name}: <code>{values.join(' or ')}</code>
        </div>
      ))}
      {actors.length > 0 && (
        <div class="token-claim">Actors: {actors.map(({ name }) => name).join(', ')}</div>
      )}
    </>
  );
}

interface AddDialogProps {
  readonly id: string;
  readonly onAdded: () => void;
  readonly onClose: () => void;
}

function AddDialog({ id, onAdded, onClose }: AddDialogProps) {
  const [issuer, setIssuer] = useState('');
  const [claims, setClaims] = useState('');
  const { isBusy, problem, run } = useSending();
  const add = (): Promise<void> =>
    run(async () => {
      const body = { issuer: issuer.trim(), required_claims: tokenClaimsIn(claims) };
      await call('addAgentIdentity', { params: { id }, body });
      showToast('Added; its tokens are accepted now');
      onAdded();
      onClose();
    });
  return (
    <Dialog title="Add an identity" onClose={onClose}>
      <SendForm word="Add" isBusy={isBusy} problem={problem} onSend={add} onCancel={onClose}>
        <Field
          label="Issuer"
          name="issuer"
          help="As its tokens and the setting agents.issuers of the service name it."
        >
          <input
            type="url"
            required
            value={issuer}
            onInput={({ currentTarget }) => setIssuer(currentTarget.value)}
          />
        </Field>
        <Field
          label="Required token claims"
          name="required_claims"
          help="One per line, such as sub=system:serviceaccount:payments:buyer. The same name again adds a value."
        >
          <textarea
            required
            rows={3}
            value={claims}
            onInput={({ currentTarget }) => setClaims(currentTarget.value)}
          />
        </Field>
      </SendForm>
    </Dialog>
  );
}

/** The claims in lines of `name=value`; a line without `=` has no value, which the service reports. */
function tokenClaimsIn(text: string): Readonly<Record<string, readonly string[]>> {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const byName = new Map<string, readonly string[]>();
  for (const line of lines) {
    const at = line.indexOf('=');
    const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    byName.set(name, [...(byName.get(name) ?? []), value]);
  }
  return Object.fromEntries(byName);
}
