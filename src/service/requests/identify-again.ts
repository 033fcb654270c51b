// Identifies the caller again when the store finds that agent or key are not as the decision saw them.
// INVARIANT: a caller that was allowed by what was seen first and is not allowed now is refused; a signature
// counts only under the secret that it was checked with; a caller that came by an enforcement point stays
// bound to it.

import { type ActingChain, delegatedKeyPrefix, delegateNow } from '../agents/delegations/delegation.ts';
import { type ActingWorkload, identityNow } from '../agents/identities/identity.ts';
import { type ActingPoint, keyNow, pointNow } from '../agents/points/point.ts';
import type { AgentRow, KeyRow } from '../store/contract/records.ts';
import type { Store } from '../store/contract/store.ts';

export interface AuthenticatedCaller {
  readonly agent: AgentRow;
  /** The key that came with the request. */
  readonly key: Pick<KeyRow, 'id' | 'notAfterMs'>;
  /** Whether the request carries a valid signature. */
  readonly isSigned: boolean;
  /** The enforcement point that asks for the agent; absent when the agent asks by itself. */
  readonly point?: ActingPoint;
  /** The delegations by which a sub-agent asks; absent when the agent asks by itself. */
  readonly chain?: ActingChain;
  /** The workload whose token identifies the agent; absent when a key does. */
  readonly workload?: ActingWorkload;
}

export interface IdentityRefusal {
  readonly kind: 'not-allowed-now';
  readonly why:
    | 'disabled'
    | 'revoked'
    | 'key-ended'
    | 'not-signed'
    | 'nonce-used'
    | 'point-stopped'
    | 'delegation-ended'
    | 'identity-ended';
  /** One sentence in lower case, where the caller learns more. */
  readonly detail?: string;
}

/** Returns the caller as of now, or why it may no longer ask; `before` is the caller as first seen. */
export async function identifyAgain(
  { agents, documents }: Pick<Store, 'agents' | 'documents'>,
  before: AuthenticatedCaller,
  nowMs: number,
): Promise<AuthenticatedCaller | IdentityRefusal> {
  if (before.point !== undefined)
    return await identifyByPoint({ agents, documents }, { ...before, point: before.point }, nowMs);
  if (before.workload !== undefined)
    return await identifyWorkload({ agents, documents }, { ...before, workload: before.workload }, nowMs);
  if (before.chain !== undefined) return await identifyDelegate({ agents, documents }, before, nowMs);
  const agentWithKey = await agents.findByKeyId(before.key.id);
  if (agentWithKey === null || agentWithKey.agent.id !== before.agent.id) return notAllowedNow('key-ended');
  const { agent, key } = agentWithKey;
  if (key.notAfterMs !== null && key.notAfterMs <= nowMs) return notAllowedNow('key-ended');
  return stoppedAgent(agent, before) ?? { agent, key, isSigned: before.isSigned };
}

/** Why the agent as it is now may no longer ask; null when it may. */
function stoppedAgent(agent: AgentRow, before: AuthenticatedCaller): IdentityRefusal | null {
  if (agent.status !== 'active') return notAllowedNow(agent.status);
  const isSecretNew = agent.sealedSigningSecret !== before.agent.sealedSigningSecret;
  const isUnsigned = before.isSigned ? isSecretNew : agent.signing === 'required';
  return isUnsigned ? notAllowedNow('not-signed') : null;
}

/** Identifies a workload: its token may have ended, or the identity that the token fits. */
async function identifyWorkload(
  store: Pick<Store, 'agents' | 'documents'>,
  before: AuthenticatedCaller & { readonly workload: ActingWorkload },
  nowMs: number,
): Promise<AuthenticatedCaller | IdentityRefusal> {
  const { key, workload, chain, isSigned } = before;
  if (key.notAfterMs !== null && key.notAfterMs <= nowMs)
    return { ...notAllowedNow('identity-ended'), detail: 'has expired' };
  const now = await identityNow(store, workload.id);
  if (now === null || now.agent.id !== before.agent.id) return notAllowedNow('identity-ended');
  const stopped = stoppedAgent(now.agent, before);
  if (stopped !== null) return stopped;
  // An identity that lasts has not changed, and neither have the actors that it knows.
  return { agent: now.agent, key, isSigned, workload, ...(chain === undefined ? {} : { chain }) };
}

/** Identifies a caller that came by a delegated key: the links of its chain may have changed. */
async function identifyDelegate(
  store: Pick<Store, 'agents' | 'documents'>,
  before: AuthenticatedCaller,
  nowMs: number,
): Promise<AuthenticatedCaller | IdentityRefusal> {
  const now = await delegateNow(store, before.key.id.slice(delegatedKeyPrefix.length), nowMs);
  if (now.kind === 'ended') return { ...notAllowedNow('delegation-ended'), detail: now.detail };
  if (!('agent' in now)) return notAllowedNow('key-ended');
  const { kind, agent, key, chain } = now;
  if (kind !== 'ok') return notAllowedNow(kind);
  if (agent.signing === 'required') return notAllowedNow('not-signed');
  return { agent, key, isSigned: before.isSigned, chain };
}

/**
 * Identifies a caller that came by an enforcement point. The key belongs to the point and is looked up as
 * such.
 */
async function identifyByPoint(
  { agents, documents }: Pick<Store, 'agents' | 'documents'>,
  before: AuthenticatedCaller & { readonly point: ActingPoint },
  nowMs: number,
): Promise<AuthenticatedCaller | IdentityRefusal> {
  // Read the point before its key: a change between the two reads then shows in the point's version.
  const { stopped, ...point } = await pointNow(documents, before.point, before.agent.id);
  const key = await keyNow(documents, before.key.id);
  const agent = await agents.find(before.agent.id);
  if (stopped !== null) return notAllowedNow('point-stopped');
  if (key === null || agent === null || (key.notAfterMs !== null && key.notAfterMs <= nowMs))
    return notAllowedNow('key-ended');
  if (agent.status !== 'active') return notAllowedNow(agent.status);
  if (agent.signing === 'required') return notAllowedNow('not-signed');
  return { agent, key, isSigned: before.isSigned, point };
}

function notAllowedNow(why: IdentityRefusal['why']): IdentityRefusal {
  return { kind: 'not-allowed-now', why };
}
