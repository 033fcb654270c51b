// The OpenID Connect provider: sends a browser there, checks what it brings back, and asks again later.
// INVARIANT: an accepted answer carries the state, the nonce and the PKCE verifier of this browser, the
// issuer of the settings, and a signature by one of the provider's present keys.

import * as client from 'openid-client';
import { boundedFetch } from '../../fetching/fetch-document.ts';
import type { RoleRule } from './mapping.ts';

export interface SsoSettings {
  /** The issuer's name in its own discovery document. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a client without a secret. */
  readonly clientSecret: string | null;
  /** The text on the sign-in button. */
  readonly name: string;
  readonly scopes: string;
  readonly groupsClaim: string;
  readonly rules: readonly RoleRule[];
  /** Milliseconds after which the provider is asked about a session again. */
  readonly recheckMs: number;
  /** Whether passwords and passkeys let in only local admins. */
  readonly isOnlyWay: boolean;
  /**
   * The token with which the provider provisions people by SCIM; null when people come only by signing in.
   */
  readonly scimToken: string | null;
  /** The claim that holds what SCIM calls `externalId`. */
  readonly externalIdClaim: string;
}

/** What a browser keeps while it is at the provider. */
export interface Ticket {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Who a person is, by the provider's latest answer. */
export interface Claims {
  readonly subject: string;
  readonly email: string | null;
  /** Whether the provider states, beside this very address, that it has verified it. */
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  readonly groups: readonly string[];
  /** The person's `externalId` in SCIM; null when the provider does not give it. */
  readonly externalId: string | null;
}

export type ProviderAnswer =
  /** `refreshToken` is null when the provider gives none. */
  | { readonly kind: 'right'; readonly claims: Claims; readonly refreshToken: string | null }
  /** The provider refuses, or its answer does not match the question. */
  | { readonly kind: 'refused'; readonly reason: string }
  /**
   * Undecided: the provider could not be asked, or not to the end. A new refresh token, if there is one,
   * replaces the one before.
   */
  | { readonly kind: 'away'; readonly reason: string; readonly refreshToken: string | null };

export interface Provider {
  /**
   * Returns the address to send the browser to, and what the browser keeps; null when the provider cannot be
   * reached.
   */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly ticket: Ticket } | null>;
  /** Checks what the browser brings back; `address` is where it was sent back to, with its query. */
  finish(address: URL, ticket: Ticket): Promise<ProviderAnswer>;
  /** Asks whether the person is still there, and in which groups. */
  ask(refreshToken: string, subject: string): Promise<ProviderAnswer>;
}

const timeoutSeconds = 10;
/** The longest answer of a provider, in bytes. */
const answerBytesMax = 1_000_000;
const ask = boundedFetch({
  bytesMax: answerBytesMax,
  timeoutMs: timeoutSeconds * 1_000,
}) as client.CustomFetch;
/** Milliseconds after which the provider's discovery document is read again. */
const configurationMs = 60 * 60_000;

export function createProvider(settings: SsoSettings, clock: () => number): Provider {
  let cached: { readonly atMs: number; readonly configuration: Promise<client.Configuration> } | null = null;

  function configuration(): Promise<client.Configuration> {
    if (cached !== null && clock() - cached.atMs < configurationMs) return cached.configuration;
    const configuration = discover(settings);
    cached = { atMs: clock(), configuration };
    configuration.catch(() => {
      if (cached?.configuration === configuration) cached = null;
    });
    return configuration;
  }

  return {
    async begin(redirectUri) {
      const [state, nonce, verifier] = [
        client.randomState(),
        client.randomNonce(),
        client.randomPKCECodeVerifier(),
      ];
      try {
        const url = client.buildAuthorizationUrl(await configuration(), {
          redirect_uri: redirectUri,
          scope: settings.scopes,
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        });
        return { url, ticket: { state, nonce, verifier } };
      } catch {
        return null;
      }
    },
    finish: (address, { state, nonce, verifier }) =>
      answered(async () => {
        const own = withKeysOfNow(await configuration(), settings);
        const tokens = await client.authorizationCodeGrant(own, address, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        return await right(own, settings, tokens, tokens.claims()?.sub ?? '');
      }),
    ask: (refreshToken, subject) =>
      answered(async () => {
        const own = withKeysOfNow(await configuration(), settings);
        const tokens = await client.refreshTokenGrant(own, refreshToken);
        return await answered(() => right(own, settings, tokens, subject), tokens.refresh_token ?? null);
      }),
  };
}

function discover(settings: SsoSettings): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret } = settings;
  return client.discovery(new URL(issuer), clientId, clientSecret ?? undefined, authOf(settings), {
    timeout: timeoutSeconds,
    [client.customFetch]: ask,
    ...(isPlain(settings) ? { execute: [client.allowInsecureRequests] } : {}),
  });
}

/**
 * Makes the provider's keys be read again: a key added a moment ago counts at once, and a withdrawn key no
 * longer.
 */
function withKeysOfNow(configuration: client.Configuration, settings: SsoSettings): client.Configuration {
  const { clientId, clientSecret } = settings;
  const metadata = JSON.parse(JSON.stringify(configuration.serverMetadata())) as client.ServerMetadata;
  const own = new client.Configuration(metadata, clientId, clientSecret ?? undefined, authOf(settings));
  own.timeout = timeoutSeconds;
  own[client.customFetch] = ask;
  if (isPlain(settings)) client.allowInsecureRequests(own);
  client.enableNonRepudiationChecks(own);
  return own;
}

function authOf({ clientSecret }: SsoSettings): client.ClientAuth {
  return clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret);
}

function isPlain({ issuer }: SsoSettings): boolean {
  return new URL(issuer).protocol === 'http:';
}

type Tokens = Awaited<ReturnType<typeof client.refreshTokenGrant>>;

/**
 * The provider's answer from its tokens. A token's claims may be as old as the token, so the provider is
 * asked for current ones if it has a userinfo endpoint.
 */
async function right(
  configuration: client.Configuration,
  settings: SsoSettings,
  tokens: Tokens,
  subject: string,
): Promise<ProviderAnswer> {
  const ofToken = tokens.claims();
  if (ofToken !== undefined && ofToken.sub !== subject) return { kind: 'refused', reason: 'another subject' };
  const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
  const now = hasUserInfo ? await client.fetchUserInfo(configuration, tokens.access_token, subject) : {};
  if (ofToken === undefined && !hasUserInfo) return { kind: 'refused', reason: 'no claims' };
  const claims: Readonly<Record<string, unknown>> = { ...ofToken, ...now };
  const groups = claims[settings.groupsClaim];
  return {
    kind: 'right',
    refreshToken: tokens.refresh_token ?? null,
    claims: {
      subject,
      ...addressOf([now, ofToken ?? {}]),
      name: textOf(claims.name),
      externalId: textOf(claims[settings.externalIdClaim]),
      groups: typeof groups === 'string' ? [groups] : Array.isArray(groups) ? groups.filter(isText) : [],
    },
  };
}

/**
 * The address of the first answer that names one. It is verified if an answer says so that names the same address,
 * and none that names it says the opposite.
 */
function addressOf(
  answers: readonly Readonly<Record<string, unknown>>[],
): Pick<Claims, 'email' | 'isEmailVerified'> {
  const email = answers.map((answer) => textOf(answer.email)).find((one) => one !== null) ?? null;
  const naming = answers.filter((answer) => email !== null && answer.email === email);
  const claims = naming.map((answer) => answer.email_verified).filter((one) => one !== undefined);
  return { email, isEmailVerified: claims.length > 0 && claims.every((one) => one === true) };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const textOf = (value: unknown): string | null => (isText(value) && value !== '' ? value : null);

/** A 4xx answer of the provider, other than 429, is a refusal. No answer, a 429 or a 5xx decides nothing. */
async function answered(
  ask: () => Promise<ProviderAnswer>,
  refreshToken: string | null = null,
): Promise<ProviderAnswer> {
  try {
    return await ask();
  } catch (error) {
    const reason = reasonOf(error);
    const isNo = refreshToken === null ? !isAway(error) : isSaidNo(error);
    return isNo ? { kind: 'refused', reason } : { kind: 'away', reason, refreshToken };
  }
}

/**
 * Whether the provider has refused explicitly. Once there is a refresh token, an answer that cannot be read
 * may be readable at the next check.
 */
function isSaidNo(error: unknown): boolean {
  return (
    error instanceof client.WWWAuthenticateChallengeError ||
    (error instanceof client.ResponseBodyError && !isAway(error))
  );
}

function isAway(error: unknown): boolean {
  if (error instanceof client.AuthorizationResponseError) return false;
  if (error instanceof client.ResponseBodyError) return error.status >= 500 || error.status === 429;
  const { cause, name, code } = Object(error) as { cause?: unknown; name?: string; code?: string };
  if (cause instanceof Response) return cause.status >= 500 || cause.status === 429;
  if (code === 'OAUTH_TIMEOUT') return true;
  // `fetch` reports a failed connection only by an error of this kind.
  return name === 'TypeError' || name === 'TimeoutError' || name === 'AbortError';
}

/** Returns only a code, since the text of a provider may hold anything. */
function reasonOf(error: unknown): string {
  const { error: oauth, code, name } = Object(error) as Readonly<Record<string, unknown>>;
  const [found = 'unknown'] = [oauth, code, name].filter(isText);
  return found.slice(0, 100);
}
