// Examines the chats in which people vote: whether each accepts the service. INVARIANT: no message is sent, and no secret is
// shown.

import { createSlackClient } from '../../service/chat/slack/slack-client.ts';
import { connectorIssuer } from '../../service/chat/teams/connector-token.ts';
import { createTeamsClient } from '../../service/chat/teams/teams-client.ts';
import type { Config } from '../../service/settings/load.ts';
import { readKeys } from '../../service/users/issuer-keys.ts';
import { codeOf, ok, type PartFinding, unused, wrong } from './finding.ts';

const waitMs = 5_000;

export async function examineSlack({ slack }: Config): Promise<PartFinding> {
  if (slack === null) return unused('no slack.bot_token: people do not vote in Slack');
  const { api, botToken } = slack;
  const tested = await createSlackClient({ api, botToken, timeoutMs: waitMs }).test();
  if ('workspace' in tested) return ok(`the bot token is valid for the workspace ${tested.workspace}`);
  return wrong(
    tested.reason,
    'set slack.bot_token (WRIT_SLACK_BOT_TOKEN) to the Bot User OAuth Token of the app, and check firewalls',
  );
}

export async function examineTeams({ teams }: Config): Promise<PartFinding> {
  if (teams === null) return unused('no teams.app_id: people do not vote in Teams');
  const reason = await createTeamsClient({ ...teams, clock: Date.now, timeoutMs: waitMs }).test();
  if (reason !== null)
    return wrong(
      reason,
      'set teams.app_id, teams.tenant and teams.app_secret (WRIT_TEAMS_APP_SECRET) to those of the bot, and check firewalls',
    );
  try {
    const source = { issuer: connectorIssuer, keys: null, metadata: teams.metadata };
    await readKeys(source, AbortSignal.timeout(waitMs));
    return ok('Microsoft Entra gives a token for the bot, and the keys of the connector can be read');
  } catch (error) {
    return wrong(
      `the keys of the connector cannot be read (${codeOf(error)})`,
      'set teams.metadata to the address of its OpenID metadata, and check firewalls',
    );
  }
}
