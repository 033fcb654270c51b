// Turns a token that tells on whose behalf an agent asks into facts about that person. INVARIANT: a person is
// known only by a token that the configured issuer has signed for this service, with one of its present keys,
// and that is valid at this moment; any problem of a token is returned as a word, never as an error.

import { hash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { UserFacts } from '../../language/model/request.ts';
import { canonicalEmail } from '../../language/value/email.ts';
import { type IssuerKeys, type KeyTiming, watchIssuerKeys } from './issuer-keys.ts';

export interface UserSettings {
  /** The issuer, as its tokens name it. */
  readonly issuer: string;
  /** The audience that tokens for this service name. */
  readonly audience: string;
  /** The address of the issuer's keys (JWKS); null when its discovery document names it. */
  readonly keys: string | null;
  /** The names of the claims, or the steps to them with dots in between. */
  readonly rolesClaim: string;
  readonly groupsClaim: string;
  readonly timing?: Partial<KeyTiming>;
}

/** Why a token identifies nobody, as words that follow "the token". */
export const userUnknowns = {
  unconfigured: 'was ignored: no issuer is configured',
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
export type UserUnknown = keyof typeof userUnknowns;

export type OnBehalf = { readonly user: UserFacts } | { readonly unknown: UserUnknown };

export interface TokenReader {
  /**
   * Reads a token at `nowMs`, in milliseconds since 1970-01-01T00:00Z. Answers at once when the token is
   * already known; never waits for the network and never rejects.
   */
  read(token: string, nowMs: number): OnBehalf | Promise<OnBehalf>;
  /** Reads the issuer's keys, and keeps reading them from now on. */
  start(): void;
  close(): void;
}

/** Asymmetric algorithms only: a public key must never be taken for a shared secret. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
/**
 * The types of access tokens and identity tokens. Whatever an issuer signs for other purposes, such as logout
 * tokens, has a type of its own.
 */
const tokenTypes: ReadonlySet<unknown> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

const tokenForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const tokenLengthMax = 12_000;
const textLengthMax = 255;
const elementsMax = 1_000;
const knownMax = 1_000;
/** How far the issuer's clock may be ahead, so that a token that it has just made is valid. */
const earlySeconds = 60;

interface CachedUser {
  /** The keys with which the token was checked. */
  readonly keys: object;
  readonly user: UserFacts;
  readonly expiresAtMs: number;
}

/** For services without an issuer: no token identifies anybody. */
export const noTokenReader: TokenReader = {
  read: () => ({ unknown: 'unconfigured' }),
  start: () => {},
  close: () => {},
};

export function createTokenReader(settings: UserSettings, onFailure: (error: unknown) => void): TokenReader {
  const issuerKeys = watchIssuerKeys({ ...settings, onFailure });
  const cachedUsers = new Map<string, CachedUser>();
  return {
    read(token, nowMs) {
      if (token.length > tokenLengthMax || !tokenForm.test(token)) return { unknown: 'malformed' };
      const keys = issuerKeys.current();
      if (keys === null) return { unknown: 'keyless' };
      const name = hash('sha256', token);
      const before = cachedUsers.get(name);
      if (before !== undefined && before.keys === keys)
        return before.expiresAtMs > nowMs ? { user: before.user } : { unknown: 'expired' };
      return check({ settings, issuerKeys, token, nowMs }).then((result) => {
        if (!('user' in result)) return result;
        // The oldest token is forgotten.
        if (cachedUsers.size >= knownMax) cachedUsers.delete(cachedUsers.keys().next().value ?? '');
        cachedUsers.set(name, { keys, ...result });
        return { user: result.user };
      });
    },
    start: () => issuerKeys.start(),
    close: () => issuerKeys.close(),
  };
}

interface TokenCheck {
  readonly settings: UserSettings;
  readonly issuerKeys: IssuerKeys;
  readonly token: string;
  readonly nowMs: number;
}

type TokenCheckResult = Pick<CachedUser, 'user' | 'expiresAtMs'> | { readonly unknown: UserUnknown };

async function check({ settings, issuerKeys, token, nowMs }: TokenCheck): Promise<TokenCheckResult> {
  const keys = issuerKeys.current();
  if (keys === null) return { unknown: 'keyless' };
  const { jwtVerify } = await import('jose');
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: settings.issuer,
      audience: settings.audience,
      algorithms,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(nowMs),
      clockTolerance: earlySeconds,
    });
    const expiresAtMs = Number(payload.exp) * 1_000;
    if (expiresAtMs <= nowMs) return { unknown: 'expired' };
    // A token that is bound to a key of its holder proves nothing when another party sends it.
    const isBearer = payload.cnf === undefined && tokenTypes.has(protectedHeader.typ?.toLowerCase());
    const user = isBearer ? userOf(payload, settings) : null;
    return user === null ? { unknown: 'claims' } : { user, expiresAtMs };
  } catch (error) {
    const why = whyUnknown(error);
    // The issuer may have changed its keys a moment ago; after this read, the next token finds the new ones.
    if (why === 'key' || why === 'signature') issuerKeys.missed();
    return { unknown: why };
  }
}

function whyUnknown(error: unknown): UserUnknown {
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

/** Null when the token names nobody. */
function userOf(payload: JWTPayload, { rolesClaim, groupsClaim }: UserSettings): UserFacts | null {
  const { sub, email, email_verified: isVerified } = payload;
  if (!isText(sub)) return null;
  const roles = textsOf(claimAt(payload, rolesClaim));
  const groups = textsOf(claimAt(payload, groupsClaim));
  // An unverified address identifies nobody. The domain gets its canonical spelling, so that every rule sees
  // the same address.
  const address = isText(email) && isVerified === true ? canonicalEmail(email) : null;
  return {
    id: sub,
    ...(address === null ? {} : { email: address }),
    ...(roles === null ? {} : { roles }),
    ...(groups === null ? {} : { groups }),
  };
}

/** Returns the claim of this name, or the value that the steps lead to. */
function claimAt(payload: JWTPayload, name: string): unknown {
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

/** Null when the value is no list of texts: a part of the list would be another list of roles or groups. */
function textsOf(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > elementsMax) return null;
  return value.every(isText) ? value : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= textLengthMax && value.isWellFormed();
}
