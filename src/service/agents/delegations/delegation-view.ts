// Shows a delegation as the API and the command line do. INVARIANT: neither the key nor its digest is shown.

import { isoTime } from '../../../language/value/iso-time.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import { type Delegation, delegationsIn, whyEnded } from './delegation.ts';
import { usesTaken } from './delegation-uses.ts';

export const delegationStatuses = ['active', 'revoked', 'ended'] as const;

export interface DelegationView {
  readonly id: string;
  readonly name: string;
  readonly agent_id: string;
  /** The names from the agent's own delegation to this one. */
  readonly chain: readonly string[];
  /** The ids of the delegations above this one. */
  readonly above: readonly string[];
  readonly actions: readonly string[];
  readonly when: string | null;
  readonly until: string;
  readonly uses: number | null;
  readonly used: number;
  readonly session: string | null;
  /** What has happened to this delegation or to one above it. */
  readonly status: (typeof delegationStatuses)[number];
  readonly created_at: string;
  readonly revoked_at: string | null;
}

export async function viewDelegation(
  documents: DocumentStore,
  delegation: Delegation,
  nowMs: number,
): Promise<DelegationView> {
  const { id, name, agentId, above, actions, when, untilMs, uses, session, revokedAtMs } = delegation;
  const links = await Promise.all(
    above.map(async (one) => (await delegationsIn(documents).find(one))?.value),
  );
  return {
    id,
    name,
    agent_id: agentId,
    chain: [...links.map((link, at) => link?.name ?? above[at]!), name],
    above,
    actions,
    when,
    until: isoTime(untilMs),
    uses,
    used: uses === null ? 0 : await usesTaken(documents, id),
    session,
    status: statusOf([...links, delegation], nowMs),
    created_at: isoTime(delegation.createdAtMs),
    revoked_at: revokedAtMs === null ? null : isoTime(revokedAtMs),
  };
}

/** How the chain stands; a link that is gone has ended. */
function statusOf(chain: readonly (Delegation | undefined)[], nowMs: number): DelegationView['status'] {
  if (chain.some((link) => link !== undefined && link.revokedAtMs !== null)) return 'revoked';
  return chain.some((link) => link === undefined || whyEnded(link, nowMs) !== null) ? 'ended' : 'active';
}
