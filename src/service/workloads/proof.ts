// Checks a proof of possession (DPoP, RFC 9449, section 4.3): the sender of a token also has the key to which the
// token is bound. INVARIANT: a proof counts for one request: one method, one address, one token, within a minute,
// and once, also across replicas and restarts. There are no nonces of the server: they would only shorten a time
// in which a proof counts once anyway.

import { hash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { NonceCache } from '../agents/nonces.ts';
import { tokenLengthMax } from '../users/signed-token.ts';

/** Why a proof does not count, as words that follow "the proof". */
export const proofFaults = {
  missing: 'is missing: send one in the header `DPoP`',
  malformed: 'is not a signed JWT of the type `dpop+jwt` with its public key',
  algorithm: 'is signed with an algorithm that is not accepted',
  signature: 'has an invalid signature',
  key: 'is of another key than the one that the token is bound to',
  method: 'is for another method',
  address: 'is for another address',
  token: 'is for another token',
  time: 'was made more than a minute ago, or in the future',
  used: 'has been used',
  busy: 'cannot be checked yet: make another one',
} as const;
export type ProofFault = keyof typeof proofFaults;

/** The algorithms that `WWW-Authenticate` announces, in its order. */
export const proofAlgorithms = 'ES256 ES384 ES512 EdDSA Ed25519 PS256 PS384 PS512 RS256 RS384 RS512'.split(
  ' ',
);

export interface SentProof {
  /** The header `DPoP`; undefined when none was sent. */
  readonly proof: string | undefined;
  /** The token or key that was sent with it. */
  readonly credential: string;
  /** The thumbprint of the key that the credential is bound to. */
  readonly jkt: string;
  readonly method: string;
  /** The path and query as sent. */
  readonly url: string;
}

export interface ProofChecker {
  /** Null when the proof counts; from then on it counts no more. Rejects only when the store does. */
  check(sent: SentProof): Promise<ProofFault | null>;
}

interface ProofOptions {
  /** The origin at which clients reach the service. */
  readonly origin: string;
  readonly nonces: NonceCache;
  /** Resolves once no other process can take the nonce; `nonce-used` when one has. */
  readonly settle: (nonce: string) => Promise<'settled' | 'nonce-used'>;
  readonly clock: () => number;
}

/** The beginning of the nonces under which ids of proofs are stored. */
export const proofNoncePrefix = 'dpop ';

const windowMs = 60_000;
const idLengthMax = 255;

export function createProofChecker({ origin, nonces, settle, clock }: ProofOptions): ProofChecker {
  return {
    async check(sent) {
      const verified = await verify(sent.proof);
      if (typeof verified === 'string') return verified;
      const { claims, thumbprint } = verified;
      const nowMs = clock();
      const fault = faultOf(claims, { sent, thumbprint, origin, nowMs });
      if (fault !== null) return fault;
      // The id is remembered only now: without the key, nobody can use up the room for them.
      const nonce = `${proofNoncePrefix}${thumbprint} ${hash('sha256', String(claims.jti), 'base64url')}`;
      switch (nonces.use(nonce, Number(claims.iat) * 1000, nowMs)) {
        case 'fresh':
          return (await settle(nonce)) === 'settled' ? null : 'used';
        case 'used':
          return 'used';
        case 'forgotten':
          return 'time';
        case 'no-room':
        case 'not-ready':
          return 'busy';
      }
    },
  };
}

interface VerifiedProof {
  readonly claims: JWTPayload;
  readonly thumbprint: string;
}

/** Verifies the signature with the key in the proof itself, which then has to be the key of the token. */
async function verify(proof: string | undefined): Promise<VerifiedProof | ProofFault> {
  if (proof === undefined) return 'missing';
  if (proof.length > tokenLengthMax) return 'malformed';
  const { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } = await import('jose');
  try {
    const { jwk } = decodeProtectedHeader(proof);
    // A private part would have left its holder with the proof.
    if (jwk === undefined || privateParts.some((part) => Object.hasOwn(jwk, part))) return 'malformed';
    const { payload } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: proofAlgorithms });
    return { claims: payload, thumbprint: await calculateJwkThumbprint(jwk, 'sha256') };
  } catch (error) {
    return whyRefused(error);
  }
}

const privateParts = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

function whyRefused(error: unknown): ProofFault {
  const { code } = Object(error) as { readonly code?: unknown };
  switch (code) {
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
    case 'ERR_JOSE_NOT_SUPPORTED':
      return 'algorithm';
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'signature';
    case 'ERR_JWT_EXPIRED':
      return 'time';
    default:
      return 'malformed';
  }
}

interface ProofContext extends Pick<ProofOptions, 'origin'> {
  readonly sent: SentProof;
  readonly thumbprint: string;
  readonly nowMs: number;
}

function faultOf(
  { jti, htm, htu, iat, ath }: JWTPayload,
  { sent, thumbprint, origin, nowMs }: ProofContext,
): ProofFault | null {
  const isNamed = typeof jti === 'string' && jti !== '' && jti.length <= idLengthMax;
  if (!isNamed || typeof iat !== 'number') return 'malformed';
  if (thumbprint !== sent.jkt) return 'key';
  if (htm !== sent.method) return 'method';
  if (!isAddress(htu, `${origin}${sent.url}`)) return 'address';
  if (ath !== hash('sha256', sent.credential, 'base64url')) return 'token';
  return Math.abs(nowMs - iat * 1000) <= windowMs ? null : 'time';
}

/** Whether the address that a proof names is that of the request, apart from query and fragment. */
function isAddress(named: unknown, requested: string): boolean {
  const [left, right] = [URL.parse(String(named)), URL.parse(requested)];
  return left !== null && right !== null && left.origin === right.origin && left.pathname === right.pathname;
}
