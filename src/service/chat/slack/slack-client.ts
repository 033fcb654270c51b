// Calls Slack's Web API (https://docs.slack.dev/apis/web-api): posts and updates messages, opens dialogs, tells one person
// something. INVARIANT: no call rejects or follows a redirect, and an answer is read within limits of bytes and time.

import { boundedFetch } from '../../fetching/fetch-document.ts';
import { type ChatClient, failed, type MessagePlace, retryAfterOf, type SendResult } from '../chat-client.ts';
import type { RequestMessage } from '../request-message.ts';
import { type Block, metadataType, slackMessage } from './blocks.ts';

export interface SlackClient extends ChatClient {
  openDialog(triggerId: string, view: Block): Promise<SendResult>;
  /** Shows a text to one person in a channel. */
  tell(place: { readonly channel: string; readonly user: string }, text: string): Promise<SendResult>;
  /** The workspace of the bot token, or why the token is not valid. */
  test(): Promise<{ readonly workspace: string } | { readonly reason: string }>;
}

export interface SlackClientSettings {
  readonly api: string;
  readonly botToken: string;
  readonly timeoutMs?: number;
}

const timeoutMsDefault = 10_000;
const answerBytesMax = 4 * 1024 * 1024;
const foundMax = 200;
/** The clocks of Slack and of the service may differ. */
const earlierMs = 60_000;

type Answer = Readonly<Record<string, unknown>>;
type Called = { readonly kind: 'answer'; readonly answer: Answer } | Exclude<SendResult, { kind: 'sent' }>;

export function createSlackClient(settings: SlackClientSettings): SlackClient {
  const call = createCaller(settings);
  const sent = async (method: string, body: object): Promise<SendResult> => {
    const called = await call(method, body);
    if (called.kind !== 'answer') return called;
    return { kind: 'sent', message: String(called.answer.ts ?? '') };
  };
  return {
    post: (channel: string, message: RequestMessage) =>
      sent('chat.postMessage', { channel, ...slackMessage(message) }),
    update: ({ channel, message: ts }: MessagePlace, message: RequestMessage) =>
      sent('chat.update', { channel, ts, ...slackMessage(message) }),
    async find(channel, { requestId, sinceMs }) {
      const oldest = String(Math.floor((sinceMs - earlierMs) / 1_000));
      const query = { channel, oldest, limit: foundMax, include_all_metadata: true };
      const called = await call('conversations.history', query);
      return called.kind === 'answer' ? messageAbout(called.answer, requestId) : null;
    },
    openDialog: (triggerId, view) => sent('views.open', { trigger_id: triggerId, view }),
    tell: ({ channel, user }, text) => sent('chat.postEphemeral', { channel, user, text, parse: 'none' }),
    async test() {
      const called = await call('auth.test', {});
      if (called.kind === 'answer') return { workspace: String(called.answer.team_id ?? '') };
      return { reason: called.kind === 'failed' ? called.reason : 'no answer' };
    },
  };
}

/** Errors that say that the message is not there any more. */
const goneErrors: ReadonlySet<string> = new Set(['message_not_found', 'cant_update_message']);

function createCaller({ api, botToken, timeoutMs = timeoutMsDefault }: SlackClientSettings) {
  const fetching = boundedFetch({ bytesMax: answerBytesMax, timeoutMs });
  return async (method: string, body: object): Promise<Called> => {
    try {
      const reply = await fetching(`${api.replace(/\/$/, '')}/${method}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${botToken}`,
          'content-type': 'application/json; charset=utf-8',
        },
        body: JSON.stringify(body),
      });
      const retryAfterMs = retryAfterOf(reply);
      if (reply.status !== 200) return failed(`Slack answered ${reply.status} to ${method}`, retryAfterMs);
      const answer = (await reply.json()) as Answer;
      if (answer.ok === true) return { kind: 'answer', answer };
      const error = String(answer.error).slice(0, 100);
      return goneErrors.has(error) ? { kind: 'gone' } : failed(`Slack refused ${method}: ${error}`, null);
    } catch (error) {
      return failed(`Slack did not answer: ${error instanceof Error ? error.message : 'no reason'}`, null);
    }
  };
}

function messageAbout({ messages }: Answer, requestId: string): string | null {
  if (!Array.isArray(messages)) return null;
  for (const one of messages as readonly Answer[]) {
    const { event_type, event_payload } = Object(one.metadata) as Answer;
    if (event_type === metadataType && (Object(event_payload) as Answer).request_id === requestId)
      return typeof one.ts === 'string' ? one.ts : null;
  }
  return null;
}
