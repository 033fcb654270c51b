// Step-up: the control owner proves to be present, by a passkey, or by password and one-time code. Nobody
// else sees this section.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useGrant, usePerson } from '../../api/session.tsx';
import { StepUpForm } from '../../parts/form/step-up-form.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import type { AgentProps } from './agent-props.ts';

export function AgentStepUp({ agent }: AgentProps) {
  const { id: personId, email } = usePerson();
  const mayStepUp = useGrant('agents.step-up') !== 'no';
  const owner = agent.control_owner;
  const isOwner = owner === personId || owner.toLowerCase() === email.toLowerCase();
  if (!mayStepUp || !isOwner || agent.status !== 'active') return null;
  return (
    <Section title="Step up">
      <AgentStepUpForm agentId={agent.id} />
    </Section>
  );
}

function AgentStepUpForm({ agentId }: { readonly agentId: string }) {
  const [at, setAt] = useState<string | null>(null);
  const params = { id: agentId };
  return (
    <>
      <p>
        You are its control owner. A step-up satisfies rules that require a recent one, and pending requests
        that need it are decided again.
      </p>
      <div role="status">
        {at !== null && (
          <Note tone="allow" icon="check">
            You stepped up <Ago at={at} />.
          </Note>
        )}
      </div>
      <StepUpForm
        formClass="form agent-step-up"
        challenge={() => call('getAgentStepUpChallenge', { params })}
        onProof={async (proof) => setAt((await call('stepUpForAgent', { params, body: proof })).at)}
      />
    </>
  );
}
