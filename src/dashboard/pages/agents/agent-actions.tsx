// What changes how an agent stands: the kill switch, disabling and enabling, and revoking, which takes its name, since
// nothing brings it back.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { RevokeDialog } from '../../parts/dialog/revoke-dialog.tsx';
import { Button } from '../../parts/layout/button.tsx';
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
      {open === 'revoke' && (
        <RevokeDialog
          what="agent"
          name={agent.name}
          send={(body) => call('revokeAgent', { params: { id: agent.id }, body })}
          onDone={onChange}
          onClose={close}
        />
      )}
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
