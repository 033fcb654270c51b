// Checks that an activity comes from the Bot Framework connector, as "Authentication with the Bot Connector API" of
// Microsoft's documentation defines: a JWT of the connector for this app, signed with a key that is endorsed for Teams, and
// made for the service address in the activity. INVARIANT: no check waits for the network; keys that are not known, or are
// stale, let nothing in.

import type { createLocalJWKSet } from 'jose';
import { type IssuerKeys, type KeyTiming, watchIssuerKeys } from '../../users/issuer-keys.ts';
import { isTokenText } from '../../users/signed-token.ts';

export interface ConnectorTokens {
  /** When the token ends, if it was sent for the activity; null for any other token. */
  check(authorization: string | undefined, activity: ConnectorActivity): Promise<number | null>;
  start(): void;
  close(): void;
}

export interface ConnectorActivity {
  readonly serviceUrl: string;
  readonly channelId: string;
  readonly nowMs: number;
}

export interface ConnectorTokenSettings {
  readonly appId: string;
  /** The address of the connector's OpenID metadata. */
  readonly metadata: string;
  readonly timing?: Partial<KeyTiming>;
  readonly onFailure: (error: unknown) => void;
}

export const connectorIssuer = 'https://api.botframework.com';
const channel = 'msteams';
/** The clocks of the connector and of the service may differ, as its documentation says. */
const toleranceSeconds = 300;

type Keys = ReturnType<typeof createLocalJWKSet>;

export function createConnectorTokens(settings: ConnectorTokenSettings): ConnectorTokens {
  const { metadata, onFailure, timing } = settings;
  const keys = watchIssuerKeys({
    issuer: connectorIssuer,
    keys: null,
    metadata,
    onFailure,
    ...(timing && { timing }),
  });
  return {
    check: (authorization, activity) => checkToken({ keys, appId: settings.appId }, authorization, activity),
    start: () => keys.start(),
    close: () => keys.close(),
  };
}

async function checkToken(
  { keys, appId }: { readonly keys: IssuerKeys; readonly appId: string },
  authorization: string | undefined,
  { serviceUrl, channelId, nowMs }: ConnectorActivity,
): Promise<number | null> {
  const [, token] = /^Bearer (\S+)$/.exec(authorization ?? '') ?? [];
  const current = keys.current();
  if (token === undefined || !isTokenText(token) || current === null) return null;
  const { jwtVerify } = await import('jose');
  try {
    const { payload, protectedHeader } = await jwtVerify(token, current, {
      issuer: connectorIssuer,
      audience: appId,
      algorithms: ['RS256'],
      requiredClaims: ['exp', 'serviceurl'],
      currentDate: new Date(nowMs),
      clockTolerance: toleranceSeconds,
    });
    const isMeant = payload.serviceurl === serviceUrl && channelId === channel;
    const isEndorsed = endorsementsOf(current, protectedHeader.kid).includes(channel);
    return isMeant && isEndorsed ? Number(payload.exp) * 1_000 : null;
  } catch {
    // The connector may have changed its keys a moment ago.
    keys.missed();
    return null;
  }
}

/** The channels for which a key may sign. */
function endorsementsOf(keys: Keys, kid: string | undefined): readonly unknown[] {
  const key = keys.jwks().keys.find((one) => one.kid === kid);
  const { endorsements } = Object(key) as { readonly endorsements?: unknown };
  return kid !== undefined && Array.isArray(endorsements) ? endorsements : [];
}
