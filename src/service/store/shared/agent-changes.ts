// What the record of a change of an agent holds, the same in every store. No secret is in it, encrypted or
// not.

import type { AgentRow, AgentStatus } from '../contract/records.ts';
import type { DescribedAgent } from '../contract/store.ts';

export const statusNames = {
  active: 'agent-enabled',
  disabled: 'agent-disabled',
  revoked: 'agent-revoked',
} as const satisfies Record<AgentStatus, string>;

export function agentOnRecord(agent: AgentRow) {
  const { sealedSigningSecret: _, createdAtMs: __, changedAtMs: ___, version: ____, ...shown } = agent;
  return shown;
}

export function descriptionOnRecord({
  name,
  riskTier,
  controlOwner,
  tags,
  ratePerMinute,
  burst,
  tellsChange,
}: DescribedAgent) {
  return { name, riskTier, controlOwner, tags: [...tags], ratePerMinute, burst, tellsChange };
}

export function signingOnRecord({
  signing,
  sealedSigningSecret,
}: Pick<AgentRow, 'signing' | 'sealedSigningSecret'>) {
  return { signing, hasSecret: sealedSigningSecret !== null };
}
