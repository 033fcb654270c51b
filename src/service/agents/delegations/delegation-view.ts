// Shows a delegation as the API and the command line do. INVARIANT: neither the key nor its digest is shown.

import { isoTime } from '../../../language/value/iso-time.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import { type CountUses, type Delegation, delegationsIn, whyEnded } from './delegation.ts';

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
  /** How many uses have been taken; null while that is not known, 0 where `uses` is null. */
  readonly used: number | null;
  readonly session: string | null;
  /** What has happened to this delegation or to one above it. */
  readonly status: (typeof delegationStatuses)[number];
  readonly created_at: string;
  readonly revoked_at: string | null;
}

interface ViewAt {
  readonly documents: DocumentStore;
  readonly countUses: CountUses;
  readonly nowMs: number;
}

export async function viewDelegation(
  { documents, countUses, nowMs }: ViewAt,
  delegation: Delegation,
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
    used: uses === null ? 0 : countUses(delegation),
    session,
    status: statusOf([...links, delegation], { countUses, nowMs }),
    created_at: isoTime(delegation.createdAtMs),
    revoked_at: revokedAtMs === null ? null : isoTime(revokedAtMs),
  };
}

/** How the chain stands; a link that is gone has ended. */
function statusOf(
  chain: readonly (Delegation | undefined)[],
  { countUses, nowMs }: Omit<ViewAt, 'documents'>,
): DelegationView['status'] {
  if (chain.some((link) => link !== undefined && link.revokedAtMs !== null)) return 'revoked';
  const isOver = (link: Delegation) =>
    whyEnded(link, nowMs) !== null || (link.uses !== null && (countUses(link) ?? 0) >= link.uses);
  return chain.some((link) => link === undefined || isOver(link)) ? 'ended' : 'active';
}
