// The keys of an agent, and making a new one, with how long the present one stays good.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { RotateDialog } from '../../parts/dialog/rotate-dialog.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { KeyTable } from '../../parts/layout/key-table.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import type { AgentProps } from './agent-props.ts';

export function AgentKeys({ agent: { id, name, status }, onChange }: AgentProps) {
  const [isOpen, setOpen] = useState(false);
  const mayRotate = useGrant('agents.rotate') !== 'no' && status !== 'revoked';
  const keys = useResource('listKeys', { params: { id } }, ['agents']);
  const onRotated = (): void => {
    keys.reload();
    onChange();
  };
  return (
    <Section
      title="Keys"
      actions={
        mayRotate && (
          <Button icon="key" onClick={() => setOpen(true)}>
            Rotate key
          </Button>
        )
      }
    >
      <ProblemNote problem={keys.problem} onRetry={keys.reload} />
      {keys.data === null ? (
        keys.problem === null && <Loading lines={2} />
      ) : (
        <KeyTable label="Keys of the agent" prefix="writ_" keys={keys.data.items} />
      )}
      {isOpen && (
        <RotateDialog
          name={name}
          send={(body) => call('rotateKey', { params: { id }, body })}
          onRotated={onRotated}
          onClose={() => setOpen(false)}
        />
      )}
    </Section>
  );
}
