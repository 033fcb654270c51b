// Registers a new agent: first its details, then its key, shown once, with a command that uses it.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { usePerson } from '../../api/session.tsx';
import { NewKey, useSampleRequest } from '../../parts/dialog/new-key.tsx';
import { type AgentDraft, AgentFields, draftBody } from '../../parts/form/agent-fields.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { PageFrame, Section } from '../../parts/layout/page.tsx';

export default function Register() {
  // Read before the key is there, so that the lines to copy are there with it.
  useSampleRequest();
  const [made, setMade] = useState<Reply<'registerAgent'> | null>(null);
  return (
    <PageFrame
      title="Register an agent"
      lead="Each agent has its own key and a control owner who answers for it."
      actions={<ButtonLink href="/agents">All agents</ButtonLink>}
    >
      {made === null ? (
        <RegisterForm onDone={setMade} />
      ) : (
        <Made made={made} onAnother={() => setMade(null)} />
      )}
    </PageFrame>
  );
}

function RegisterForm({ onDone }: { readonly onDone: (made: Reply<'registerAgent'>) => void }) {
  const { email } = usePerson();
  const [draft, setDraft] = useState<AgentDraft>({ name: '', tier: 'low', owner: email, tags: '' });
  const { isBusy, problem, run } = useSending();
  return (
    <Section title="Agent details">
      <SendForm
        word="Register an agent"
        isBusy={isBusy}
        problem={problem}
        onSend={() => run(async () => onDone(await call('registerAgent', { body: draftBody(draft) })))}
        actions={<ButtonLink href="/agents">Cancel</ButtonLink>}
      >
        <AgentFields draft={draft} onChange={setDraft} />
      </SendForm>
    </Section>
  );
}

function Made({
  made,
  onAnother,
}: {
  readonly made: Reply<'registerAgent'>;
  readonly onAnother: () => void;
}) {
  return (
    <Section title="Registered">
      <NewKey apiKey={made.api_key} name={made.agent.name} />
      <div class="form-actions">
        <ButtonLink variant="primary" href={`/agents/${made.agent.id}`}>
          Open the agent
        </ButtonLink>
        <Button onClick={onAnother}>Register another</Button>
      </div>
    </Section>
  );
}
