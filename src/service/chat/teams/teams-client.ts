// Calls the Bot Framework connector (the REST reference of the Bot Connector service): posts and updates cards in channels,
// and answers people. A token of the app comes from Microsoft Entra by the client credentials grant and is kept until
// shortly before its end. INVARIANT: no call rejects or follows a redirect; the token goes only to the configured address,
// whatever address a message names.

import { boundedFetch } from '../../fetching/fetch-document.ts';
import { type ChatClient, failed, retryAfterOf, type SendResult } from '../chat-client.ts';
import { cardActivity } from './cards.ts';

export interface TeamsClient extends ChatClient {
  /** Writes a text into a conversation. */
  say(conversation: string, text: string): Promise<SendResult>;
  /** Why no token can be had; null when there is one. */
  test(): Promise<string | null>;
}

export interface TeamsClientSettings {
  readonly appId: string;
  readonly appSecret: string;
  readonly tenant: string;
  /** The address of the connector. */
  readonly serviceUrl: string;
  /** The address of Microsoft Entra. */
  readonly login: string;
  readonly clock: () => number;
  readonly timeoutMs?: number;
}

const timeoutMsDefault = 10_000;
const answerBytesMax = 1024 * 1024;
/** How long before its end a token is no longer used, in milliseconds. */
const earlyMs = 5 * 60_000;
const scope = 'https://api.botframework.com/.default';

type Answer = Readonly<Record<string, unknown>>;
type Fetching = ReturnType<typeof boundedFetch>;

export function createTeamsClient(settings: TeamsClientSettings): TeamsClient {
  const { appId, timeoutMs = timeoutMsDefault } = settings;
  const fetching = boundedFetch({ bytesMax: answerBytesMax, timeoutMs });
  const tokens = createAppTokens(settings, fetching);
  const call = createCaller(settings, { fetching, tokens });
  return {
    async post(channel, message) {
      const body = {
        isGroup: true,
        bot: { id: `28:${appId}` },
        channelData: { channel: { id: channel } },
        activity: cardActivity(message),
      };
      const called = await call('POST', 'v3/conversations', body);
      if (called.kind !== 'answer') return called;
      const { activityId, id } = called.answer;
      const posted = typeof activityId === 'string' ? activityId : /;messageid=(.+)$/.exec(String(id))?.[1];
      return posted === undefined
        ? failed('Teams named no message', null)
        : { kind: 'sent', message: posted };
    },
    async update({ channel, message: posted }, message) {
      const path = `v3/conversations/${encodeURIComponent(`${channel};messageid=${posted}`)}/activities/${encodeURIComponent(posted)}`;
      const called = await call('PUT', path, { ...cardActivity(message), id: posted });
      return called.kind === 'answer' ? { kind: 'sent', message: posted } : called;
    },
    // The connector has no way to look a message up.
    find: async () => null,
    async say(conversation, text) {
      const path = `v3/conversations/${encodeURIComponent(conversation)}/activities`;
      const called = await call('POST', path, { type: 'message', textFormat: 'plain', text });
      return called.kind === 'answer' ? { kind: 'sent', message: String(called.answer.id ?? '') } : called;
    },
    async test() {
      const token = await tokens.current();
      return 'reason' in token ? token.reason : null;
    },
  };
}

interface AppTokens {
  current(): Promise<{ readonly token: string } | { readonly reason: string }>;
  /** To be called when the connector refuses a token. */
  drop(): void;
}

function createAppTokens(settings: TeamsClientSettings, fetching: Fetching): AppTokens {
  const { login, tenant, appId, appSecret, clock } = settings;
  let kept: { readonly token: string; readonly untilMs: number } | null = null;
  return {
    async current() {
      if (kept !== null && clock() < kept.untilMs) return kept;
      const form = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret, scope };
      try {
        const reply = await fetching(
          `${login.replace(/\/$/, '')}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
          {
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            body: new URLSearchParams(form).toString(),
          },
        );
        const answer = (await reply.json()) as Answer;
        const { access_token: token, expires_in: seconds } = answer;
        if (reply.status !== 200 || typeof token !== 'string')
          return { reason: `Microsoft Entra gave no token: ${String(answer.error).slice(0, 100)}` };
        kept = { token, untilMs: clock() + Number(seconds) * 1_000 - earlyMs };
        return kept;
      } catch (error) {
        return { reason: `Microsoft Entra did not answer: ${reasonOf(error)}` };
      }
    },
    drop: () => {
      kept = null;
    },
  };
}

type CallResult =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | Exclude<SendResult, { kind: 'sent' }>;

function createCaller(
  { serviceUrl }: TeamsClientSettings,
  { fetching, tokens }: { readonly fetching: Fetching; readonly tokens: AppTokens },
) {
  return async (method: 'POST' | 'PUT', path: string, body: object): Promise<CallResult> => {
    const token = await tokens.current();
    if ('reason' in token) return failed(token.reason, null);
    try {
      const reply = await fetching(`${serviceUrl.replace(/\/$/, '')}/${path}`, {
        method,
        headers: { authorization: `Bearer ${token.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (reply.status === 401) tokens.drop();
      if (reply.status === 404 && method === 'PUT') return { kind: 'gone' };
      if (reply.status < 200 || reply.status >= 300)
        return failed(`Teams answered ${reply.status}`, retryAfterOf(reply));
      const text = await reply.text();
      return { kind: 'answer', answer: text === '' ? {} : (JSON.parse(text) as Answer) };
    } catch (error) {
      return failed(`Teams did not answer: ${reasonOf(error)}`, null);
    }
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'no reason';
}
