// Identifies the caller again when the store says that agent or key are not as the decision saw them. INVARIANT: whoever
// may ask by what was seen first, and may not now, is refused; a signature counts only under the secret that it was
// checked with.

import type { AgentRow, KeyRow } from '../store/contract/records.ts';
import type { Store } from '../store/contract/store.ts';

export interface Asker {
  readonly agent: AgentRow;
  /** The key that came with the request. */
  readonly key: Pick<KeyRow, 'id' | 'notAfterMs'>;
  /** The request carries a valid signature. */
  readonly isSigned: boolean;
}

export interface NotAllowedNow {
  readonly kind: 'not-allowed-now';
  readonly why: 'disabled' | 'revoked' | 'key-ended' | 'not-signed' | 'nonce-used';
}

/** The asker as of now; what was seen first is `before`. */
export async function identifyAgain(
  { agents }: Pick<Store, 'agents'>,
  before: Asker,
  nowMs: number,
): Promise<Asker | NotAllowedNow> {
  const found = await agents.findByKeyId(before.key.id);
  if (found === null || found.agent.id !== before.agent.id) return notAllowedNow('key-ended');
  const { agent, key } = found;
  if (key.notAfterMs !== null && key.notAfterMs <= nowMs) return notAllowedNow('key-ended');
  if (agent.status !== 'active') return notAllowedNow(agent.status);
  const isSecretNew = agent.sealedSigningSecret !== before.agent.sealedSigningSecret;
  if (before.isSigned ? isSecretNew : agent.signing === 'required') return notAllowedNow('not-signed');
  return { agent, key, isSigned: before.isSigned };
}

function notAllowedNow(why: NotAllowedNow['why']): NotAllowedNow {
  return { kind: 'not-allowed-now', why };
}
