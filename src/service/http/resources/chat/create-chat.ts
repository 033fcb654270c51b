// Puts together the chats in which people hear of requests and vote on them: what is sent there, and what comes from there.
// INVARIANT: without settings of a chat nothing is sent to it, and nothing that comes from it is read.

import type { JsonObject } from '../../../../language/model/json.ts';
import { BoundedMap } from '../../../../language/value/memo.ts';
import type { PayloadProfile } from '../../../../language/value/payload-profile.ts';
import { type ChatActions, createChatActions } from '../../../chat/chat-actions.ts';
import type { ChannelSettings, ChatClient } from '../../../chat/chat-client.ts';
import { followRequests, type RequestFollower } from '../../../chat/follow-requests.ts';
import type { MessageDeps } from '../../../chat/request-message.ts';
import { createSlackReceiver, type SlackReceiver } from '../../../chat/slack/receive.ts';
import { createSlackClient } from '../../../chat/slack/slack-client.ts';
import { createConnectorTokens } from '../../../chat/teams/connector-token.ts';
import { createTeamsReceiver, type TeamsReceiver } from '../../../chat/teams/receive.ts';
import { createTeamsClient } from '../../../chat/teams/teams-client.ts';
import { createDirectory } from '../../../people/directory.ts';
import { createNames } from '../../../people/person-names.ts';
import type { RequestEvents } from '../../../requests/record/request-events.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { SlackSettings, TeamsSettings } from '../../../settings/chat.ts';
import type { ChatService } from '../../../store/contract/chat-account.ts';
import type { Store } from '../../../store/contract/store.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { profileFields } from '../agents/agent-activity.ts';
import { lastGranted } from '../agents/last-granted.ts';
import { type Reviews, reviewView } from '../requests/reviews.ts';

export interface ChatDeps {
  readonly store: Store;
  readonly clock: () => number;
  readonly publicUrl: string;
  readonly policies: MessageDeps['policies'];
  readonly requestChanges: RequestChanges;
  readonly requestEvents: RequestEvents;
  readonly reviews: Reviews;
  readonly slack: SlackSettings | null;
  readonly teams: TeamsSettings | null;
  /** How often requests are compared with their messages, in milliseconds. */
  readonly everyMs: number | undefined;
  readonly log: { warn(fields: object, message: string): void };
}

export interface Chat {
  /** Null when the chat is not set up. */
  readonly slack: SlackReceiver | null;
  readonly teams: TeamsReceiver | null;
  /** The chats that are set up. */
  readonly services: readonly ChatService[];
  start(): void;
  close(): Promise<void>;
}

export function createChat(deps: ChatDeps): Chat {
  const { store, clock, publicUrl, requestChanges, slack, teams } = deps;
  const directory = createDirectory(store.documents, clock);
  const onFailure = (err: unknown) => deps.log.warn({ err }, 'could not act on what came from a chat');
  const actions = createChatActions({ directory, requestChanges, callerOf, publicUrl, onFailure });
  const slackParts = slack === null ? null : createSlack(deps, slack, actions);
  const teamsParts = teams === null ? null : createTeams(deps, teams, actions);
  const followers = [slackParts, teamsParts].flatMap((one) => (one === null ? [] : [one.follower]));
  deps.requestEvents.subscribe(() => {
    for (const follower of followers) follower.wake();
  });
  return {
    slack: slackParts?.receive ?? null,
    teams: teamsParts?.receive ?? null,
    services: [
      ...(slackParts === null ? [] : (['slack'] as const)),
      ...(teamsParts === null ? [] : (['teams'] as const)),
    ],
    start() {
      teamsParts?.tokens.start();
      for (const follower of followers) follower.start();
    },
    async close() {
      teamsParts?.tokens.close();
      await Promise.all(followers.map((follower) => follower.close()));
    },
  };
}

function createSlack(deps: ChatDeps, settings: SlackSettings, actions: ChatActions) {
  const { api, botToken, signingSecret, channels } = settings;
  const client = createSlackClient({ api, botToken });
  const { clock, store } = deps;
  return {
    receive: createSlackReceiver({ signingSecret, client, actions, documents: store.documents, clock }),
    follower: follow(deps, { service: 'slack', client, channels }),
  };
}

function createTeams(deps: ChatDeps, settings: TeamsSettings, actions: ChatActions) {
  const { appId, tenant, metadata, channels } = settings;
  const { clock, store, log } = deps;
  const client = createTeamsClient({ ...settings, clock });
  const onFailure = (err: unknown) => log.warn({ err }, 'could not read the keys of Teams; retrying');
  const tokens = createConnectorTokens({ appId, metadata, onFailure });
  return {
    tokens,
    receive: createTeamsReceiver({ tenant, tokens, client, actions, documents: store.documents, clock }),
    follower: follow(deps, { service: 'teams', client, channels }),
  };
}

interface FollowedChat {
  readonly service: ChatService;
  readonly client: ChatClient;
  readonly channels: ChannelSettings;
}

function follow(deps: ChatDeps, chat: FollowedChat): RequestFollower {
  const { store, clock, publicUrl, policies, requestChanges, reviews, everyMs, log } = deps;
  return followRequests({
    ...chat,
    store,
    clock,
    publicUrl,
    policies,
    requestChanges,
    everyMs,
    reviewOf: async ({ state }) => {
      const review = (await reviews.of([state])).get(state.record.id);
      if (review === undefined) throw new Error('a request has no review');
      return await reviewView(state, review);
    },
    profileOf: createProfiles(store, clock),
    // Made anew for each question: people change their names.
    nameOf: (id) => createNames(createDirectory(store.documents, clock))(id),
    onFailure: (err) => log.warn({ err }, 'could not send a chat message; retrying'),
  });
}

const profilesMax = 200;
const profileKeptMs = 60_000;

/** The payload profiles of agents and actions, kept for a minute. */
function createProfiles(store: Pick<Store, 'activity'>, clock: () => number): MessageDeps['profileOf'] {
  const cache = new BoundedMap<string, { readonly atMs: number; readonly profile: PayloadProfile }>(
    profilesMax,
  );
  return async (agentId, actionKey) => {
    const key = JSON.stringify([agentId, actionKey]);
    const cached = cache.get(key);
    if (cached !== undefined && clock() - cached.atMs < profileKeptMs) return cached.profile;
    const granted = await lastGranted(store, agentId, actionKey);
    // The text was written by `requestRow`, so it is valid JSON.
    const payloads = granted.map(({ payloadJson }) => JSON.parse(payloadJson) as JsonObject);
    const profile = { count: granted.length, fields: profileFields(payloads) };
    cache.set(key, { atMs: clock(), profile });
    return profile;
  };
}
