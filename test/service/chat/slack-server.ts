// A Slack for tests, written from its public documents: the Web API with its checks, and what Slack sends to an app when
// people press buttons, submit dialogs, write in threads and enter commands, signed as Slack signs it.

import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
type Loose = any;

export interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
  content: Loose;
  /** How often it was updated. */
  updates: number;
}

export interface SlackUser {
  readonly id: string;
  readonly team: string;
  readonly name: string;
}

export const botToken = 'xoxb-1234-5678-test';
export const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
export const appTeam = 'T0APPTEAM';

export class SlackServer {
  url = '';
  readonly messages: SlackMessage[] = [];
  readonly ephemeral: { channel: string; user: string; text: string }[] = [];
  readonly dialogs: { trigger: string; view: Loose }[] = [];
  readonly calls: string[] = [];
  /** Faults of the requests that came. */
  readonly faults: string[] = [];
  /** How the server answers: `limits` with 429 and a second to wait, `loses` after it has done what was asked. */
  mood: 'answers' | 'limits' | 'fails' | 'loses' = 'answers';
  #count = 0;

  readonly server = createServer(async (request, response) => {
    const method = (request.url ?? '').replace('/api/', '');
    const body = await bodyOf(request);
    this.calls.push(method);
    if (this.mood === 'limits') return void response.writeHead(429, { 'retry-after': '1' }).end();
    if (this.mood === 'fails') return void response.writeHead(503).end('<html>');
    const isKnown = request.headers.authorization === `Bearer ${botToken}`;
    const answer = isKnown ? this.#answer(method, JSON.parse(body)) : { ok: false, error: 'invalid_auth' };
    if (this.mood === 'loses') return void response.destroy();
    response.setHeader('content-type', 'application/json; charset=utf-8').end(JSON.stringify(answer));
  });

  #answer(method: string, sent: Loose): object {
    switch (method) {
      case 'auth.test':
        return { ok: true, team: 'Acme', team_id: appTeam, user: 'writ', user_id: 'U0BOT', bot_id: 'B0BOT' };
      case 'chat.postMessage': {
        this.#checkMessage(sent);
        if (sent.channel === 'CMISSING') return { ok: false, error: 'channel_not_found' };
        const ts = `1700000000.${String(++this.#count).padStart(6, '0')}`;
        this.messages.push({ channel: sent.channel, ts, content: sent, updates: 0 });
        return { ok: true, channel: sent.channel, ts, message: { text: sent.text, bot_id: 'B0BOT' } };
      }
      case 'chat.update': {
        this.#checkMessage(sent);
        const message = this.messages.find((one) => one.channel === sent.channel && one.ts === sent.ts);
        if (message === undefined) return { ok: false, error: 'message_not_found' };
        message.content = sent;
        message.updates += 1;
        return { ok: true, channel: sent.channel, ts: sent.ts, text: sent.text };
      }
      case 'conversations.history': {
        const found = this.messages.filter((one) => one.channel === sent.channel);
        const messages = found.map(({ ts, content: { text, metadata } }) => ({
          type: 'message',
          ts,
          text,
          ...(sent.include_all_metadata === true && { metadata }),
        }));
        return { ok: true, messages, has_more: false };
      }
      case 'views.open':
        this.dialogs.push({ trigger: sent.trigger_id, view: sent.view });
        return { ok: true, view: { id: 'V1', ...sent.view } };
      case 'chat.postEphemeral':
        this.ephemeral.push(sent);
        return { ok: true, message_ts: '1700000000.999999' };
      default:
        return { ok: false, error: 'unknown_method' };
    }
  }

  /** The limits of Block Kit. */
  #checkMessage({ blocks, text }: Loose): void {
    const fault = (words: string) => void this.faults.push(words);
    if (typeof text !== 'string' || text === '') fault('no text');
    if (blocks.length > 50) fault('more than 50 blocks');
    for (const block of blocks) {
      if (block.type === 'section' && !(block.text.text.length >= 1 && block.text.text.length <= 3000))
        fault('a section is empty or too long');
      for (const button of block.type === 'actions' ? block.elements : []) {
        if ((button.value ?? '').length > 2000) fault('a value is too long');
        if (button.text.type !== 'plain_text' || button.text.text.length > 75) fault('a button is too long');
      }
    }
  }

  /** The message about a request; undefined when there is none. */
  about(requestId: string): SlackMessage | undefined {
    return this.messages.find(({ content }) => content.metadata.event_payload.request_id === requestId);
  }
}

/** One Slack for all tests of a file. */
export function shareSlack(): SlackServer {
  const slack = new SlackServer();
  beforeAll(async () => {
    await new Promise<void>((done) => slack.server.listen(0, '127.0.0.1', done));
    slack.url = `http://127.0.0.1:${(slack.server.address() as AddressInfo).port}/api`;
  });
  afterAll(() => {
    slack.server.closeAllConnections();
    slack.server.close();
  });
  return slack;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return body;
}

/** All texts of a message, as one. */
export function textOf({ content }: SlackMessage): string {
  return JSON.stringify(content.blocks);
}

export function buttonsOf({
  content,
}: SlackMessage): readonly { action_id: string; value?: string; url?: string }[] {
  return content.blocks.flatMap((block: Loose) => (block.type === 'actions' ? block.elements : []));
}

export interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SigningOptions {
  readonly atMs?: number;
  readonly secret?: string;
}

/** Signs a body as Slack does. */
function signed(
  body: string,
  contentType: string,
  { atMs = Date.now(), secret = signingSecret }: SigningOptions = {},
): Delivery {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    headers: {
      'content-type': contentType,
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${signature}`,
    },
    body,
  };
}

const formType = 'application/x-www-form-urlencoded';

export function formDelivery(payload: object, signing?: SigningOptions): Delivery {
  return signed(new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), formType, signing);
}

let triggers = 0;

/** What Slack sends when a user presses a button of a message (`block_actions`). */
export function pressed(user: SlackUser, message: SlackMessage, actionId: string, value?: string): object {
  const button = buttonsOf(message).find((one) => one.action_id === actionId);
  triggers += 1;
  return {
    type: 'block_actions',
    user: { id: user.id, username: user.name, name: user.name, team_id: user.team },
    api_app_id: 'A0WRIT',
    token: 'deprecated',
    container: {
      type: 'message',
      message_ts: message.ts,
      channel_id: message.channel,
      is_ephemeral: false,
    },
    trigger_id: `${triggers}.trigger`,
    team: { id: appTeam, domain: 'acme' },
    enterprise: null,
    is_enterprise_install: false,
    channel: { id: message.channel, name: 'finance-approvals' },
    message: { type: 'message', bot_id: 'B0BOT', ts: message.ts, text: message.content.text },
    state: { values: {} },
    response_url: 'https://hooks.slack.com/actions/T0APPTEAM/1/secret',
    actions: [
      {
        type: 'button',
        block_id: 'writ',
        action_id: actionId,
        text: { type: 'plain_text', text: 'Approve', emoji: false },
        value: value ?? button?.value,
        style: 'primary',
        action_ts: `1700000100.${String(triggers).padStart(6, '0')}`,
      },
    ],
  };
}

/** What Slack sends when a user submits the dialog (`view_submission`). */
export function submitted(user: SlackUser, view: Loose, comment: string | null): object {
  triggers += 1;
  return {
    type: 'view_submission',
    team: { id: appTeam, domain: 'acme' },
    user: { id: user.id, username: user.name, name: user.name, team_id: user.team },
    api_app_id: 'A0WRIT',
    token: 'deprecated',
    trigger_id: `${triggers}.trigger`,
    view: {
      id: 'V1',
      team_id: appTeam,
      type: 'modal',
      callback_id: view.callback_id,
      private_metadata: view.private_metadata,
      hash: `${triggers}.hash`,
      state: { values: { comment: { text: { type: 'plain_text_input', value: comment } } } },
    },
    response_urls: [],
    is_enterprise_install: false,
    enterprise: null,
  };
}

/** What Slack sends when a user writes in the thread of a message (`message` of the Events API). */
export function saidInThread(user: SlackUser, message: SlackMessage, text: string): object {
  triggers += 1;
  return {
    token: 'deprecated',
    team_id: appTeam,
    api_app_id: 'A0WRIT',
    event: {
      type: 'message',
      channel: message.channel,
      user: user.id,
      user_team: user.team,
      team: appTeam,
      text,
      ts: `1700000200.${String(triggers).padStart(6, '0')}`,
      thread_ts: message.ts,
      parent_user_id: 'U0BOT',
      event_ts: `1700000200.${String(triggers).padStart(6, '0')}`,
      channel_type: 'channel',
    },
    type: 'event_callback',
    event_id: `Ev${String(triggers).padStart(8, '0')}`,
    event_time: 1_700_000_200,
    authorizations: [
      { enterprise_id: null, team_id: appTeam, user_id: 'U0BOT', is_bot: true, is_enterprise_install: false },
    ],
    is_ext_shared_channel: false,
  };
}

export function eventDelivery(event: object, signing?: SigningOptions): Delivery {
  return signed(JSON.stringify(event), 'application/json', signing);
}

/** What Slack sends when a user enters a command. */
export function commandDelivery(user: SlackUser, text: string): Delivery {
  triggers += 1;
  const form = {
    token: 'deprecated',
    team_id: user.team,
    team_domain: 'acme',
    channel_id: 'CFINANCE',
    channel_name: 'finance-approvals',
    user_id: user.id,
    user_name: user.name,
    command: '/writ',
    text,
    api_app_id: 'A0WRIT',
    is_enterprise_install: 'false',
    response_url: 'https://hooks.slack.com/commands/T0APPTEAM/1/secret',
    trigger_id: `${triggers}.trigger`,
  };
  return signed(new URLSearchParams(form).toString(), formType);
}

/** Sends a delivery to the service, as Slack does. */
export async function deliver({ url }: { readonly url: string }, delivery: Delivery): Promise<Response> {
  const { headers, body } = delivery;
  return await fetch(`${url}/chat/slack`, { method: 'POST', headers, body });
}
