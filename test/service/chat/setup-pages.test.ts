// The manifests of the pages about Slack and Teams: they name what the service serves and calls, and nothing else.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/service/settings/load.ts';

const page = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../../docs/integrations', name), 'utf8');

function blocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  );
}

test('the manifest for Slack has the addresses of the service, and the scopes of its calls', () => {
  const [manifest, settings] = blocks(page('SLACK.md'), 'yaml').map((one) => parse(one));
  const address = 'https://writ.example.com/chat/slack';
  expect(manifest.features.slash_commands).toMatchObject([{ command: '/writ', url: address }]);
  expect(manifest.settings).toMatchObject({
    event_subscriptions: { request_url: address, bot_events: ['message.channels', 'message.groups'] },
    interactivity: { is_enabled: true, request_url: address },
    socket_mode_enabled: false,
  });
  expect(manifest.oauth_config.scopes.bot.toSorted()).toEqual([
    'channels:history',
    'chat:write',
    'commands',
    'groups:history',
  ]);
  expect(Object.keys(settings)).toEqual(['public_url', 'slack']);
});

test('the manifest for Teams is one that Teams reads', () => {
  const [manifest] = blocks(page('TEAMS.md'), 'json').map((one) => JSON.parse(one));
  expect(manifest).toMatchObject({
    manifestVersion: '1.19',
    bots: [{ botId: manifest.id, scopes: ['team', 'personal'] }],
    webApplicationInfo: { id: manifest.id },
  });
  // The limits of the manifest's schema.
  expect(manifest.name.short.length).toBeLessThanOrEqual(30);
  expect(manifest.description.short.length).toBeLessThanOrEqual(80);
});

test('the settings of the pages are complete with their secrets, and not without', () => {
  for (const [name, environment] of [
    ['SLACK.md', { WRIT_SLACK_BOT_TOKEN: 'xoxb-1', WRIT_SLACK_SIGNING_SECRET: 'abc' }],
    ['TEAMS.md', { WRIT_TEAMS_APP_SECRET: 'abc' }],
  ] as const) {
    const text = blocks(page(name), 'yaml').at(-1) ?? '';
    expect(loadConfig({ directory: '/', text, environment, flags: {} })).toMatchObject({ ok: true });
    const without = loadConfig({ directory: '/', text, environment: {}, flags: {} });
    expect(without).toMatchObject({ ok: false, problems: [expect.stringContaining('is required with')] });
  }
  const channels = {
    'slack.channels': 'finance=C1, legal=C2',
    'slack.bot_token': 'x',
    'slack.signing_secret': 'y',
  };
  const loaded = loadConfig({ directory: '/', text: '', environment: {}, flags: channels });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  expect([...(loaded.config.slack?.channels.byGroup ?? [])]).toEqual([
    ['finance', 'C1'],
    ['legal', 'C2'],
  ]);
  expect(loaded.settings.filter(({ shown }) => shown === '********').map(({ name }) => name)).toEqual([
    'slack.bot_token',
    'slack.signing_secret',
  ]);
});
