// A Teams for tests, written from Microsoft's public documents: the token endpoint of Entra, the connector's REST interface
// and its OpenID metadata, and what Teams sends to a bot, with the connector's token.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterAll, beforeAll } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
type Loose = any;

export interface TeamsMessage {
  readonly channel: string;
  readonly id: string;
  activity: Loose;
  updates: number;
}

export interface TeamsUser {
  readonly aad: string;
  readonly tenant: string;
  readonly name: string;
}

export const appId = '11111111-2222-4333-8444-555555555555';
export const appSecret = 'app-secret-of-the-tests';
export const tenant = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const connectorIssuer = 'https://api.botframework.com';
const accessToken = 'token-of-the-app';

export interface ConnectorKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK & { readonly endorsements: readonly string[] };
}

export async function makeConnectorKey(kid: string, endorsements: readonly string[]): Promise<ConnectorKey> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig', endorsements };
  return { kid, privateKey, jwk };
}

export class TeamsServer {
  url = '';
  readonly messages: TeamsMessage[] = [];
  readonly said: { conversation: string; text: string }[] = [];
  readonly calls: string[] = [];
  readonly faults: string[] = [];
  keys: ConnectorKey[] = [];
  mood: 'answers' | 'limits' | 'refuses' = 'answers';
  #count = 0;

  get serviceUrl(): string {
    return `${this.url}/teams`;
  }

  readonly server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', this.url);
    const body = await bodyOf(request);
    const say = (status: number, answer: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    this.calls.push(`${request.method} ${url.pathname}`);
    if (url.pathname === '/v1/.well-known/openidconfiguration')
      return void say(200, {
        issuer: connectorIssuer,
        jwks_uri: `${this.url}/v1/.well-known/keys`,
        id_token_signing_alg_values_supported: ['RS256'],
      });
    if (url.pathname === '/v1/.well-known/keys')
      return void say(200, { keys: this.keys.map(({ jwk }) => jwk) });
    if (url.pathname === `/login/${tenant}/oauth2/v2.0/token`) {
      const form = new URLSearchParams(body);
      const isRight = form.get('client_secret') === appSecret && form.get('client_id') === appId;
      if (form.get('scope') !== 'https://api.botframework.com/.default') this.faults.push('another scope');
      if (!isRight) return void say(401, { error: 'invalid_client' });
      return void say(200, { token_type: 'Bearer', expires_in: 3599, access_token: accessToken });
    }
    if (request.headers.authorization !== `Bearer ${accessToken}`) return void say(401, {});
    if (this.mood === 'limits') return void response.writeHead(429, { 'retry-after': '1' }).end();
    const [status, answer] = this.#connector(request.method ?? '', url.pathname, JSON.parse(body));
    say(status, answer);
  });

  #connector(method: string, path: string, sent: Loose): readonly [number, object] {
    const parts = path.replace('/teams/v3/conversations', '').split('/').slice(1).map(decodeURIComponent);
    const [conversation, , activityId] = parts;
    if (method === 'POST' && conversation === undefined) {
      this.#checkCard(sent.activity);
      this.#count += 1;
      const [channel, id] = [sent.channelData.channel.id, String(1_700_000_000_000 + this.#count)];
      this.messages.push({ channel, id, activity: sent.activity, updates: 0 });
      return [201, { id: `${channel};messageid=${id}`, activityId: id }];
    }
    if (method === 'PUT' && activityId !== undefined) {
      this.#checkCard(sent);
      const message = this.messages.find((one) => `${one.channel};messageid=${one.id}` === conversation);
      if (message === undefined || message.id !== activityId) return [404, { error: { code: 'NotFound' } }];
      message.activity = sent;
      message.updates += 1;
      return [200, { id: activityId }];
    }
    this.said.push({ conversation: conversation ?? '', text: sent.text });
    return [201, { id: 'said' }];
  }

  #checkCard({ attachments, type }: Loose): void {
    const [attachment] = attachments;
    if (type !== 'message' || attachment.contentType !== 'application/vnd.microsoft.card.adaptive')
      this.faults.push('no card');
    if (attachment.content.version !== '1.4') this.faults.push('Action.Execute needs version 1.4');
    if (JSON.stringify(attachment).length > 28_000) this.faults.push('the card is larger than 28 KB');
  }
}

export function shareTeams(): TeamsServer {
  const teams = new TeamsServer();
  beforeAll(async () => {
    teams.keys = [await makeConnectorKey('k1', ['msteams', 'webchat'])];
    await new Promise<void>((done) => teams.server.listen(0, '127.0.0.1', done));
    teams.url = `http://127.0.0.1:${(teams.server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    teams.server.closeAllConnections();
    teams.server.close();
  });
  return teams;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return body;
}

export function cardText({ activity }: TeamsMessage): string {
  return JSON.stringify(activity.attachments[0].content.body);
}

export function cardActions({ activity }: TeamsMessage): readonly Loose[] {
  return activity.attachments[0].content.actions;
}

let activities = 0;

function activityOf(teams: TeamsServer, user: TeamsUser, conversation: object): object {
  activities += 1;
  return {
    timestamp: '2026-05-19T12:00:00.000Z',
    id: `f:${activities}`,
    channelId: 'msteams',
    serviceUrl: teams.serviceUrl,
    from: { id: `29:${user.name}`, name: user.name, aadObjectId: user.aad },
    conversation: { isGroup: true, conversationType: 'channel', tenantId: user.tenant, ...conversation },
    recipient: { id: `28:${appId}`, name: 'Writ' },
    entities: [{ locale: 'en-US', country: 'US', platform: 'Web', type: 'clientInfo' }],
    channelData: { tenant: { id: user.tenant }, source: { name: 'message' } },
    locale: 'en-US',
  };
}

/** What Teams sends when a user presses a button of a card. */
export function pressed(
  teams: TeamsServer,
  user: TeamsUser,
  { message, verb, data }: { readonly message: TeamsMessage; readonly verb: string; readonly data: object },
): object {
  return {
    ...activityOf(teams, user, { id: `${message.channel};messageid=${message.id}` }),
    name: 'adaptiveCard/action',
    type: 'invoke',
    replyToId: message.id,
    value: { action: { type: 'Action.Execute', verb, data }, trigger: 'manual' },
  };
}

/** What Teams sends when a user answers in the thread of a card, or writes to the bot. */
export function said(
  teams: TeamsServer,
  user: TeamsUser,
  { text, message }: { readonly text: string; readonly message: TeamsMessage | null },
): object {
  const conversation =
    message === null
      ? { id: `a:${user.name}`, conversationType: 'personal', isGroup: false }
      : { id: `${message.channel};messageid=${message.id}` };
  return {
    ...activityOf(teams, user, conversation),
    type: 'message',
    textFormat: 'plain',
    text: message === null ? text : `<at>Writ</at> ${text}`,
  };
}

export interface TokenChange {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: ConnectorKey;
  readonly nowMs?: number;
}

/** The connector's token for an activity. */
export async function connectorToken(
  teams: TeamsServer,
  { claims = {}, key, nowMs = Date.now() }: TokenChange = {},
): Promise<string> {
  const { kid, privateKey } = key ?? teams.keys[0]!;
  const nowSeconds = Math.floor(nowMs / 1_000);
  return await new SignJWT({
    serviceurl: teams.serviceUrl,
    nbf: nowSeconds,
    exp: nowSeconds + 3_600,
    iss: connectorIssuer,
    aud: appId,
    ...claims,
  })
    .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
    .sign(privateKey);
}

/** Sends an activity to the service, as the connector does; null sends it without a token. */
export async function deliver(
  { url }: { readonly url: string },
  activity: object,
  token: string | null,
): Promise<Response> {
  return await fetch(`${url}/chat/teams`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(activity),
  });
}
