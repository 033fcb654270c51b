// The OpenID Connect provider: sends a browser there, takes what it brings back, and asks again later. INVARIANT: what is taken
// carries the state, the nonce and the PKCE verifier of this browser, the issuer of the settings, and a signature by one of the
// provider's present keys.

import * as client from 'openid-client';
import type { RoleRule } from './mapping.ts';

export interface SsoSettings {
  /** As its discovery document names itself. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a client that has none. */
  readonly clientSecret: string | null;
  /** On the button. */
  readonly name: string;
  readonly scopes: string;
  readonly groupsClaim: string;
  readonly rules: readonly RoleRule[];
  /** After this time a session asks the provider again. */
  readonly recheckMs: number;
  /** Whether passwords and passkeys let in local admins alone. */
  readonly isOnlyWay: boolean;
  /** With it the provider says by SCIM who is here; null where sign-ins alone say it. */
  readonly scimToken: string | null;
  /** The claim that holds what SCIM calls `externalId`. */
  readonly externalIdClaim: string;
}

/** What a browser keeps while it is away. */
export interface Ticket {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Who somebody is, as the provider says now. */
export interface Claims {
  readonly subject: string;
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  /** The provider says that it has not verified the address; many say nothing of it. */
  readonly isEmailUnverified: boolean;
  readonly name: string | null;
  readonly groups: readonly string[];
  /** As SCIM names the person. */
  readonly externalId: string | null;
}

export type ProviderAnswer =
  /** `refreshToken` is null where the provider gives none. */
  | { readonly kind: 'right'; readonly claims: Claims; readonly refreshToken: string | null }
  /** The provider says no, or what came is not what was asked for. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Nobody knows: the provider could not be asked, or not to the end. A refresh token that it gave takes the place of the one before. */
  | { readonly kind: 'away'; readonly reason: string; readonly refreshToken: string | null };

export interface Provider {
  /** Null where the provider cannot be asked. */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly ticket: Ticket } | null>;
  /** `address` is what the browser was sent back to, with its query. */
  finish(address: URL, ticket: Ticket): Promise<ProviderAnswer>;
  /** Whether the person is still there, and in which groups. */
  ask(refreshToken: string, subject: string): Promise<ProviderAnswer>;
}

const timeoutSeconds = 10;
/** After this time the provider's document is read again. */
const configurationMs = 60 * 60_000;

export function createProvider(settings: SsoSettings, clock: () => number): Provider {
  let known: { readonly atMs: number; readonly configuration: Promise<client.Configuration> } | null = null;

  function configuration(): Promise<client.Configuration> {
    if (known !== null && clock() - known.atMs < configurationMs) return known.configuration;
    const found = discover(settings);
    known = { atMs: clock(), configuration: found };
    found.catch(() => {
      if (known?.configuration === found) known = null;
    });
    return found;
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
    ...(isPlain(settings) ? { execute: [client.allowInsecureRequests] } : {}),
  });
}

/** Reads the provider's keys anew: one that it has changed a moment ago counts at once, and one that it has withdrawn no more. */
function withKeysOfNow(known: client.Configuration, settings: SsoSettings): client.Configuration {
  const { clientId, clientSecret } = settings;
  const metadata = JSON.parse(JSON.stringify(known.serverMetadata())) as client.ServerMetadata;
  const own = new client.Configuration(metadata, clientId, clientSecret ?? undefined, authOf(settings));
  own.timeout = timeoutSeconds;
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

/** What a token says may be as old as the token: the provider is asked who it is now where it has an address for that. */
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
      email: textOf(claims.email),
      isEmailVerified: claims.email_verified === true,
      isEmailUnverified: claims.email_verified === false,
      name: textOf(claims.name),
      externalId: textOf(claims[settings.externalIdClaim]),
      groups: typeof groups === 'string' ? [groups] : Array.isArray(groups) ? groups.filter(isText) : [],
    },
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const textOf = (value: unknown): string | null => (isText(value) && value !== '' ? value : null);

/** What the provider answers with 4xx is a no; what it does not answer, or with 5xx, says nothing. */
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

/** Once there is a refresh token, what cannot be read may be read at the next look. */
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
  // `fetch` says no more of a connection that was not made.
  return name === 'TypeError' || name === 'TimeoutError' || name === 'AbortError';
}

/** Codes alone: what a provider writes may hold anything. */
function reasonOf(error: unknown): string {
  const { error: oauth, code, name } = Object(error) as Readonly<Record<string, unknown>>;
  const [found = 'unknown'] = [oauth, code, name].filter(isText);
  return found.slice(0, 100);
}
