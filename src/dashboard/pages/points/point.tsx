// The page of one enforcement point: its status, its agents, when it was last seen, its keys, and all actions
// on it.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import type { PageProps } from '../../navigation/page-props.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { KeysSection } from '../../parts/dialog/keys-section.tsx';
import { StatusBadge } from '../../parts/layout/badge.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Facts, PageFrame, Section } from '../../parts/layout/page.tsx';
import { Ago, At } from '../../parts/layout/time.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PointForm } from './point-form.tsx';
import type { PointProps } from './point-props.ts';
import './points.css';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { RevokeDialog } from '../../parts/dialog/revoke-dialog.tsx';

export default function PointPage({ params: { id = '' } }: PageProps) {
  const { data: point, problem, reload } = useResource('getEnforcementPoint', { params: { id } }, ['agents']);
  const mayAudit = useGrant('audit.view') !== 'no';
  if (point === null) {
    return (
      <PageFrame title="Enforcement point">
        {problem?.code === 'not_found' ? (
          <Empty icon="point" title="There is no such enforcement point">
            <ButtonLink href="/enforcement-points">All enforcement points</ButtonLink>
          </Empty>
        ) : (
          <ProblemNote problem={problem} onRetry={reload} />
        )}
        {problem === null && <Loading />}
      </PageFrame>
    );
  }
  const props: PointProps = { point, onChange: reload };
  return (
    <PageFrame
      title={point.name}
      beside={<StatusBadge status={point.status} />}
      actions={
        <>
          {mayAudit && <ButtonLink href={`/audit?subject=${id}`}>Its changes</ButtonLink>}
          <PointActions {...props} />
        </>
      }
    >
      <ProblemNote problem={problem} onRetry={reload} />
      <PointFacts {...props} />
      <PointKeys {...props} />
    </PageFrame>
  );
}

function PointFacts({ point, onChange }: PointProps) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useGrant('points.change') === 'yes' && point.status !== 'revoked';
  return (
    <Section title="Details" actions={mayChange && <Button onClick={() => setOpen(true)}>Edit</Button>}>
      <Facts
        items={[
          ['Asks for', <AssignedAgents key="agents" agents={point.agents} />],
          ['May release grants', point.may_release ? 'yes' : 'no'],
          ['Last seen', point.last_seen_at === null ? 'never' : <Ago key="seen" at={point.last_seen_at} />],
          ['Registered', <At key="created" at={point.created_at} />],
          ['Changed', <Ago key="changed" at={point.changed_at} />],
          ['Id', <code key="id">{point.id}</code>],
        ]}
      />
      {isOpen && <EditDialog point={point} onChange={onChange} onClose={() => setOpen(false)} />}
    </Section>
  );
}

function AssignedAgents({ agents }: Pick<PointProps['point'], 'agents'>) {
  const mayView = useGrant('agents.view') === 'yes';
  if (agents.length === 0) return <>nobody yet</>;
  return (
    <ul class="points-assigned">
      {agents.map(({ id, name }) => (
        <li key={id}>
          {mayView ? (
            <a href={`/agents/${id}`}>
              <bdi>{name}</bdi>
            </a>
          ) : (
            <bdi>{name}</bdi>
          )}
        </li>
      ))}
    </ul>
  );
}

function EditDialog({ point, onChange, onClose }: PointProps & { readonly onClose: () => void }) {
  return (
    <Dialog title="Edit the enforcement point" onClose={onClose}>
      <PointForm
        before={point}
        word="Save"
        send={async (body) => {
          await call('updateEnforcementPoint', { params: { id: point.id }, body });
          showToast('Changed; it takes effect with the next request');
          onChange();
          onClose();
        }}
        onCancel={onClose}
      />
    </Dialog>
  );
}

function PointKeys({ point: { id, name, status, agents }, onChange }: PointProps) {
  const keys = useResource('listEnforcementPointKeys', { params: { id } }, ['agents']);
  return (
    <KeysSection
      label="Keys of the enforcement point"
      prefix="writpep_"
      keys={keys}
      mayRotate={useGrant('points.change') === 'yes' && status !== 'revoked'}
      name={name}
      askedFor={agents[0]?.id ?? null}
      send={(body) => call('rotateEnforcementPointKey', { params: { id }, body })}
      onRotated={onChange}
    />
  );
}

/** Changes the status of an enforcement point: disables and enables it, or revokes it permanently. */
export function PointActions({ point, onChange }: PointProps) {
  const [open, setOpen] = useState<'disable' | 'enable' | 'revoke' | null>(null);
  const mayChange = useGrant('points.change') === 'yes';
  if (!mayChange || point.status === 'revoked') return null;
  const close = (): void => setOpen(null);
  const params = { id: point.id };
  return (
    <>
      {point.status === 'disabled' ? (
        <Button variant="primary" onClick={() => setOpen('enable')}>
          Enable
        </Button>
      ) : (
        <Button onClick={() => setOpen('disable')}>Disable</Button>
      )}
      <Button icon="close" onClick={() => setOpen('revoke')}>
        Revoke
      </Button>
      {open === 'disable' && (
        <ConfirmDialog
          title="Disable the enforcement point"
          word="Disable"
          done={`${point.name} is disabled`}
          work={() => call('disableEnforcementPoint', { params })}
          onDone={onChange}
          onClose={close}
        >
          All its requests are refused from now on, for every agent, and its pending requests cannot be
          approved, until someone enables it again.
        </ConfirmDialog>
      )}
      {open === 'enable' && (
        <ConfirmDialog
          title="Enable the enforcement point"
          word="Enable"
          variant="primary"
          done={`${point.name} is enabled`}
          work={() => call('enableEnforcementPoint', { params })}
          onDone={onChange}
          onClose={close}
        >
          Its requests are decided again. Its keys are unchanged.
        </ConfirmDialog>
      )}
      {open === 'revoke' && (
        <RevokeDialog
          noun="enforcement point"
          name={point.name}
          send={(body) => call('revokeEnforcementPoint', { params, body })}
          onDone={onChange}
          onClose={close}
        />
      )}
    </>
  );
}
