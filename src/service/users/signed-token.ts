// What every signed token of an issuer (a JWT) is held to, whomever it names: its form, its algorithm, its type,
// and the word for why it is refused. INVARIANT: only asymmetric algorithms are accepted, and no header of a token
// names the key that it is checked with beyond the key's id.

import type { JWTPayload } from 'jose';

/** Why a token identifies nobody, as words that follow "the token". */
export const tokenFaults = {
  keyless: 'cannot be verified: the keys of the issuer are unknown',
  malformed: 'is not a signed JWT',
  algorithm: 'is signed with an algorithm that is not accepted',
  key: 'is not signed with a current key of the issuer',
  signature: 'has an invalid signature',
  issuer: 'is from another issuer',
  audience: 'is for another service',
  expired: 'has expired',
  early: 'is not valid yet',
  claims: 'lacks a required claim',
} as const;
export type TokenFault = keyof typeof tokenFaults;

/** Asymmetric algorithms only: a public key must never be taken for a shared secret. */
export const tokenAlgorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(
  ' ',
);

/**
 * The types of access tokens and identity tokens. Whatever an issuer signs for other purposes, such as logout
 * tokens, has a type of its own.
 */
const tokenTypes: ReadonlySet<unknown> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

export function isTokenType(typ: string | undefined): boolean {
  return tokenTypes.has(typ?.toLowerCase());
}

const tokenForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;
export const tokenLengthMax = 12_000;
const textLengthMax = 255;

/** Whether a text has the form of a signed token. */
export function isTokenText(text: string): boolean {
  return text.length <= tokenLengthMax && tokenForm.test(text);
}

/** How far the issuer's clock may be ahead, so that a token that it has just made is valid. */
export const earlySeconds = 60;

/** The word for an error of the verification. */
export function tokenFaultOf(error: unknown): TokenFault {
  const { code, claim } = Object(error) as { readonly code?: unknown; readonly claim?: unknown };
  switch (code) {
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
    case 'ERR_JOSE_NOT_SUPPORTED':
      return 'algorithm';
    case 'ERR_JWKS_NO_MATCHING_KEY':
    case 'ERR_JWKS_MULTIPLE_MATCHING_KEYS':
      return 'key';
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'signature';
    case 'ERR_JWT_EXPIRED':
      return 'expired';
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return claim === 'iss' ? 'issuer' : claim === 'aud' ? 'audience' : claim === 'nbf' ? 'early' : 'claims';
    default:
      return 'malformed';
  }
}

/** Returns the claim of this name, or the value that the steps lead to. */
export function claimAt(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name
    .split('.')
    .reduce<unknown>(
      (at, step) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, step)
          ? (at as Readonly<Record<string, unknown>>)[step]
          : undefined,
      payload,
    );
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= textLengthMax && value.isWellFormed();
}
