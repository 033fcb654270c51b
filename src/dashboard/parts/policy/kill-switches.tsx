// The kill switches that are on, and whether an agent is behind one.

import type { KillSwitch } from '../../../api/applicable-kill-switch.ts';
import type { Reply } from '../../../api/operations.ts';
import { type Resource, useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { Badge, StatusBadge } from '../layout/badge.tsx';
import { Ago } from '../layout/time.tsx';
import { PlainText } from '../text/plain-text.tsx';

/** Reloaded whenever a kill switch is turned on or off; nothing for people who may not view kill switches. */
export function useKillSwitches(): Resource<Reply<'listKillSwitches'>> {
  const mayView = useGrant('kill-switches.view') !== 'no';
  return useResource('listKillSwitches', mayView ? {} : null, ['kill_switches']);
}

interface AgentStatusProps {
  readonly status: string;
  readonly stop: KillSwitch | null;
}

/** The status of an agent: an active one behind a kill switch is stopped. */
export function AgentStatus({ status, stop }: AgentStatusProps) {
  if (status !== 'active' || stop === null) return <StatusBadge status={status} />;
  return (
    <Badge tone="deny" icon="stop">
      Stopped
    </Badge>
  );
}

/** Who stopped the agent, when and why. */
export function StopReason({ stop }: { readonly stop: KillSwitch }) {
  return (
    <>
      by <PlainText text={stop.created_by_name} isShort />, <Ago at={stop.created_at} />:{' '}
      <PlainText text={stop.reason} isShort />
    </>
  );
}
