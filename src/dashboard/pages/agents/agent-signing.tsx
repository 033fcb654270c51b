// Sets whether an agent signs its requests, and shows a new signing secret once.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { OneTimeSecret, StoredButton } from '../../parts/dialog/one-time-secret.tsx';
import { FieldGroup } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import type { Agent, AgentProps } from './agent-props.ts';

type Mode = Agent['signing'];

const meanings: Readonly<Record<Mode, string>> = {
  off: 'Signatures are not checked; there is no secret.',
  optional: 'A signature is checked if there is one, and policies read the result as request.signed.',
  required: 'A request without a valid signature is refused.',
};
const modes = Object.keys(meanings) as Mode[];

export function AgentSigning({ agent, onChange }: AgentProps) {
  const [isOpen, setOpen] = useState(false);
  const maySet = useGrant('agents.signing') !== 'no' && agent.status !== 'revoked';
  return (
    <Section title="Signatures" actions={maySet && <Button onClick={() => setOpen(true)}>Change</Button>}>
      <p>
        <strong class="agent-mode">{agent.signing}</strong> {meanings[agent.signing]}
      </p>
      {isOpen && <SigningDialog agent={agent} onChange={onChange} onClose={() => setOpen(false)} />}
    </Section>
  );
}

function SigningDialog({ agent, onChange, onClose }: AgentProps & { readonly onClose: () => void }) {
  const [mode, setMode] = useState<Mode>(agent.signing);
  const [isSecretNew, setSecretNew] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const { isBusy, problem, run } = useSending();
  const hasSecret = agent.signing !== 'off';
  const save = (): Promise<void> =>
    run(async () => {
      const body = { mode, ...(isSecretNew && mode !== 'off' ? { new_secret: true } : {}) };
      const { signing_secret: made } = await call('setSigning', { params: { id: agent.id }, body });
      showToast(`Signatures: ${mode}`);
      onChange();
      if (made === null) onClose();
      else setSecret(made);
    });
  if (secret !== null) {
    return (
      <Dialog title="The signing secret" onClose={onClose}>
        <OneTimeSecret title={`The signing secret of ${agent.name}`} label="signing secret" text={secret} />
        <StoredButton onClick={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Signatures" onClose={onClose}>
      <SendForm word="Save" isBusy={isBusy} problem={problem} onSend={save} onCancel={onClose}>
        <FieldGroup legend="Requests of this agent" name="mode">
          {modes.map((one) => (
            <label class="choice agent-choice" key={one}>
              <input type="radio" name="mode" checked={mode === one} onChange={() => setMode(one)} />
              <span>
                {one} <span class="agent-soft">{meanings[one]}</span>
              </span>
            </label>
          ))}
        </FieldGroup>
        {hasSecret && mode !== 'off' && (
          <label class="choice">
            <input
              type="checkbox"
              checked={isSecretNew}
              onChange={({ currentTarget }) => setSecretNew(currentTarget.checked)}
            />
            Create a new secret; the current one stops working
          </label>
        )}
        {!hasSecret && mode !== 'off' && <p>A secret is created and shown once.</p>}
        {hasSecret && mode === 'off' && <p>The secret is deleted.</p>}
      </SendForm>
    </Dialog>
  );
}
