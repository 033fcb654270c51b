// Delegations: what an agent passes on to a sub-agent, with a key for it. Each delegation is a link of a chain
// that begins with the agent itself. INVARIANT: a delegated key is good only while every link of its chain is,
// the agent is active, and the agent's key or identity with which the chain began is valid; the versions of the
// links, of the identity and of the agent cover all of this, so a grant can be stored on them.

import type { DelegationLink } from '../../../language/model/delegation.ts';
import { type Collection, createCollection } from '../../store/contract/collection.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { DocumentVersion } from '../../store/contract/grant-precondition.ts';
import type { AgentRow, KeyRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { identityIdOf, identityNow, identityVersion } from '../identities/identity.ts';
import { isSameDigest, parseApiKey } from '../keys.ts';

/** The prefix of a delegated key. */
export const delegatedKeyPrefix = 'writd_';

/** How long a delegation that has ended is kept for people to see. */
const keptAfterEndMs = 7 * 24 * 3_600_000;

export interface Delegation extends DelegationLink {
  /** The id of its key, eight characters. */
  readonly id: string;
  /** The agent at the beginning of the chain. */
  readonly agentId: string;
  /** The id of the agent's key, or of its identity as records name it, with which the chain began. */
  readonly agentKeyId: string;
  /** The ids of the links above, the agent's own first. */
  readonly above: readonly string[];
  /** SHA-256 of the delegated key, in hexadecimal. */
  readonly digest: string;
  /** The delegation is over from this moment on. */
  readonly untilMs: number;
  /** How many requests may come by it; null for any number. */
  readonly uses: number | null;
  /** The session of its requests; null for the one that each request names. */
  readonly session: string | null;
  readonly createdAtMs: number;
  /** When it was revoked; null while it is not. */
  readonly revokedAtMs: number | null;
}

export const delegationKind = 'delegation';

export function delegationsIn(documents: DocumentStore): Collection<Delegation> {
  return createCollection<Delegation>(documents, delegationKind, ({ agentId, untilMs }) => ({
    parent: agentId,
    endsAtMs: untilMs + keptAfterEndMs,
  }));
}

/** A link of the chain by which a request comes, as it was when it was looked up. */
export interface ActingLink extends DelegationLink {
  readonly id: string;
  readonly uses: number | null;
  readonly version: number;
}

/** The chain by which a request comes, the agent's own link first. */
export interface ActingChain {
  readonly links: readonly ActingLink[];
  /** The session of its requests; null for the one that each request names. */
  readonly session: string | null;
  /** The identity with which the chain began; absent when it began with a key. */
  readonly identity?: DocumentVersion;
}

export interface ActingDelegate {
  readonly agent: AgentRow;
  /** The delegated key, which ends with its chain. */
  readonly key: KeyRow;
  readonly chain: ActingChain;
}

export type DelegateAuthentication =
  | (ActingDelegate & { readonly kind: 'ok' | 'disabled' | 'revoked' })
  | { readonly kind: 'malformed' | 'unknown' }
  /** A link of the chain has ended; `detail` is one sentence in lower case. */
  | { readonly kind: 'ended'; readonly detail: string };

/** What a grant rests on when its request came by this chain. */
export function chainVersions({ links, identity }: ActingChain): readonly DocumentVersion[] {
  const versions = links.map(({ id, version }) => {
    // A link that a token states rests on the identity of the token.
    const ofToken = identityIdOf(id);
    return ofToken === null
      ? { kind: delegationKind, id, version }
      : identityVersion({ id: ofToken, version });
  });
  return identity === undefined ? versions : [...versions, identity];
}

/** Counts the requests that have come by a delegation; null while that is not known. */
export type CountUses = (delegation: Pick<Delegation, 'id' | 'above'>) => number | null;

/** The names of the links, as rules read them. */
export function chainNames({ links }: ActingChain): readonly string[] {
  return links.map(({ name }) => name);
}

/** The digest compared when no such key exists, so that the answer takes as long as for a key that exists. */
const noDigest = '0'.repeat(64);

/** Finds the agent and the chain of a delegated key. Reads the store each time. */
export async function authenticateDelegate(
  store: Pick<Store, 'documents' | 'agents'>,
  keyText: string,
  nowMs: number,
): Promise<DelegateAuthentication> {
  const parsed = parseApiKey(keyText, delegatedKeyPrefix);
  if (parsed === null) return { kind: 'malformed' };
  const found = (await delegationsIn(store.documents).find(parsed.id))?.value;
  if (!isSameDigest(found?.digest ?? noDigest, parsed.digest) || found === undefined)
    return { kind: 'unknown' };
  return await delegateNow(store, found.id, nowMs);
}

/** The agent and the chain of the delegation with this id, as they are now. */
export async function delegateNow(
  { documents, agents }: Pick<Store, 'documents' | 'agents'>,
  id: string,
  nowMs: number,
): Promise<DelegateAuthentication> {
  const delegations = delegationsIn(documents);
  const last = await delegations.find(id);
  if (last === null) return { kind: 'unknown' };
  const above = await Promise.all(last.value.above.map((one) => delegations.find(one)));
  const chain = [...above, last].filter((one) => one !== null);
  if (chain.length < above.length + 1)
    return { kind: 'ended', detail: 'a delegation above this one is gone' };
  const ended = chain.map(({ value }) => whyEnded(value, nowMs)).find((why) => why !== null);
  if (ended !== undefined) return { kind: 'ended', detail: ended };
  const owner = await ownerNow({ documents, agents }, last.value.agentKeyId);
  const keyEndMs = owner?.keyEndMs ?? null;
  if (owner === null || owner.agent.id !== last.value.agentId || (keyEndMs !== null && keyEndMs <= nowMs))
    return {
      kind: 'ended',
      detail: 'the key or identity of the agent with which the delegation was made has ended',
    };
  const { agent, identity } = owner;
  const kind = agent.status === 'active' ? 'ok' : agent.status;
  const acting = actingChain(chain);
  return {
    kind,
    agent,
    key: keyRow(last.value, endOf(chain, keyEndMs)),
    chain: identity === undefined ? acting : { ...acting, identity },
  };
}

interface ChainOwner {
  readonly agent: AgentRow;
  /** When the key with which the chain began ends; null for never, as for an identity. */
  readonly keyEndMs: number | null;
  readonly identity?: DocumentVersion;
}

/** The agent of the key or identity with which a chain began; null when there is none any more. */
async function ownerNow(
  store: Pick<Store, 'documents' | 'agents'>,
  keyId: string,
): Promise<ChainOwner | null> {
  const identityId = identityIdOf(keyId);
  if (identityId === null) {
    const owner = await store.agents.findByKeyId(keyId);
    return owner === null ? null : { agent: owner.agent, keyEndMs: owner.key.notAfterMs };
  }
  const found = await identityNow(store, identityId);
  if (found === null) return null;
  const identity = identityVersion({ id: identityId, version: found.version });
  return { agent: found.agent, keyEndMs: null, identity };
}

type FoundLink = { readonly value: Delegation; readonly version: number };

/** When the first of the links, or the agent's key, ends. */
function endOf(chain: readonly FoundLink[], keyEndMs: number | null): number {
  return Math.min(...chain.map(({ value }) => value.untilMs), keyEndMs ?? Number.POSITIVE_INFINITY);
}

function actingChain(chain: readonly FoundLink[]): ActingChain {
  return {
    links: chain.map(({ value: { id, name, actions, when, uses }, version }) => ({
      id,
      name,
      actions,
      when,
      uses,
      version,
    })),
    session: chain.findLast(({ value }) => value.session !== null)?.value.session ?? null,
  };
}

/** A delegated key in the form of the records. */
function keyRow({ id, agentId, digest, createdAtMs }: Delegation, notAfterMs: number): KeyRow {
  return { id: `${delegatedKeyPrefix}${id}`, agentId, digest, createdAtMs, notAfterMs, lastUsedAtMs: null };
}

/** Why a link grants nothing, as one sentence in lower case; null while it does. */
export function whyEnded({ name, revokedAtMs, untilMs }: Delegation, nowMs: number): string | null {
  if (revokedAtMs !== null) return `the delegation \`${name}\` is revoked`;
  return untilMs <= nowMs ? `the delegation \`${name}\` has ended` : null;
}

/** The chain of a request as it is now. */
export interface CurrentChain {
  readonly versions: readonly DocumentVersion[];
  /** When the chain ends; null when it has ended. */
  readonly notAfterMs: number | null;
  /** Why nothing more is granted by the chain, as one sentence in lower case; null when grants are possible. */
  readonly stopped: string | null;
}

/** Returns the chain that ends with this link, as it is now. */
export async function chainNow(
  store: Pick<Store, 'documents' | 'agents'>,
  { id, name }: Pick<ActingLink, 'id' | 'name'>,
  nowMs: number,
): Promise<CurrentChain> {
  const ofToken = identityIdOf(id);
  if (ofToken !== null) return await tokenChainNow(store, ofToken);
  const now = await delegateNow(store, id, nowMs);
  if ('chain' in now)
    return { versions: chainVersions(now.chain), notAfterMs: now.key.notAfterMs, stopped: null };
  const stopped = now.kind === 'ended' ? now.detail : `the delegation \`${name}\` is gone`;
  return { versions: [], notAfterMs: null, stopped };
}

/** A chain that a token has stated lasts as long as its identity. */
async function tokenChainNow(store: Pick<Store, 'documents' | 'agents'>, id: string): Promise<CurrentChain> {
  const found = await identityNow(store, id);
  if (found === null)
    return { versions: [], notAfterMs: null, stopped: 'the identity of the agent has been removed' };
  return { versions: [identityVersion({ id, version: found.version })], notAfterMs: null, stopped: null };
}
