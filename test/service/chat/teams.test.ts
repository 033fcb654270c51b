// Teams end to end, against a Teams server written from its documents: cards, votes by their buttons, replies, links, and
// everything that must not decide.

import { expect, test } from 'vitest';
import { changePerson } from '../../../src/service/people/change-person.ts';
import { createLinkCode, endLink, linksOf } from '../../../src/service/people/chat-links.ts';
import { type ChatTeam, startTeam, waitFor } from './chat-team.ts';
import {
  appId,
  appSecret,
  cardActions,
  cardText,
  connectorToken,
  deliver,
  makeConnectorKey,
  pressed,
  said,
  shareTeams,
  type TeamsMessage,
  type TeamsUser,
  tenant,
} from './teams-server.ts';

const teams = shareTeams();

const userOf = (name: string): TeamsUser => ({
  aad: `00000000-0000-4000-8000-${name.padEnd(12, '0').replaceAll(/[^0-9a-f]/g, 'a')}`,
  tenant,
  name,
});
const accountOf = (name: string) =>
  ({ service: 'teams', workspace: tenant, user: userOf(name).aad }) as const;
const [anna, ben, lea, eve] = ['anna', 'ben', 'lea', 'eve'].map(userOf) as [
  TeamsUser,
  TeamsUser,
  TeamsUser,
  TeamsUser,
];

async function start(): Promise<ChatTeam> {
  teams.messages.length = teams.said.length = teams.faults.length = teams.calls.length = 0;
  teams.mood = 'answers';
  const settings = {
    appId,
    appSecret,
    tenant,
    channels: { byGroup: new Map(), otherwise: '19:finance@thread.tacv2' },
    serviceUrl: teams.serviceUrl,
    login: `${teams.url}/login`,
    metadata: `${teams.url}/v1/.well-known/openidconfiguration`,
  };
  const team = await startTeam({ teams: settings }, accountOf);
  await waitFor(() => expect(teams.calls).toContain('GET /v1/.well-known/keys'));
  return team;
}

async function cardAbout(id: string): Promise<TeamsMessage> {
  return await waitFor(() => {
    const message = teams.messages.find((one) => JSON.stringify(one.activity).includes(id));
    if (message === undefined) throw new Error('no card yet');
    return message;
  });
}

async function voteOf(
  team: ChatTeam,
  user: TeamsUser,
  { id, verb = 'writ_approve', more = {} }: { id: string; verb?: string; more?: object },
): Promise<string> {
  const message = await cardAbout(id);
  const { body } = await team.ann.send(`/v1/requests/${id}`);
  const data = { request: id, digest: body.digest, ...more };
  const activity = pressed(teams, user, { message, verb, data });
  const reply = await deliver(team.service, activity, await connectorToken(teams));
  const answer = (await reply.json()) as { value: string; statusCode: number; type: string };
  expect([reply.status, answer.statusCode, answer.type]).toEqual([
    200,
    200,
    'application/vnd.microsoft.activity.message',
  ]);
  return answer.value;
}

test('a press of Approve is the vote of the linked person, and the card follows', async () => {
  const team = await start();
  const id = await team.pay();
  const card = await cardAbout(id);
  expect(card.channel).toBe('19:finance@thread.tacv2');
  expect(cardActions(card).map((one) => one.title)).toEqual(['Approve', 'Reject…', 'Open in Writ']);
  expect(await voteOf(team, anna, { id })).toBe('Your vote is recorded.');
  expect(await team.statusOf(id)).toBe('approved');
  const { body } = await team.ann.send(`/v1/requests/${id}`);
  expect(body.approvals).toMatchObject([{ is_approved: true, chat: team.ann.account }]);
  await waitFor(() => expect(cardText(card)).toContain('approved for finance by Teams'));
  expect(cardActions(card).map((one) => one.title)).toEqual(['Open in Writ']);
  expect(teams.messages).toHaveLength(1);
  expect(teams.faults).toEqual([]);
});

test('Reject needs a comment', async () => {
  const team = await start();
  const id = await team.pay();
  expect(await voteOf(team, ben, { id, verb: 'writ_reject' })).toContain('needs a comment');
  expect(await team.statusOf(id)).toBe('pending');
  expect(await voteOf(team, ben, { id, verb: 'writ_reject', more: { comment: 'not ours' } })).toContain(
    'recorded',
  );
  expect(await team.statusOf(id)).toBe('rejected');
});

test('an activity without a token of the connector for this app decides nothing', async () => {
  const team = await start();
  const id = await team.pay();
  const message = await cardAbout(id);
  const { body } = await team.ann.send(`/v1/requests/${id}`);
  const data = { request: id, digest: body.digest };
  const activity = pressed(teams, anna, { message, verb: 'writ_approve', data });
  const foreignKey = await makeConnectorKey('k1', ['msteams']);
  const unendorsed = await makeConnectorKey('k2', ['webchat']);
  teams.keys.push(unendorsed);
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const tokens = [
    null,
    'a.b.c',
    await connectorToken(teams, { claims: { iss: 'https://sts.windows.net/x/' } }),
    await connectorToken(teams, { claims: { aud: 'another-app' } }),
    await connectorToken(teams, { claims: { serviceurl: 'https://evil.example' } }),
    await connectorToken(teams, { claims: { serviceurl: undefined } }),
    await connectorToken(teams, { claims: { exp: nowSeconds - 400 } }),
    await connectorToken(teams, { claims: { nbf: nowSeconds + 400 } }),
    await connectorToken(teams, { key: foreignKey }),
    await connectorToken(teams, { key: unendorsed }),
  ];
  for (const token of tokens) {
    const reply = await deliver(team.service, activity, token);
    expect([token, reply.status]).toEqual([token, 401]);
  }
  const token = await connectorToken(teams);
  expect((await deliver(team.service, { ...activity, channelId: 'webchat' }, token)).status).toBe(401);
  expect(
    (await deliver(team.service, { ...activity, serviceUrl: 'https://evil.example' }, token)).status,
  ).toBe(401);
  expect((await fetch(`${team.service.url}/chat/teams`)).status).toBe(405);
  expect(await team.statusOf(id)).toBe('pending');
});

test('a repeated activity, another person, and an ended link decide nothing', async () => {
  const team = await start();
  const id = await team.pay('pay.two');
  const message = await cardAbout(id);
  const { body } = await team.ann.send(`/v1/requests/${id}`);
  const data = { request: id, digest: body.digest };
  const activity = pressed(teams, anna, { message, verb: 'writ_approve', data });
  await deliver(team.service, activity, await connectorToken(teams));
  await team.ann.send(`/v1/requests/${id}/revoke-approval`, { method: 'POST' });
  await deliver(team.service, activity, await connectorToken(teams, { claims: { jti: 'another' } }));
  const after = (await team.ann.send(`/v1/requests/${id}`)).body.approvals;
  expect(after.map((one: { invalid_reason: string }) => one.invalid_reason)).toEqual(['revoked it']);

  expect(await voteOf(team, eve, { id })).toContain('not linked');
  expect(await voteOf(team, { ...anna, tenant: 'ffffffff-bbbb-4ccc-8ddd-eeeeeeeeeeee' }, { id })).toContain(
    'not of the organization',
  );
  expect(await voteOf(team, lea, { id })).toContain('no such request');
  expect(await voteOf(team, anna, { id, more: { digest: '0'.repeat(64) } })).toContain(
    'shows another request',
  );
  const by = { person: team.admin, roles: team.admin.roles };
  const [link] = (await linksOf(team.directory, team.ann.person.id)).links;
  await endLink(team.directory, by, { id: link!.id, personId: team.ann.person.id });
  expect(await voteOf(team, anna, { id })).toContain('not linked');
  await changePerson(team.directory, by, { id: team.ben.person.id, status: 'disabled' });
  expect(await voteOf(team, ben, { id })).toContain('not linked');
  expect(await team.statusOf(id)).toBe('pending');
});

test('a request above the risk of its group is decided in Writ', async () => {
  const team = await start();
  const id = await team.pay('pay.one', { vendor: 'Staples', amount: 2_000 });
  expect(cardActions(await cardAbout(id)).map((one) => one.title)).toEqual(['Open in Writ']);
  expect(await voteOf(team, anna, { id })).toContain('the policies do not allow this by chat');
  expect(await voteOf(team, anna, { id, verb: 'writ_reject', more: { comment: 'no' } })).toContain(
    'do not allow',
  );
  expect(await team.statusOf(id)).toBe('pending');
});

test('texts of agents stand in plain runs, without links, and secrets do not stand anywhere', async () => {
  const team = await start();
  const vendor = '[pay](https://evil.example) <at>all</at> \u202Egnp.exe';
  const id = await team.pay('pay.one', { vendor, amount: 20, token: 'tok-123456789' });
  const card = await cardAbout(id);
  const text = cardText(card);
  expect(text).toContain('⟨U+202E⟩');
  expect(text).toContain('(secret)');
  expect(text).not.toMatch(/tok-123456789|https:\/\/evil|evil\.example|"TextBlock"|FactSet/);
  expect(teams.faults).toEqual([]);
});

test('a reply in the thread becomes a comment, and `link CODE` names the account of a code', async () => {
  const team = await start();
  const id = await team.pay();
  const message = await cardAbout(id);
  const token = await connectorToken(teams);
  await deliver(team.service, said(teams, anna, { text: 'is this ours?', message }), token);
  await waitFor(async () =>
    expect((await team.ann.send(`/v1/requests/${id}`)).body.comments).toMatchObject([
      { kind: 'question', text: 'is this ours?', chat: team.ann.account },
    ]),
  );
  const by = { person: team.admin, roles: team.admin.roles };
  const made = await createLinkCode(team.directory, by);
  if (made.kind !== 'made') throw new Error(made.kind);
  await deliver(team.service, said(teams, eve, { text: `link ${made.code}`, message: null }), token);
  await waitFor(() => expect(teams.said.at(-1)?.text).toContain('confirm this account'));
  expect((await linksOf(team.directory, team.admin.id)).drafts).toMatchObject([
    { claim: { account: accountOf('eve'), name: 'eve' } },
  ]);
});

test('while Teams limits, nothing is granted or lost', async () => {
  const team = await start();
  teams.mood = 'limits';
  const id = await team.pay();
  await waitFor(() => expect(teams.calls).toContain('POST /teams/v3/conversations'));
  expect(teams.messages).toEqual([]);
  teams.mood = 'answers';
  team.time.nowMs += 2_000;
  expect(await voteOf(team, anna, { id })).toContain('recorded');
  await waitFor(async () => expect(cardText(await cardAbout(id))).toContain('Approved'));
});
