// What Teams sends, after its token was checked, into votes, comments and links: pressed buttons of cards
// (`adaptiveCard/action`), replies in the thread of a card, and `link CODE` to the bot. INVARIANT: only people of the
// configured tenant act; each activity is taken once, also over restarts and processes.

import { createHash } from 'node:crypto';
import { readJson } from '../../../language/json/read-json.ts';
import type { ChatAccount } from '../../store/contract/chat-account.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import { type ChatActions, takeDelivery } from '../chat-actions.ts';
import type { DeliveryAnswer, SentDelivery } from '../chat-delivery.ts';
import { typedText, verbs } from './cards.ts';
import type { ConnectorTokens } from './connector-token.ts';
import type { TeamsClient } from './teams-client.ts';

export interface TeamsReceiverDeps {
  readonly tenant: string;
  readonly tokens: Pick<ConnectorTokens, 'check'>;
  readonly client: Pick<TeamsClient, 'say'>;
  readonly actions: ChatActions;
  readonly documents: DocumentStore;
  readonly clock: () => number;
}

export type TeamsReceiver = (sent: SentDelivery) => Promise<DeliveryAnswer>;

const jsonLimits = { bytesMax: 256 * 1024, depthMax: 32 };
/** A token may be used until its end, and somewhat longer by a clock that is behind. */
const toleranceMs = 5 * 60_000;
const nothing = async (): Promise<void> => undefined;
const acknowledged: DeliveryAnswer = { kind: 'answer', body: null, work: nothing };

type Part = Readonly<Record<string, unknown>>;

export function createTeamsReceiver(deps: TeamsReceiverDeps): TeamsReceiver {
  return async ({ headers, body }) => {
    const nowMs = deps.clock();
    const json = readJson(body, jsonLimits);
    const isObject = json.ok && typeof json.value === 'object' && json.value !== null;
    if (!isObject) return { kind: 'malformed' };
    const activity = json.value as Part;
    const authorization = typeof headers.authorization === 'string' ? headers.authorization : undefined;
    const [serviceUrl, channelId] = [textOf(activity.serviceUrl), textOf(activity.channelId)];
    const endsAtMs = await deps.tokens.check(authorization, { serviceUrl, channelId, nowMs });
    if (endsAtMs === null) return { kind: 'forged' };
    // One token may come with many activities, so each is known by its bytes.
    const id = `teams ${createHash('sha256').update(body).digest('hex')}`;
    if (!(await takeDelivery(deps.documents, id, { nowMs, endsAtMs: endsAtMs + toleranceMs })))
      return acknowledged;
    return await handle(deps, activity);
  };
}

async function handle(deps: TeamsReceiverDeps, activity: Part): Promise<DeliveryAnswer> {
  const account = accountOf(deps, activity);
  switch (activity.type) {
    case 'invoke':
      return activity.name === 'adaptiveCard/action'
        ? { kind: 'answer', body: await handlePress(deps, activity, account), work: nothing }
        : acknowledged;
    case 'message':
      return { kind: 'answer', body: null, work: () => handleMessage(deps, activity, account) };
    default:
      return acknowledged;
  }
}

const foreign = 'This account is not of the organization that this bot is set up for. Nothing was decided.';

/** Returns what Teams shows to the person who pressed. Teams waits for it, and asks for no second answer. */
async function handlePress(
  { actions }: TeamsReceiverDeps,
  { value }: Part,
  account: ChatAccount | null,
): Promise<object> {
  const { verb, data } = Object((Object(value) as Part).action) as Part;
  const { request, digest, comment } = Object(data) as Part;
  const kind = verb === verbs.approve ? 'approve' : verb === verbs.reject ? 'reject' : null;
  if (account === null) return shownToPerson(foreign);
  if (kind === null || typeof request !== 'string' || typeof digest !== 'string')
    return shownToPerson('This button is not one of Writ. Nothing was decided.');
  const vote = { kind, requestId: request, digest, comment: textOf(comment) } as const;
  return shownToPerson((await actions.vote(account, vote)) ?? 'Your vote is recorded.');
}

function shownToPerson(text: string): object {
  return { statusCode: 200, type: 'application/vnd.microsoft.activity.message', value: text };
}

const linkMessage = /^link\s+(\S{1,40})$/i;

/** `link CODE` to the bot, or a reply in the thread of a card. */
async function handleMessage(
  { client, actions }: TeamsReceiverDeps,
  activity: Part,
  account: ChatAccount | null,
): Promise<void> {
  const conversation = Object(activity.conversation) as Part;
  const id = textOf(conversation.id);
  const text = typedText(textOf(activity.text));
  if (account === null || id === '') return;
  const tell = async (told: string | null): Promise<void> => {
    if (told !== null) await client.say(id, told);
  };
  const [, code] = linkMessage.exec(text) ?? [];
  const name = textOf((Object(activity.from) as Part).name);
  if (conversation.conversationType === 'personal') {
    await tell(
      code === undefined
        ? 'Write link CODE, with a code from your account page in Writ.'
        : await actions.link(account, { code, name }),
    );
    return;
  }
  const [, channel, message] = /^(.+);messageid=(.+)$/.exec(id) ?? [];
  if (channel !== undefined && message !== undefined)
    await tell(await actions.comment(account, { channel, message, text }));
}

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The account that sent the activity; null for a person of another tenant. */
function accountOf({ tenant }: Pick<TeamsReceiverDeps, 'tenant'>, activity: Part): ChatAccount | null {
  const conversation = Object(activity.conversation) as Part;
  const { tenant: ofChannel } = Object(activity.channelData) as Part;
  const workspace = textOf(conversation.tenantId) || textOf((Object(ofChannel) as Part).id);
  const user = textOf((Object(activity.from) as Part).aadObjectId);
  const isOurs = workspace.toLowerCase() === tenant.toLowerCase();
  return isOurs && idForm.test(user)
    ? { service: 'teams', workspace: workspace.toLowerCase(), user: user.toLowerCase() }
    : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
