// Changes the status of an agent: three ways to stop it behind one button, each explained, and a button that
// enables it. Revoking asks for the agent's name, because it cannot be undone.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { RevokeDialog } from '../../parts/dialog/revoke-dialog.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { KillSwitchDialog } from '../../shell/kill-switch.tsx';
import type { AgentProps } from './agent-props.ts';

type StopAction = 'kill-switch' | 'disable' | 'revoke';

export function AgentActions({ agent, onChange }: AgentProps) {
  const [open, setOpen] = useState<StopAction | 'choice' | 'enable' | null>(null);
  const mayEnable = useGrant('agents.enable') !== 'no';
  const ways = useWays(agent.status === 'active');
  if (agent.status === 'revoked') return null;
  const close = (): void => setOpen(null);
  return (
    <>
      {mayEnable && agent.status === 'disabled' && (
        <Button variant="primary" onClick={() => setOpen('enable')}>
          Enable
        </Button>
      )}
      {ways.length > 0 && (
        <Button icon="stop" onClick={() => setOpen('choice')}>
          Stop…
        </Button>
      )}
      {open === 'choice' && <WayDialog name={agent.name} ways={ways} onChoose={setOpen} onClose={close} />}
      {open === 'kill-switch' && <KillSwitchDialog agent={agent} onClose={close} />}
      {(open === 'disable' || open === 'enable') && (
        <StatusDialog agent={agent} onChange={onChange} onClose={close} kind={open} />
      )}
      {open === 'revoke' && (
        <RevokeDialog
          noun="agent"
          name={agent.name}
          send={(body) => call('revokeAgent', { params: { id: agent.id }, body })}
          onDone={onChange}
          onClose={close}
        />
      )}
    </>
  );
}

const methodText = {
  'kill-switch': {
    word: 'Temporarily, with the kill switch',
    text: 'You give a reason, which is shown on every page until someone resumes the agent.',
  },
  disable: {
    word: 'Until someone enables it',
    text: 'The agent is disabled, as its page and the list of agents show.',
  },
  revoke: { word: 'Permanently', text: 'The agent is revoked with all its keys. This cannot be undone.' },
} as const satisfies Record<StopAction, { readonly word: string; readonly text: string }>;

/** The ways that the person may use and that would change something. */
function useWays(isActive: boolean): readonly StopAction[] {
  const mayUse = {
    'kill-switch': useGrant('kill-switches.use') === 'yes',
    disable: useGrant('agents.disable') !== 'no' && isActive,
    revoke: useGrant('agents.revoke') !== 'no',
  } satisfies Record<StopAction, boolean>;
  return (Object.keys(methodText) as StopAction[]).filter((way) => mayUse[way]);
}

interface StopDialogProps {
  readonly name: string;
  readonly ways: readonly StopAction[];
  readonly onChoose: (way: StopAction) => void;
  readonly onClose: () => void;
}

function WayDialog({ name, ways, onChoose, onClose }: StopDialogProps) {
  return (
    <Dialog title={`Stop ${name}`} onClose={onClose}>
      <p>Each option refuses all further requests of the agent. Nobody can approve its pending requests.</p>
      <ul class="agent-ways">
        {ways.map((way, at) => (
          <li key={way}>
            <Button onClick={() => onChoose(way)} {...(at === 0 ? { 'data-first': '' } : {})}>
              {methodText[way].word}…
            </Button>
            <span>{methodText[way].text}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

type DialogProps = AgentProps & { readonly onClose: () => void };

const statusWords = {
  disable: {
    title: 'Disable the agent',
    word: 'Disable',
    done: 'is disabled',
    text: 'All its requests are refused from now on, and its pending requests cannot be approved, until someone enables it again.',
  },
  enable: {
    title: 'Enable the agent',
    word: 'Enable',
    done: 'is enabled',
    text: 'Its requests are decided again. Its keys are unchanged.',
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
      variant={kind === 'disable' ? 'danger' : 'primary'}
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
