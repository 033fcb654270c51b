// The section of an agent's keys.

import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { KeysSection } from '../../parts/dialog/keys-section.tsx';
import type { AgentProps } from './agent-props.ts';

export function AgentKeys({ agent: { id, name, status }, onChange }: AgentProps) {
  const keys = useResource('listKeys', { params: { id } }, ['agents']);
  return (
    <KeysSection
      label="Keys of the agent"
      prefix="writ_"
      keys={keys}
      mayRotate={useGrant('agents.rotate') !== 'no' && status !== 'revoked'}
      name={name}
      send={(body) => call('rotateKey', { params: { id }, body })}
      onRotated={onChange}
    />
  );
}
