// Turns a token that tells on whose behalf an agent asks into facts about that person. INVARIANT: a person is
// known only by a token that the configured issuer has signed for this service, with one of its present keys,
// and that is valid at this moment; any problem of a token is returned as a word, never as an error.

import { hash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { UserFacts } from '../../language/model/request.ts';
import { canonicalEmail } from '../../language/value/email.ts';
import { type IssuerKeys, type KeyTiming, watchIssuerKeys } from './issuer-keys.ts';
import {
  claimAt,
  earlySeconds,
  isText,
  isTokenText,
  isTokenType,
  tokenAlgorithms,
  tokenFaultOf,
  tokenFaults,
} from './signed-token.ts';

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
  ...tokenFaults,
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

const elementsMax = 1_000;
const knownMax = 1_000;

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
      if (!isTokenText(token)) return { unknown: 'malformed' };
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
      algorithms: tokenAlgorithms,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(nowMs),
      clockTolerance: earlySeconds,
    });
    const expiresAtMs = Number(payload.exp) * 1_000;
    if (expiresAtMs <= nowMs) return { unknown: 'expired' };
    // A token that is bound to a key of its holder proves nothing when another party sends it.
    const isBearer = payload.cnf === undefined && isTokenType(protectedHeader.typ);
    const user = isBearer ? userOf(payload, settings) : null;
    return user === null ? { unknown: 'claims' } : { user, expiresAtMs };
  } catch (error) {
    const why = tokenFaultOf(error);
    // The issuer may have changed its keys a moment ago; after this read, the next token finds the new ones.
    if (why === 'key' || why === 'signature') issuerKeys.missed();
    return { unknown: why };
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

/** Null when the value is no list of texts: a part of the list would be another list of roles or groups. */
function textsOf(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > elementsMax) return null;
  return value.every(isText) ? value : null;
}
