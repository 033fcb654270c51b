// One agent: how it stands, what it does, its keys, signatures and limits, and all that may be done about it.

import type { Reply } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import type { PageProps } from '../../pages.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/note.tsx';
import { PageFrame } from '../../parts/page.tsx';
import './agent.css';
import { AgentActions } from './agent-actions.tsx';
import { AgentActivity } from './agent-activity.tsx';
import { AgentFacts } from './agent-facts.tsx';
import { AgentKeys } from './agent-keys.tsx';
import { AgentLimits } from './agent-limits.tsx';
import { AgentSigning } from './agent-signing.tsx';
import { AgentStepUp } from './agent-step-up.tsx';

export type Agent = Reply<'getAgent'>;

/** What a section of the page shows and can do: it says when the agent is another than before. */
export interface AgentProps {
  readonly agent: Agent;
  readonly onChange: () => void;
}

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
