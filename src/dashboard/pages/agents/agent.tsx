// The page of one agent: its status, activity, keys, signatures and limits, and all actions on it.

import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import type { PageProps } from '../../navigation/page-props.ts';
import { StatusBadge } from '../../parts/layout/badge.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import './agent.css';
import { AgentActions } from './agent-actions.tsx';
import { AgentActivity } from './agent-activity.tsx';
import { AgentFacts } from './agent-facts.tsx';
import { AgentKeys } from './agent-keys.tsx';
import { AgentLimits } from './agent-limits.tsx';
import type { AgentProps } from './agent-props.ts';
import { AgentSigning } from './agent-signing.tsx';
import { AgentStepUp } from './agent-step-up.tsx';

export default function AgentPage({ params: { id = '' } }: PageProps) {
  const { data: agent, problem, reload } = useResource('getAgent', { params: { id } }, ['agents']);
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
  const props: AgentProps = { agent, onChange: reload };
  return (
    <PageFrame
      title={agent.name}
      beside={<StatusBadge status={agent.status} />}
      actions={
        <>
          {mayRequests && <ButtonLink href={`/requests?agent=${id}`}>Its requests</ButtonLink>}
          {mayAudit && <ButtonLink href={`/audit?subject=${id}`}>Its changes</ButtonLink>}
          <AgentActions {...props} />
        </>
      }
    >
      <ProblemNote problem={problem} onRetry={reload} />
      <div class="agent-columns">
        <div class="agent-column">
          <AgentActivity {...props} />
          <AgentKeys {...props} />
          <AgentStepUp {...props} />
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

function NoSuchAgent() {
  return (
    <Empty icon="agent" title="There is no such agent, or it is not yours to see">
      <ButtonLink href="/agents">All agents</ButtonLink>
    </Empty>
  );
}
