// The `X-Service-Signature` header into one of three states: absent, valid or invalid. The signature is an
// HMAC-SHA256 keyed with the agent's signing secret: over time, nonce, path and raw body in the recommended
// form, over the raw body in the compatibility form. INVARIANT: a header that is not exactly of one form is
// invalid, also when signing is optional; a nonce is accepted once, also across a restart.

import { memo } from '../../language/value/memo.ts';
import type { AgentRow } from '../store/contract/records.ts';
import { createHmacCheck, type IsHmac } from './hmac.ts';
import { randomBase62 } from './keys.ts';
import { createNonceCache, type NonceCache, skewSecondsMax } from './nonces.ts';
import { deriveKey, unseal } from './sealing.ts';

export interface SignatureInput {
  readonly agent: AgentRow;
  /** The header's text; undefined when there is none. */
  readonly header: string | undefined;
  /** The request's path as sent. */
  readonly path: string;
  /** The body as sent. */
  readonly body: Uint8Array;
  readonly nowMs: number;
}

type SignatureState = 'absent' | 'valid' | { readonly invalid: string };

export interface VerifierOptions {
  readonly masterKey: Uint8Array;
  /** Whether `sha256=<hex>` is accepted; nothing protects that form from being sent again. */
  readonly isCompatibilityAllowed: boolean;
  /** The used nonces; without it, the verifier has some of its own, which are forgotten with it. */
  readonly nonces?: NonceCache;
}

export type VerifySignature = (input: SignatureInput) => SignatureState;

/** The purpose of the derived key under which signing secrets are sealed. */
export const sealingPurpose = 'signing secrets';
const recommendedForm = /^t=(\d{1,12}),n=([A-Za-z0-9_-]{8,128}),v1=([0-9a-fA-F]{64})$/;
const compatibilityForm = /^sha256=([0-9a-fA-F]{64})$/;

/**
 * Creates a verifier. When the agent's signing is `off`, every header counts as `absent`.
 * Until the nonces of an earlier run have been read, no signature with a nonce is valid.
 */
export function createSignatureVerifier(options: VerifierOptions): VerifySignature {
  const sealingKey = deriveKey(options.masterKey, sealingPurpose);
  const nonces = options.nonces ?? createNonceCache();
  // Kept while the agent's row is in use, which is not long: unsealing the secret costs more than all other
  // steps.
  const checks = new WeakMap<AgentRow, IsHmac | null>();
  const makeCheck = (agent: AgentRow): IsHmac | null => {
    const text = unseal(sealingKey, agent.id, agent.sealedSigningSecret ?? '');
    return text === null ? null : createHmacCheck(text);
  };
  const checkOf = (agent: AgentRow): IsHmac | null => memo(checks, agent, makeCheck);
  return function verifySignature(input) {
    const { agent, header } = input;
    if (agent.signing === 'off') return 'absent';
    if (header === undefined) {
      return agent.signing === 'required' ? { invalid: 'a signature is required' } : 'absent';
    }
    const isHmac = checkOf(agent);
    if (isHmac === null) return { invalid: 'the agent has no signing secret' };
    const recommended = recommendedForm.exec(header);
    if (recommended !== null) return verifyRecommended({ input, isHmac, nonces, match: recommended });
    const digest = compatibilityForm.exec(header)?.[1];
    if (digest === undefined) return { invalid: 'the signature is malformed' };
    if (!options.isCompatibilityAllowed) return { invalid: 'this form of signature is not accepted' };
    return isHmac(digest, { head: '', body: input.body }) ? 'valid' : mismatch;
  };
}

/** Returns the nonce of a signature of the recommended form, as stored; undefined for any other header. */
export function keptNonce(agentId: string, header: string | undefined): string | undefined {
  const nonce = header === undefined ? undefined : recommendedForm.exec(header)?.[2];
  return nonce === undefined ? undefined : nameOf(agentId, nonce);
}

/** The stored name of a nonce; each agent has nonces of its own. */
function nameOf(agentId: string, nonce: string): string {
  return `${agentId} ${nonce}`;
}

/**
 * Returns `writsec_` and 43 letters and digits: 256 bits. The whole text, as UTF-8, is the key of the HMAC.
 */
export function createSigningSecret(): string {
  return `writsec_${randomBase62(43)}`;
}

const mismatch: SignatureState = { invalid: 'the signature does not match' };

interface SignatureCheck {
  readonly input: SignatureInput;
  readonly isHmac: IsHmac;
  readonly nonces: NonceCache;
  readonly match: RegExpExecArray;
}

function verifyRecommended({ input, isHmac, nonces, match }: SignatureCheck): SignatureState {
  const [, time = '', nonce = '', digest = ''] = match;
  if (nonces.isStale(Number(time) * 1000, input.nowMs)) {
    return { invalid: `the signature's time is more than ${skewSecondsMax} seconds away` };
  }
  const head = `v1:${time}:${nonce}:POST:${input.path}:`;
  if (!isHmac(digest, { head, body: input.body })) return mismatch;
  // The nonce is remembered only now: a sender without the secret can use up neither nonces nor the room for
  // them.
  switch (nonces.use(nameOf(input.agent.id, nonce), Number(time) * 1000, input.nowMs)) {
    case 'fresh':
      return 'valid';
    case 'used':
      return { invalid: 'the nonce has been used' };
    case 'no-room':
      return { invalid: 'too many signed requests' };
    case 'forgotten':
      return { invalid: 'the signature is from before the records were restored' };
    case 'not-ready':
      return { invalid: 'the nonce cannot be checked yet: send the request again' };
  }
}
