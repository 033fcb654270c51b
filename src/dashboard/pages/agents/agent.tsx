// The page of one agent: its status, activity, keys, signatures and limits, and all actions on it.

import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import type { PageProps } from '../../navigation/page-props.ts';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Facts, PageFrame, Section } from '../../parts/layout/page.tsx';
import { Ago, At } from '../../parts/layout/time.tsx';
import { OwnerName } from '../../parts/people/owner-name.tsx';
import './agent.css';
import { useState } from 'preact/hooks';
import { killSwitchFor } from '../../../api/applicable-kill-switch.ts';
import { call } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { KeysSection } from '../../parts/dialog/keys-section.tsx';
import { type AgentDraft, AgentFields, draftBody } from '../../parts/form/agent-fields.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Marks } from '../../parts/form/roles.tsx';
import { SendForm } from '../../parts/form/send-form.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { StandingTable } from '../../parts/people/standing-approvals.tsx';
import { AgentStatus, StopReason, useKillSwitches } from '../../parts/policy/kill-switches.tsx';
import { AgentActions } from './agent-actions.tsx';
import { AgentActivity } from './agent-activity.tsx';
import { AgentDelegations } from './agent-delegations.tsx';
import { AgentIdentities } from './agent-identities.tsx';
import { AgentLimits } from './agent-limits.tsx';
import type { AgentProps } from './agent-props.ts';
import { AgentSigning } from './agent-signing.tsx';
import { AgentStepUp } from './agent-step-up.tsx';

export default function AgentPage({ params: { id = '' } }: PageProps) {
  const { data: agent, problem, reload } = useResource('getAgent', { params: { id } }, ['agents']);
  const killSwitches = useKillSwitches().data?.items ?? [];
  const mayRequests = useGrant('requests.view') !== 'no';
  const mayAudit = useGrant('audit.view') !== 'no';
  if (agent === null) {
    return (
      <PageFrame title="Agent">
        {problem?.code === 'not_found' ? <NoSuchAgent /> : <ProblemNote problem={problem} onRetry={reload} />}
        {problem === null && <Loading />}
      </PageFrame>
    );
  }
  const stop = agent.status === 'active' ? killSwitchFor(agent, killSwitches) : null;
  const props: AgentProps = { agent, onChange: reload };
  return (
    <PageFrame
      title={agent.name}
      beside={<AgentStatus status={agent.status} stop={stop} />}
      actions={
        <>
          {mayRequests && <ButtonLink href={`/requests?agent=${id}`}>Its requests</ButtonLink>}
          {mayAudit && <ButtonLink href={`/audit?subject=${id}`}>Its changes</ButtonLink>}
          <AgentActions {...props} />
        </>
      }
    >
      <ProblemNote problem={problem} onRetry={reload} />
      {stop !== null && (
        <Note tone="deny" icon="stop">
          <p>
            {stopText(stop.scope)} <StopReason stop={stop} />. Its requests are refused until someone resumes
            it.
          </p>
        </Note>
      )}
      <div class="agent-columns">
        <div class="agent-column">
          <AgentActivity {...props} />
          <AgentKeys {...props} />
          <AgentIdentities agent={agent} />
          <AgentDelegations {...props} />
          <AgentStepUp {...props} />
          {mayRequests && <AgentStanding {...props} />}
        </div>
        <div class="agent-column">
          <AgentFacts {...props} />
          <AgentLimits {...props} />
          <AgentSigning {...props} />
        </div>
      </div>
    </PageFrame>
  );
}

function stopText(scope: string): string {
  if (scope === 'all') return 'Stopped with every agent';
  return scope.startsWith('tier:') ? `Stopped with all agents of ${scope.slice(5)} risk` : 'Stopped';
}

function NoSuchAgent() {
  return (
    <Empty icon="agent" title="Agent not found, or you may not see it">
      <ButtonLink href="/agents">All agents</ButtonLink>
    </Empty>
  );
}

/** The standing approvals under which the agent may be granted requests. */
function AgentStanding({ agent: { id } }: AgentProps) {
  const list = useResource('listStandingApprovals', { query: { agent: id } }, ['approvals', 'requests']);
  const items = list.data?.items ?? [];
  if (items.length === 0 && list.problem === null) return null;
  return (
    <Section title="Standing approvals">
      <ProblemNote problem={list.problem} onRetry={list.reload} />
      <StandingTable items={items} isOld={list.isLoading} isOfAgent reload={list.reload} />
    </Section>
  );
}

/** The section of an agent's keys. */
export function AgentKeys({ agent: { id, name, status }, onChange }: AgentProps) {
  const keys = useResource('listAgentKeys', { params: { id } }, ['agents']);
  return (
    <KeysSection
      label="Keys of the agent"
      prefix="writ_"
      keys={keys}
      mayRotate={useGrant('agents.rotate') !== 'no' && status !== 'revoked'}
      name={name}
      send={(body) => call('rotateAgentKey', { params: { id }, body })}
      onRotated={onChange}
    />
  );
}

/** The details of an agent, and a dialog that edits them. */
export function AgentFacts({ agent, onChange }: AgentProps) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useGrant('agents.change') !== 'no' && agent.status !== 'revoked';
  return (
    <Section title="Details" actions={mayChange && <Button onClick={() => setOpen(true)}>Edit</Button>}>
      <Facts
        items={[
          ['Risk tier', agent.risk_tier],
          [
            'Control owner',
            <OwnerName key="owner" address={agent.control_owner} name={agent.control_owner_name} />,
          ],
          ['Tags', <Marks key="tags" words={agent.tags} />],
          ['Registered', <At key="created" at={agent.created_at} />],
          ['Changed', <Ago key="changed" at={agent.changed_at} />],
          ['Id', <code key="id">{agent.id}</code>],
        ]}
      />
      {isOpen && <EditDialog agent={agent} onChange={onChange} onClose={() => setOpen(false)} />}
    </Section>
  );
}

function EditDialog({ agent, onChange, onClose }: AgentProps & { readonly onClose: () => void }) {
  const [draft, setDraft] = useState<AgentDraft>({
    name: agent.name,
    tier: agent.risk_tier,
    owner: agent.control_owner,
    tags: agent.tags.join(', '),
  });
  const { isBusy, problem, run } = useSending();
  const save = (): Promise<void> =>
    run(async () => {
      await call('updateAgent', { params: { id: agent.id }, body: draftBody(draft) });
      showToast('Changed; it takes effect with the next request');
      onChange();
      onClose();
    });
  return (
    <Dialog title="Edit the agent" onClose={onClose}>
      <SendForm word="Save" isBusy={isBusy} problem={problem} onSend={save} onCancel={onClose}>
        <AgentFields draft={draft} onChange={setDraft} />
      </SendForm>
    </Dialog>
  );
}
