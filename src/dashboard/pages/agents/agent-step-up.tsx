// Step-up: the control owner proves to be present, by a passkey, or by password and one-time code. Nobody
// else sees this section.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { answerPasskey } from '../../api/passkey.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useGrant, usePerson } from '../../api/session.tsx';
import { useSending } from '../../parts/form/form.ts';
import { codeDigits, PasswordAndCode } from '../../parts/form/password-and-code.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Note, ProblemNote } from '../../parts/layout/note.tsx';
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
      <StepUpForm agentId={agent.id} />
    </Section>
  );
}

function StepUpForm({ agentId }: { readonly agentId: string }) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [at, setAt] = useState<string | null>(null);
  const { isBusy, problem, run } = useSending();
  const params = { id: agentId };
  const byPasskey = (): Promise<void> =>
    run(async () => {
      const passkey = await answerPasskey(await call('getAgentStepUpChallenge', { params }));
      setAt((await call('stepUpForAgent', { params, body: { passkey } })).at);
    });
  const byCode = (): Promise<void> =>
    run(async () => {
      const body = { password, code: codeDigits(code) };
      setAt((await call('stepUpForAgent', { params, body })).at);
      setPassword('');
      setCode('');
    });
  const needsFactor = problem instanceof ApiProblem && problem.code === 'second_factor_missing';
  return (
    <>
      <p>
        You are its control owner. A step-up satisfies rules that ask for a recent one, and requests that wait
        for it are decided again.
      </p>
      <div role="status">
        {at !== null && (
          <Note tone="allow" icon="check">
            You stepped up <Ago at={at} />.
          </Note>
        )}
      </div>
      <ProblemNote problem={problem} />
      {needsFactor && (
        <p>
          <a href="/account">Set one up in your account</a>, then come back.
        </p>
      )}
      <div class="form-actions">
        <Button icon="passkey" isBusy={isBusy} onClick={() => void byPasskey()}>
          Step up with a passkey
        </Button>
      </div>
      <form
        class="form agent-step-up"
        onSubmit={(event) => {
          event.preventDefault();
          void byCode();
        }}
      >
        <PasswordAndCode password={password} onPassword={setPassword} code={code} onCode={setCode} />
        <div class="form-actions">
          <Button type="submit" isBusy={isBusy}>
            Step up with a code
          </Button>
        </div>
      </form>
    </>
  );
}
