// Identifies the caller again when the store says that agent or key are not as the decision saw them. INVARIANT: whoever
// may ask by what was seen first, and may not now, is refused; a signature counts only under the secret that it was
// checked with; whoever came by an enforcement point stays with it.

import { type ActingPoint, keyNow, pointNow } from '../agents/points/point.ts';
import type { AgentRow, KeyRow } from '../store/contract/records.ts';
import type { Store } from '../store/contract/store.ts';

export interface Asker {
  readonly agent: AgentRow;
  /** The key that came with the request. */
  readonly key: Pick<KeyRow, 'id' | 'notAfterMs'>;
  /** The request carries a valid signature. */
  readonly isSigned: boolean;
  /** The enforcement point that asks for the agent; absent where the agent asks by itself. */
  readonly point?: ActingPoint;
}

export interface NotAllowedNow {
  readonly kind: 'not-allowed-now';
  readonly why: 'disabled' | 'revoked' | 'key-ended' | 'not-signed' | 'nonce-used' | 'point-stopped';
}

/** The asker as of now; what was seen first is `before`. */
export async function identifyAgain(
  { agents, documents }: Pick<Store, 'agents' | 'documents'>,
  before: Asker,
  nowMs: number,
): Promise<Asker | NotAllowedNow> {
  if (before.point !== undefined)
    return await identifyByPoint({ agents, documents }, { ...before, point: before.point }, nowMs);
  const found = await agents.findByKeyId(before.key.id);
  if (found === null || found.agent.id !== before.agent.id) return notAllowedNow('key-ended');
  const { agent, key } = found;
  if (key.notAfterMs !== null && key.notAfterMs <= nowMs) return notAllowedNow('key-ended');
  if (agent.status !== 'active') return notAllowedNow(agent.status);
  const isSecretNew = agent.sealedSigningSecret !== before.agent.sealedSigningSecret;
  if (before.isSigned ? isSecretNew : agent.signing === 'required') return notAllowedNow('not-signed');
  return { agent, key, isSigned: before.isSigned };
}

/** The key is the point's, and is looked up by it. */
async function identifyByPoint(
  { agents, documents }: Pick<Store, 'agents' | 'documents'>,
  before: Asker & { readonly point: ActingPoint },
  nowMs: number,
): Promise<Asker | NotAllowedNow> {
  // The point before its key: what is changed between is noticed by the version.
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

function notAllowedNow(why: NotAllowedNow['why']): NotAllowedNow {
  return { kind: 'not-allowed-now', why };
}
