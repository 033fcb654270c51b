// Settings of chats in which people hear of requests and vote on them. INVARIANT: the settings of a chat are set as a whole
// or not at all.

import { pairsOf } from './pairs.ts';
import type { SettingName } from './table.ts';

/** The channels of requests: by group, and for all other groups. */
interface Channels {
  readonly byGroup: ReadonlyMap<string, string>;
  /** Null for none. */
  readonly otherwise: string | null;
}

export interface SlackSettings {
  /** The address of Slack's Web API. */
  readonly api: string;
  readonly botToken: string;
  readonly signingSecret: string;
  readonly channels: Channels;
}

export interface TeamsSettings {
  readonly appId: string;
  readonly appSecret: string;
  /** The id of the Microsoft Entra tenant whose people may act. */
  readonly tenant: string;
  readonly channels: Channels;
  /** The address of the Bot Framework connector. */
  readonly serviceUrl: string;
  /** The address of Microsoft Entra. */
  readonly login: string;
  /** The address of the connector's OpenID metadata. */
  readonly metadata: string;
}

type ValueOfSetting = (name: SettingName) => unknown;

/** Settings of chats that are missing, as lines for the person who starts the service. */
export function chatProblems(settingOf: ValueOfSetting): readonly string[] {
  return chats.flatMap(({ required, channel, channels }) => {
    const isSet = (name: SettingName) => settingOf(name) !== null && settingOf(name) !== '';
    const [first, missing] = [required.find(isSet), required.find((name) => !isSet(name))];
    if (first === undefined) {
      const alone = [channel, channels].find(isSet);
      return alone === undefined ? [] : [`${required[0]} is required with ${alone}`];
    }
    if (missing !== undefined) return [`${missing} is required with ${first}`];
    return isSet(channel) || isSet(channels) ? [] : [`${channel} or ${channels} is required with ${first}`];
  });
}

const chats = [
  {
    required: ['slack.bot_token', 'slack.signing_secret'],
    channel: 'slack.channel',
    channels: 'slack.channels',
  },
  {
    required: ['teams.app_id', 'teams.app_secret', 'teams.tenant'],
    channel: 'teams.channel',
    channels: 'teams.channels',
  },
] as const satisfies readonly {
  readonly required: readonly [SettingName, ...SettingName[]];
  readonly channel: SettingName;
  readonly channels: SettingName;
}[];

/** The settings of Slack; null when it is not set up. */
export function slackOf(settingOf: ValueOfSetting): SlackSettings | null {
  if (settingOf('slack.bot_token') === null) return null;
  return {
    api: String(settingOf('slack.api')),
    botToken: String(settingOf('slack.bot_token')),
    signingSecret: String(settingOf('slack.signing_secret')),
    channels: channelsIn('slack', settingOf),
  };
}

/** The settings of Teams; null when it is not set up. */
export function teamsOf(settingOf: ValueOfSetting): TeamsSettings | null {
  if (settingOf('teams.app_id') === null) return null;
  return {
    appId: String(settingOf('teams.app_id')),
    appSecret: String(settingOf('teams.app_secret')),
    tenant: String(settingOf('teams.tenant')),
    channels: channelsIn('teams', settingOf),
    serviceUrl: String(settingOf('teams.service_url')),
    login: String(settingOf('teams.login')),
    metadata: String(settingOf('teams.metadata')),
  };
}

function channelsIn(chat: 'slack' | 'teams', settingOf: ValueOfSetting): Channels {
  const otherwise = settingOf(`${chat}.channel`);
  return {
    byGroup: pairsOf(String(settingOf(`${chat}.channels`) ?? '')) ?? new Map(),
    otherwise: otherwise === null ? null : String(otherwise),
  };
}
