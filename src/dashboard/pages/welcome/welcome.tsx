// The first minutes: an agent with a key, its decisions, and the first approval. The agent that the first start has
// registered is taken over. The address keeps the step, so a reload continues there, but without the key.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant, usePerson } from '../../api/session.tsx';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import { NewKey } from '../../parts/dialog/new-key.tsx';
import { type AgentDraft, AgentFields, draftBody } from '../../parts/form/agent-fields.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame, Section } from '../../parts/layout/page.tsx';
import { FirstApproval, FirstDecision } from './first-decision.tsx';
import './welcome.css';

export default function Welcome() {
  const { query } = useAddress();
  const mayRegister = useGrant('agents.register') === 'yes';
  const [made, setMade] = useState<Reply<'registerAgent'> | null>(null);
  const [isDecided, setDecided] = useState(false);
  const chosen = query.get('agent');
  const { agent: first, isLoading } = useFirstAgent(mayRegister && chosen === null);
  if (!mayRegister) return <NotForYou />;
  if (isLoading) return <Loading />;
  const agentId = chosen === newAgent ? null : (chosen ?? first?.id ?? null);
  return (
    <PageFrame
      title="Welcome to Writ"
      lead="From an agent with a key to its first decision, and to the first approval."
    >
      <ol class="welcome-steps">
        <Step number={1} title="You are signed in" isDone />
        {agentId === null ? (
          <Step number={2} title="Register an agent" isHere>
            <RegisterForm
              onDone={(reply) => {
                setMade(reply);
                setQuery({ agent: reply.agent.id }, { replace: true });
              }}
            />
          </Step>
        ) : (
          <Step
            number={2}
            title={first === null ? 'The agent is registered' : 'Your first agent is registered'}
            isDone
          >
            {first === null ? (
              <KeyOf agentId={agentId} made={made?.agent.id === agentId ? made : null} />
            ) : (
              <FirstAgent agent={first} />
            )}
          </Step>
        )}
        <Step number={3} title="See its decisions" isDone={isDecided} isHere={agentId !== null && !isDecided}>
          {agentId !== null && (
            <FirstDecision
              agentId={agentId}
              apiKey={made?.agent.id === agentId ? made.api_key : null}
              onDecided={() => setDecided(true)}
            />
          )}
        </Step>
        <Step number={4} title="Approve a request" isHere={isDecided}>
          {agentId !== null && isDecided && <FirstApproval agentId={agentId} />}
        </Step>
      </ol>
    </PageFrame>
  );
}

/** Stands in the address for an agent that is not registered yet. */
const newAgent = 'new';

/** The name that the service gives to the agent of its first start. */
const firstAgentName = 'first-agent';

type Agent = Reply<'listAgents'>['items'][number];

/** The agent that the first start has registered; null when there is none, or when somebody has revoked it. */
function useFirstAgent(isWanted: boolean): { readonly agent: Agent | null; readonly isLoading: boolean } {
  const query = { text: firstAgentName, limit: '20' };
  const { data, isLoading } = useResource('listAgents', isWanted ? { query } : null, ['agents']);
  const firstAgent = data?.items.find(({ name, status }) => name === firstAgentName && status === 'active');
  return { agent: isWanted ? (firstAgent ?? null) : null, isLoading: isWanted && isLoading && data === null };
}

function FirstAgent({ agent: { id, name } }: { readonly agent: Agent }) {
  return (
    <>
      <p>
        The first start of the service has registered <bdi>{name}</bdi> and printed its key in the terminal,
        with a command to try it. You are its control owner.
      </p>
      <div class="form-actions">
        <ButtonLink href={`/agents/${id}`}>Key lost? Create another</ButtonLink>
        <ButtonLink href={`/welcome?agent=${newAgent}`}>Register another agent</ButtonLink>
      </div>
    </>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone?: boolean;
  readonly isHere?: boolean;
  readonly children?: ComponentChildren;
}

function Step({ number, title, isDone = false, isHere = false, children }: StepProps) {
  return (
    <li class="welcome-step" aria-current={isHere ? 'step' : undefined}>
      <h2>
        <span class={isDone ? 'welcome-mark welcome-mark-done' : 'welcome-mark'} aria-hidden="true">
          {isDone ? <Icon name="check" /> : number}
        </span>
        {title}
        {isDone && <span class="visually-hidden"> (done)</span>}
      </h2>
      {children !== undefined && children !== false && <div class="welcome-body">{children}</div>}
    </li>
  );
}

function RegisterForm({ onDone }: { readonly onDone: (made: Reply<'registerAgent'>) => void }) {
  const { email } = usePerson();
  const [draft, setDraft] = useState<AgentDraft>({ name: 'my-agent', tier: 'low', owner: email, tags: '' });
  const { isBusy, problem, run } = useSending();
  return (
    <SendForm
      word="Register an agent"
      isBusy={isBusy}
      problem={problem}
      onSend={() => run(async () => onDone(await call('registerAgent', { body: draftBody(draft) })))}
    >
      <AgentFields draft={draft} onChange={setDraft} />
    </SendForm>
  );
}

function KeyOf({
  agentId,
  made,
}: {
  readonly agentId: string;
  readonly made: Reply<'registerAgent'> | null;
}) {
  const { data, problem } = useResource('getAgent', made === null ? { params: { id: agentId } } : null);
  if (made !== null) return <NewKey apiKey={made.api_key} name={made.agent.name} />;
  return (
    <>
      <ProblemNote problem={problem} />
      {data !== null && (
        <Note icon="key">
          <p>
            The key of <bdi>{data.name}</bdi> was shown when it was registered and is not kept here. If it is
            lost, <a href={`/agents/${agentId}`}>create another</a>.
          </p>
        </Note>
      )}
    </>
  );
}

function NotForYou() {
  return (
    <PageFrame title="Welcome to Writ">
      <Section title="You are signed in">
        <p>Writ decides what autonomous agents may do, by policies, and keeps a record of each decision.</p>
        <div class="form-actions">
          <ButtonLink variant="primary" href="/">
            Go to your work
          </ButtonLink>
          <ButtonLink href="/account">Your account</ButtonLink>
        </div>
      </Section>
    </PageFrame>
  );
}
