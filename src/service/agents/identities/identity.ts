// Identities of agents: which tokens of an issuer identify an agent that has no key of Writ. INVARIANT: an
// identity never changes, it only ends; its version therefore covers issuer, claims, actors and end, so a grant
// can be stored on it. A token that fits several identities identifies nobody.

import { hash } from 'node:crypto';
import { type Collection, createCollection } from '../../store/contract/collection.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { DocumentVersion } from '../../store/contract/grant-precondition.ts';
import type { AgentRow, KeyRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { hasClaims, type RequiredClaims } from './claim-values.ts';

/** Begins the id under which records name an identity in place of a key. */
export const identityKeyPrefix = 'writw_';

export const identityKind = 'agent-identity';

export const identityUses = { kind: 'agent-identity-use', prefix: identityKeyPrefix } as const;

/** How long an identity that has ended is kept for people to see. */
const keptAfterEndMs = 7 * 24 * 3_600_000;

/** The most identities, those included that have ended a short time ago. */
export const identitiesMax = 1_000;

/** A program that may act for the agent by the claim `act` of a token. */
export interface IdentityActor {
  /** The `sub` of the actor, as the token names it. */
  readonly subject: string;
  /** What rules read in `request.chain`. */
  readonly name: string;
  /** Patterns over action keys: outside of them, what comes by the actor is refused. */
  readonly actions: readonly string[];
}

export interface AgentIdentity {
  readonly id: string;
  readonly agentId: string;
  /** The issuer, as its tokens and the settings name it. */
  readonly issuer: string;
  readonly claims: RequiredClaims;
  readonly actors: readonly IdentityActor[];
  readonly createdAtMs: number;
  /** When a person removed it; null while it identifies the agent. */
  readonly endedAtMs: number | null;
}

export function identitiesIn(documents: DocumentStore): Collection<AgentIdentity> {
  return createCollection<AgentIdentity>(documents, identityKind, ({ agentId, endedAtMs }) => ({
    parent: agentId,
    ...(endedAtMs === null ? {} : { endsAtMs: endedAtMs + keptAfterEndMs }),
  }));
}

/** The workload that asks as the agent, with the identity by which it is known as it was when it was looked up. */
export interface ActingWorkload {
  /** The id of the identity. */
  readonly id: string;
  readonly version: number;
  readonly issuer: string;
  /** The `sub` of the token. */
  readonly subject: string;
}

/** What a grant rests on when its request came by this identity. */
export function identityVersion({ id, version }: Pick<ActingWorkload, 'id' | 'version'>): DocumentVersion {
  return { kind: identityKind, id, version };
}

/** The id of the identity in the id of a key in the records; null for a key of another kind. */
export function identityIdOf(keyId: string): string | null {
  if (!keyId.startsWith(identityKeyPrefix)) return null;
  return keyId.slice(identityKeyPrefix.length).split(':', 1)[0] ?? null;
}

/** A token in the form of a key in the records. */
export function tokenKeyRow(
  { id, agentId, createdAtMs }: AgentIdentity,
  token: string,
  notAfterMs: number,
): KeyRow {
  const digest = hash('sha256', token, 'hex');
  return { id: `${identityKeyPrefix}${id}`, agentId, digest, createdAtMs, notAfterMs, lastUsedAtMs: null };
}

/** An identity with the version in which it was read. */
export interface ReadIdentity {
  readonly value: AgentIdentity;
  readonly version: number;
}

/** Finds the identities that still last, as they are now in the store. */
export type FindIdentities = () => Promise<readonly ReadIdentity[]>;

/** Returns a reader that lists identities only when one has changed, by whichever process. */
export function createIdentityReader(documents: DocumentStore): FindIdentities {
  const identities = identitiesIn(documents);
  let kept: { readonly generation: number; readonly active: readonly ReadIdentity[] } | null = null;
  return async () => {
    // Read before the list: a change between the two is then seen by the next call.
    const generation = await identities.generation();
    if (kept?.generation === generation) return kept.active;
    const all = await identities.list({ countMax: identitiesMax + 1 });
    // A list that is cut off could hide that a token fits two identities.
    if (all.length > identitiesMax) throw new Error(`there are more than ${identitiesMax} identities`);
    const active = all.filter(({ value }) => value.endedAtMs === null);
    kept = { generation, active };
    return active;
  };
}

/** The identity of a token: the only one of its issuer whose claims it has. */
export function matchIdentity(
  identities: readonly ReadIdentity[],
  issuer: string,
  claimOf: (claim: string) => unknown,
): ReadIdentity | 'none' | 'several' {
  const fitting = identities.filter(
    ({ value }) => value.issuer === issuer && hasClaims(value.claims, claimOf),
  );
  const [first = 'none', ...more] = fitting;
  return more.length > 0 ? 'several' : first;
}

/** The identity with this id and its agent, as they are now; null when either is gone or the identity has ended. */
export async function identityNow(
  { documents, agents }: Pick<Store, 'documents' | 'agents'>,
  id: string,
): Promise<(ReadIdentity & { readonly agent: AgentRow }) | null> {
  const found = await identitiesIn(documents).find(id);
  if (found === null || found.value.endedAtMs !== null) return null;
  const agent = await agents.find(found.value.agentId);
  return agent === null || agent.id !== found.value.agentId ? null : { ...found, agent };
}
