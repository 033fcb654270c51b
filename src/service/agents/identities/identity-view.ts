// Shows an identity of an agent as the API and the command line do.

import { isoTime } from '../../../language/value/iso-time.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import { lastUseOf } from '../document-uses.ts';
import { type AgentIdentity, type IdentityActor, identityUses } from './identity.ts';

export const identityStatuses = ['active', 'ended', 'unconfigured'] as const;

export interface IdentityView {
  readonly id: string;
  readonly agent_id: string;
  readonly issuer: string;
  readonly required_claims: Readonly<Record<string, readonly string[]>>;
  readonly actors: readonly IdentityActor[];
  /** `unconfigured`: the settings do not name the issuer, so no token is accepted. */
  readonly status: (typeof identityStatuses)[number];
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly ended_at: string | null;
}

interface ViewAt {
  readonly documents: DocumentStore;
  /** The issuers of the settings; null where these are not known. */
  readonly issuers: readonly string[] | null;
}

export async function viewIdentity(
  { documents, issuers }: ViewAt,
  identity: AgentIdentity,
): Promise<IdentityView> {
  const { id, agentId, issuer, claims, actors, createdAtMs, endedAtMs } = identity;
  const lastUsedAtMs = await lastUseOf(documents, identityUses, id);
  const isConfigured = issuers === null || issuers.includes(issuer);
  return {
    id,
    agent_id: agentId,
    issuer,
    required_claims: claims,
    actors,
    status: endedAtMs !== null ? 'ended' : isConfigured ? 'active' : 'unconfigured',
    created_at: isoTime(createdAtMs),
    last_used_at: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
    ended_at: endedAtMs === null ? null : isoTime(endedAtMs),
  };
}
