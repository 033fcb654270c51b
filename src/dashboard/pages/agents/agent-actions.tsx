// What changes how an agent stands: the kill switch, disabling and enabling, and revoking, which takes its name, since
// nothing brings it back.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';
import { KillSwitchDialog } from '../../shell/kill-switch.tsx';
import type { AgentProps } from './agent-props.ts';

type Open = 'stop' | 'disable' | 'enable' | 'revoke' | null;

export function AgentActions({ agent, onChange }: AgentProps) {
  const [open, setOpen] = useState<Open>(null);
  const mayStop = useGrant('switches.use') === 'yes';
  const mayDisable = useGrant('agents.disable') !== 'no';
  const mayEnable = useGrant('agents.enable') !== 'no';
  const mayRevoke = useGrant('agents.revoke') !== 'no';
  if (agent.status === 'revoked') return null;
  const close = (): void => setOpen(null);
  return (
    <>
      {mayEnable && agent.status === 'disabled' && (
        <Button look="primary" onClick={() => setOpen('enable')}>
          Enable
        </Button>
      )}
      {mayDisable && agent.status === 'active' && <Button onClick={() => setOpen('disable')}>Disable</Button>}
      {mayStop && (
        <Button icon="stop" onClick={() => setOpen('stop')}>
          Stop
        </Button>
      )}
      {mayRevoke && (
        <Button icon="close" onClick={() => setOpen('revoke')}>
          Revoke
        </Button>
      )}
      {open === 'stop' && <KillSwitchDialog agent={agent} onClose={close} />}
      {(open === 'disable' || open === 'enable') && (
        <StatusDialog agent={agent} onChange={onChange} onClose={close} kind={open} />
      )}
      {open === 'revoke' && <RevokeDialog agent={agent} onChange={onChange} onClose={close} />}
    </>
  );
}

type DialogProps = AgentProps & { readonly onClose: () => void };

const statusWords = {
  disable: {
    title: 'Disable the agent',
    word: 'Disable',
    done: 'is disabled',
    text: 'All its requests are refused from now on, and its waiting requests cannot be approved, until someone enables it again.',
  },
  enable: {
    title: 'Enable the agent',
    word: 'Enable',
    done: 'is enabled',
    text: 'Its requests are decided again, with the keys that it has.',
  },
} as const;

function StatusDialog({
  agent,
  onChange,
  onClose,
  kind,
}: DialogProps & { readonly kind: 'disable' | 'enable' }) {
  const { title, word, done, text } = statusWords[kind];
  return (
    <ConfirmDialog
      title={title}
      word={word}
      look={kind === 'disable' ? 'danger' : 'primary'}
      done={`${agent.name} ${done}`}
      work={() => call(`${kind}Agent`, { params: { id: agent.id } })}
      onDone={onChange}
      onClose={onClose}
    >
      <strong>
        <bdi>{agent.name}</bdi>
      </strong>
      : {text}
    </ConfirmDialog>
  );
}

function RevokeDialog({ agent, onChange, onClose }: DialogProps) {
  const [name, setName] = useState('');
  const { isBusy, problem, run } = useSending();
  const isMeant = name === agent.name;
  const revoke = (): Promise<void> =>
    run(async () => {
      await call('revokeAgent', { params: { id: agent.id }, body: { name } });
      tellDone(`${agent.name} is revoked`);
      onChange();
      onClose();
    });
  return (
    <Dialog title="Revoke the agent" onClose={onClose}>
      <p>
        All its requests are refused for good, whatever key they carry. This cannot be undone: to continue,
        register another agent. What it has done stays in the record.
      </p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isMeant) void revoke();
        }}
      >
        <ProblemNote problem={problem} />
        <Field
          label="Name of the agent"
          help={
            <>
              Type <strong>{agent.name}</strong> to confirm.
            </>
          }
        >
          <input
            required
            autoComplete="off"
            spellcheck={false}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </Field>
        <div class="form-actions">
          <Button look="danger" type="submit" isBusy={isBusy} disabled={!isMeant}>
            Revoke for good
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
