// What Slack sends, after its signature was checked, into votes, comments and links: pressed buttons and dialogs
// (https://docs.slack.dev/interactivity), messages in threads (https://docs.slack.dev/apis/events-api) and the command
// `/writ`. INVARIANT: Slack gets its answer before anything is decided, since it waits three seconds; each delivery is taken
// once, also over restarts and processes; opening a link or a page decides nothing.

import { readJson } from '../../../language/json/read-json.ts';
import type { ChatAccount } from '../../store/contract/chat-account.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import { type ChatActions, takeDelivery } from '../chat-actions.ts';
import type { DeliveryAnswer, SentDelivery } from '../chat-delivery.ts';
import { actionIds, commentAction, commentBlock, rejectDialog, rejectView, typedText } from './blocks.ts';
import { slackSignature, toleranceMs } from './signature.ts';
import type { SlackClient } from './slack-client.ts';

export interface SlackReceiverDeps {
  readonly signingSecret: string;
  readonly client: SlackClient;
  readonly actions: ChatActions;
  readonly documents: DocumentStore;
  readonly clock: () => number;
}

export type SlackReceiver = (sent: SentDelivery) => Promise<DeliveryAnswer>;

const jsonLimits = { bytesMax: 256 * 1024, depthMax: 32 };
/** Slack repeats an event for an hour when it gets no answer. */
const eventRepeatMs = 2 * 60 * 60_000;
const nothing = async (): Promise<void> => undefined;
const acknowledged: DeliveryAnswer = { kind: 'answer', body: null, work: nothing };

export function createSlackReceiver(deps: SlackReceiverDeps): SlackReceiver {
  return async (request) => {
    const nowMs = deps.clock();
    const signature = slackSignature(deps.signingSecret, request, nowMs);
    if (signature === null) return { kind: 'forged' };
    const sent = readSent(request);
    if (sent === null) return { kind: 'malformed' };
    if (sent.type === 'url_verification')
      return { kind: 'answer', body: { challenge: textOf(sent.challenge) }, work: nothing };
    // A delivery that is sent again has another signature but the same event id.
    const eventId = sent.type === 'event_callback' ? textOf(sent.event_id) : '';
    const id = eventId === '' ? `slack ${signature}` : `slack event ${eventId}`;
    const keptMs = eventId === '' ? 2 * toleranceMs : eventRepeatMs;
    if (!(await takeDelivery(deps.documents, id, { nowMs, endsAtMs: nowMs + keptMs }))) return acknowledged;
    return handle(deps, sent);
  };
}

type Sent = Readonly<Record<string, unknown>>;

/** The JSON of an event, or of the form field `payload`; a command is a form itself. */
function readSent({ headers, body }: SentDelivery): Sent | null {
  const type = String(headers['content-type'] ?? '');
  const text = Buffer.from(body).toString('utf8');
  if (/^application\/json\b/i.test(type)) return objectIn(text);
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return null;
  const form = new URLSearchParams(text);
  const payload = form.get('payload');
  return payload === null ? { ...Object.fromEntries(form), type: 'command' } : objectIn(payload);
}

function objectIn(text: string): Sent | null {
  const json = readJson(Buffer.from(text), jsonLimits);
  const isObject = json.ok && typeof json.value === 'object' && json.value !== null;
  return isObject ? (json.value as Sent) : null;
}

function handle(deps: SlackReceiverDeps, sent: Sent): DeliveryAnswer {
  switch (sent.type) {
    case 'block_actions':
      return { kind: 'answer', body: null, work: () => handlePress(deps, sent) };
    case 'view_submission':
      return handleDialog(deps, sent);
    case 'event_callback':
      return { kind: 'answer', body: null, work: () => handleEvent(deps, sent) };
    case 'command':
      return { kind: 'answer', body: null, work: () => handleCommand(deps, sent) };
    default:
      return acknowledged;
  }
}

async function handlePress({ client, actions }: SlackReceiverDeps, sent: Sent): Promise<void> {
  const account = accountOf(Object(sent.user) as Sent, sent.team);
  const [pressed] = Array.isArray(sent.actions) ? (sent.actions as readonly Sent[]) : [];
  const channel = textOf((Object(sent.channel) as Sent).id);
  const about = aboutOf(pressed?.value, channel);
  if (account === null || about === null) return;
  if (pressed?.action_id === actionIds.reject) {
    const opened = await client.openDialog(textOf(sent.trigger_id), rejectDialog(JSON.stringify(about)));
    const text =
      opened.kind === 'sent' ? null : 'Slack did not open the dialog. Nothing was decided. Try again.';
    await tell({ client }, { channel, user: account.user }, text);
    return;
  }
  if (pressed?.action_id !== actionIds.approve) return;
  const vote = { kind: 'approve', requestId: about.request, digest: about.digest, comment: '' } as const;
  await tell({ client }, { channel, user: account.user }, await actions.vote(account, vote));
}

function handleDialog({ client, actions }: SlackReceiverDeps, sent: Sent): DeliveryAnswer {
  const view = Object(sent.view) as Sent;
  const account = accountOf(Object(sent.user) as Sent, sent.team);
  const about = aboutOf(view.private_metadata, '');
  if (view.callback_id !== rejectView || account === null || about === null) return acknowledged;
  const comment = typedIn(view).trim();
  if (comment === '') {
    const errors = { [commentBlock]: 'Say why you reject it.' };
    return { kind: 'answer', body: { response_action: 'errors', errors }, work: nothing };
  }
  const vote = { kind: 'reject', requestId: about.request, digest: about.digest, comment } as const;
  const work = async (): Promise<void> =>
    tell({ client }, { channel: about.channel, user: account.user }, await actions.vote(account, vote));
  return { kind: 'answer', body: null, work };
}

function typedIn({ state }: Sent): string {
  const { values } = Object(state) as { readonly values?: unknown };
  const block = Object((Object(values) as Sent)[commentBlock]) as Sent;
  return textOf((Object(block[commentAction]) as Sent).value);
}

/** A message of a person in the thread of a message about a request. */
async function handleEvent({ client, actions }: SlackReceiverDeps, sent: Sent): Promise<void> {
  const event = Object(sent.event) as Sent;
  const isSaid = event.type === 'message' && event.subtype === undefined && event.bot_id === undefined;
  const [channel, thread] = [textOf(event.channel), textOf(event.thread_ts)];
  if (!isSaid || thread === '' || thread === event.ts) return;
  const user = { id: event.user, team_id: event.user_team ?? event.team };
  const account = accountOf(user, { id: sent.team_id });
  if (account === null) return;
  const said = { channel, message: thread, text: typedText(textOf(event.text)) };
  await tell({ client }, { channel, user: account.user }, await actions.comment(account, said));
}

const linkCommand = /^\s*link\s+(\S{1,40})\s*$/i;

async function handleCommand({ client, actions }: SlackReceiverDeps, sent: Sent): Promise<void> {
  const account = accountOf({ id: sent.user_id, team_id: sent.team_id }, null);
  if (account === null) return;
  const [, code] = linkCommand.exec(textOf(sent.text)) ?? [];
  const text =
    code === undefined
      ? 'Write /writ link CODE, with a code from your account page in Writ.'
      : await actions.link(account, { code, name: textOf(sent.user_name) });
  await tell({ client }, { channel: textOf(sent.channel_id), user: account.user }, text);
}

async function tell(
  { client }: Pick<SlackReceiverDeps, 'client'>,
  place: { readonly channel: string; readonly user: string },
  text: string | null,
): Promise<void> {
  if (text !== null && place.channel !== '') await client.tell(place, text);
}

const idForm = /^[A-Z0-9]{2,40}$/;

/** The account of a user. People of a shared channel belong to their own workspace, not to that of the app. */
function accountOf({ id, team_id }: Sent, team: unknown): ChatAccount | null {
  const [user, workspace] = [textOf(id), textOf(team_id ?? (Object(team) as Sent).id)];
  return idForm.test(user) && idForm.test(workspace) ? { service: 'slack', workspace, user } : null;
}

interface AboutRequest {
  readonly request: string;
  readonly digest: string;
  readonly channel: string;
}

/** What a button or dialog of ours is about; null for the value of any other. */
function aboutOf(value: unknown, channel: string): AboutRequest | null {
  const { request, digest, ...more } = Object(objectIn(textOf(value))) as Sent;
  if (typeof request !== 'string' || typeof digest !== 'string') return null;
  return { request, digest, channel: channel === '' ? textOf(more.channel) : channel };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
