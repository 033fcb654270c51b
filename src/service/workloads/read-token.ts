// Turns the token of a workload into its claims, with the issuers that the settings name. INVARIANT: claims are
// returned only for a token that one configured issuer has signed with one of its present keys, for this service
// and no other, that lasts no longer than the issuer's tokens may, and that is valid at this moment. Nothing here
// waits for the network. Sources: RFC 7519, RFC 8725, and the JWT-SVID standard of SPIFFE.

import { hash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { jsonLimits, readJson } from '../../language/json/read-json.ts';
import { type IssuerKeys, type KeyTiming, watchIssuerKeys } from '../users/issuer-keys.ts';
import {
  claimAt,
  earlySeconds,
  isText,
  isTokenText,
  isTokenType,
  tokenAlgorithms,
  tokenFaultOf,
  tokenFaults,
} from '../users/signed-token.ts';

export interface WorkloadIssuer {
  /** The issuer, as its tokens name it. */
  readonly issuer: string;
  /** The audience that tokens for this service name. */
  readonly audience: string;
  /** The address of the issuer's keys (JWKS), or of a file with them; null when its discovery document names it. */
  readonly keys: string | null;
  /** The longest that a token may last. */
  readonly lifetimeSeconds: number;
  readonly timing?: Partial<KeyTiming>;
}

/** Why a token identifies no workload, as words that follow "the token". */
export const workloadTokenFaults = {
  ...tokenFaults,
  unconfigured: 'is of an issuer that is not in the setting `agents.issuers`',
  audiences: 'is for several services; it has to be for this one alone',
  lifetime: 'lasts longer than tokens of its issuer may',
  binding: 'is bound to something else than a DPoP key',
} as const;
export type WorkloadTokenFault = keyof typeof workloadTokenFaults;

/** A verified token. */
export interface WorkloadToken {
  readonly issuer: string;
  readonly subject: string;
  readonly expiresAtMs: number;
  /** The thumbprint of the key that its sender has to prove (RFC 9449); null for a bearer token. */
  readonly jkt: string | null;
  /** The claim `act`, as it was sent; undefined when it has none. */
  readonly act: unknown;
  readonly claimOf: (name: string) => unknown;
}

export type CheckedToken = { readonly token: WorkloadToken } | { readonly fault: WorkloadTokenFault };

/** A verified token that its reader keeps. */
export interface KnownToken extends WorkloadToken {
  /** Whether its issuer still has the keys with which it was verified. */
  readonly isCurrent: () => boolean;
}

export type ReadToken = { readonly token: KnownToken } | { readonly fault: WorkloadTokenFault };

export interface WorkloadTokenReader {
  /** Reads a token at `nowMs`; at once when it is already known. Never rejects. */
  read(text: string, nowMs: number): ReadToken | Promise<ReadToken>;
  start(): void;
  close(): void;
}

const knownMax = 10_000;
const millisecond = 1_000;

interface Watched {
  readonly settings: WorkloadIssuer;
  readonly keys: IssuerKeys;
}

export function createWorkloadTokenReader(
  issuers: readonly WorkloadIssuer[],
  onFailure: (error: unknown, issuer: string) => void,
): WorkloadTokenReader {
  const watched = new Map<string, Watched>(
    issuers.map((settings) => [
      settings.issuer,
      {
        settings,
        keys: watchIssuerKeys({ ...settings, onFailure: (error) => onFailure(error, settings.issuer) }),
      },
    ]),
  );
  const known = new Map<string, KnownToken>();

  function remember(name: string, token: KnownToken): KnownToken {
    // The oldest token is forgotten.
    if (known.size >= knownMax) known.delete(known.keys().next().value ?? '');
    known.set(name, token);
    return token;
  }

  return {
    read(text, nowMs) {
      if (!isTokenText(text)) return { fault: 'malformed' };
      const name = hash('sha256', text);
      const before = known.get(name);
      if (before?.isCurrent() === true)
        return before.expiresAtMs > nowMs ? { token: before } : { fault: 'expired' };
      known.delete(name);
      const issuer = issuerOf(text);
      if (issuer === null) return { fault: 'malformed' };
      const found = watched.get(issuer);
      if (found === undefined) return { fault: 'unconfigured' };
      const keys = found.keys.current();
      if (keys === null) return { fault: 'keyless' };
      return checkToken(found.settings, { text, keys, nowMs }).then((result) => {
        const isCurrent = () => found.keys.current() === keys;
        if ('token' in result) return { token: remember(name, { ...result.token, isCurrent }) };
        // The issuer may have changed its keys a moment ago; after this read, the next token finds the new ones.
        if (result.fault === 'key' || result.fault === 'signature') found.keys.missed();
        return result;
      });
    },
    start: () => {
      for (const { keys } of watched.values()) keys.start();
    },
    close: () => {
      for (const { keys } of watched.values()) keys.close();
    },
  };
}

/** For services without issuers: no token identifies an agent. */
export const noWorkloadTokens: WorkloadTokenReader = {
  read: () => ({ fault: 'unconfigured' }),
  start: () => {},
  close: () => {},
};

/** The claims of a token that is not verified yet; null when they are no strict JSON object. */
export function unverifiedClaims(text: string): JWTPayload | null {
  // A repeated claim could mean one thing to the issuer and another here, so strict JSON is required.
  const parts = text.split('.').slice(0, 2).map(readPart);
  return parts.every((part) => part !== null) ? (parts[1] as JWTPayload) : null;
}

function readPart(part: string): object | null {
  const json = readJson(Buffer.from(part, 'base64url'), jsonLimits);
  return json.ok && typeof json.value === 'object' && json.value !== null && !Array.isArray(json.value)
    ? json.value
    : null;
}

/** The issuer that a token names, which decides only with whose keys it is verified. */
function issuerOf(text: string): string | null {
  const { iss } = unverifiedClaims(text) ?? {};
  return isText(iss) ? iss : null;
}

type JwtKeys = NonNullable<ReturnType<IssuerKeys['current']>>;

interface TokenCheck {
  readonly text: string;
  readonly keys: JwtKeys;
  readonly nowMs: number;
}

/** Verifies a token with the keys of its issuer. Never rejects. */
export async function checkToken(
  { issuer, audience, lifetimeSeconds }: WorkloadIssuer,
  { text, keys, nowMs }: TokenCheck,
): Promise<CheckedToken> {
  const { jwtVerify } = await import('jose');
  try {
    const { payload, protectedHeader } = await jwtVerify(text, keys, {
      issuer,
      audience,
      algorithms: tokenAlgorithms,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(nowMs),
      clockTolerance: earlySeconds,
    });
    const isType = isTokenType(protectedHeader.typ) || protectedHeader.typ === 'JOSE';
    if (!isType || unverifiedClaims(text) === null) return { fault: 'malformed' };
    return readClaims(payload, { lifetimeMs: lifetimeSeconds * millisecond, nowMs });
  } catch (error) {
    return { fault: tokenFaultOf(error) };
  }
}

function readClaims(
  payload: JWTPayload,
  { lifetimeMs, nowMs }: { readonly lifetimeMs: number; readonly nowMs: number },
): CheckedToken {
  const { iss, sub, exp, iat, aud, cnf, act } = payload;
  if (!isText(iss) || !isText(sub)) return { fault: 'claims' };
  // Each of several services could send the token on to the others.
  if (Array.isArray(aud) && aud.length !== 1) return { fault: 'audiences' };
  const expiresAtMs = Number(exp) * millisecond;
  if (!(expiresAtMs > nowMs)) return { fault: 'expired' };
  const issuedAtMs = iat === undefined ? nowMs : iat * millisecond;
  if (issuedAtMs > nowMs + earlySeconds * millisecond) return { fault: 'early' };
  const isLong = expiresAtMs - issuedAtMs > lifetimeMs || expiresAtMs - nowMs > lifetimeMs;
  if (isLong) return { fault: 'lifetime' };
  const jkt = jktOf(cnf);
  if (jkt === undefined) return { fault: 'binding' };
  const claimOf = (name: string) => claimAt(payload, name);
  return { token: { issuer: iss, subject: sub, expiresAtMs, jkt, act, claimOf } };
}

const thumbprintForm = /^[\w-]{43}$/;

/** The thumbprint to prove; null for a token without a binding, undefined for one that cannot be proved here. */
function jktOf(cnf: unknown): string | null | undefined {
  if (cnf === undefined) return null;
  if (typeof cnf !== 'object' || cnf === null) return undefined;
  const { jkt, ...others } = cnf as Readonly<Record<string, unknown>>;
  const isProvable = typeof jkt === 'string' && thumbprintForm.test(jkt) && Object.keys(others).length === 0;
  return isProvable ? jkt : undefined;
}
