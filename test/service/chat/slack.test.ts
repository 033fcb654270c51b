// Slack end to end, against a Slack server written from its documents: the message about a request, votes by its buttons,
// the dialog, comments from the thread, and everything that must not decide.

import { expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { changePerson } from '../../../src/service/people/change-person.ts';
import { endLink, linksOf } from '../../../src/service/people/chat-links.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { authorize } from '../http/service.ts';
import { give, usePolicies } from '../http/written-policies.ts';
import { type ChatTeam, chatPolicies, slackSettings, startTeam, waitFor } from './chat-team.ts';
import {
  appTeam,
  buttonsOf,
  commandDelivery,
  deliver,
  eventDelivery,
  formDelivery,
  pressed,
  type SlackMessage,
  type SlackUser,
  saidInThread,
  shareSlack,
  submitted,
  textOf,
} from './slack-server.ts';

const slack = shareSlack();

const userOf = (name: string): SlackUser => ({ id: `U${name.toUpperCase()}`, team: appTeam, name });
const accountOf = (name: string) =>
  ({ service: 'slack', workspace: appTeam, user: userOf(name).id }) as const;
const [anna, ben, lea, eve] = ['anna', 'ben', 'lea', 'eve'].map(userOf) as [
  SlackUser,
  SlackUser,
  SlackUser,
  SlackUser,
];

async function start(): Promise<ChatTeam> {
  slack.messages.length = slack.ephemeral.length = slack.dialogs.length = 0;
  slack.calls.length = slack.faults.length = 0;
  slack.mood = 'answers';
  return await startTeam({ slack: slackSettings(slack) }, accountOf);
}

async function messageAbout(id: string): Promise<SlackMessage> {
  return await waitFor(() => {
    const message = slack.about(id);
    if (message === undefined) throw new Error('no message yet');
    return message;
  });
}

/** Presses Approve; resolves when Slack has its answer. */
async function press({ service }: ChatTeam, user: SlackUser, id: string): Promise<Response> {
  return await deliver(service, formDelivery(pressed(user, await messageAbout(id), 'writ_approve')));
}

async function told(user: SlackUser, text: string): Promise<void> {
  await waitFor(() =>
    expect(slack.ephemeral.filter((one) => one.user === user.id).at(-1)?.text).toContain(text),
  );
}

test('a press of Approve is the vote of the linked person, and the message follows', async () => {
  const team = await start();
  const id = await team.pay();
  const message = await messageAbout(id);
  expect(message.channel).toBe('CFINANCE');
  expect(buttonsOf(message).map((one) => one.action_id)).toEqual([
    'writ_approve',
    'writ_reject',
    'writ_open',
  ]);
  expect(textOf(message)).toContain('Needs 1 more approval by finance.');
  const reply = await press(team, anna, id);
  expect([reply.status, await reply.text()]).toEqual([200, '']);
  await waitFor(async () => expect(await team.statusOf(id)).toBe('approved'));
  const { body } = await team.ann.send(`/v1/requests/${id}`);
  expect(body.approvals).toMatchObject([
    { by: expect.stringContaining('anna@example.com'), is_approved: true, chat: team.ann.account },
  ]);
  await waitFor(() => expect(textOf(message)).toContain('approved for finance by Slack'));
  expect(buttonsOf(message).map((one) => one.action_id)).toEqual(['writ_open']);
  expect(
    slack.messages.filter(({ content }) => content.metadata.event_payload.request_id === id),
  ).toHaveLength(1);
  expect(slack.ephemeral).toEqual([]);
  expect(slack.faults).toEqual([]);
  expect(await verifyChain(team.service.store)).toMatchObject({ kind: 'whole' });
});

test('Reject asks for a comment, and the comment is recorded', async () => {
  const team = await start();
  const id = await team.pay();
  await deliver(team.service, formDelivery(pressed(ben, await messageAbout(id), 'writ_reject')));
  const dialog = await waitFor(() => slack.dialogs.at(-1) ?? Promise.reject(new Error('no dialog')));
  const empty = await deliver(team.service, formDelivery(submitted(ben, dialog.view, ' ')));
  expect(await empty.json()).toMatchObject({ response_action: 'errors' });
  expect(await team.statusOf(id)).toBe('pending');
  const said = await deliver(team.service, formDelivery(submitted(ben, dialog.view, 'not our vendor')));
  expect(await said.text()).toBe('');
  await waitFor(async () => expect(await team.statusOf(id)).toBe('rejected'));
  await waitFor(async () =>
    expect(textOf(await messageAbout(id))).toContain('rejected by Slack: not our vendor'),
  );
});

test('a request that needs two people follows both doors, and one person counts once', async () => {
  const team = await start();
  const id = await team.pay('pay.two');
  await press(team, anna, id);
  await waitFor(async () => expect(textOf(await messageAbout(id))).toContain('Needs 1 more approval'));
  await press(team, anna, id);
  await told(anna, 'you have approved this for finance');
  expect(await team.statusOf(id)).toBe('pending');
  expect((await give(team.ben, id, 'approve')).body.status).toBe('approved');
  await waitFor(async () => expect(textOf(await messageAbout(id))).toContain('Approved, valid until'));
});

test('the message says that a request was withdrawn, has expired, or was rejected in Writ', async () => {
  const team = await start();
  const [withdrawn, rejected, expired] = [await team.pay(), await team.pay(), await team.pay()];
  for (const id of [withdrawn, rejected, expired]) await messageAbout(id);
  const headers = { 'x-agent-api-key': team.service.apiKey };
  const path = `${team.service.url}/v1/requests/${withdrawn}/withdraw`;
  expect((await fetch(path, { method: 'POST', headers })).status).toBe(200);
  await give(team.ben, rejected, 'reject');
  await waitFor(async () =>
    expect(textOf(await messageAbout(withdrawn))).toContain('Withdrawn by the agent'),
  );
  await waitFor(async () => expect(textOf(await messageAbout(rejected))).toContain('rejected: looked at'));
  team.time.nowMs += 25 * 3_600_000;
  await waitFor(async () => expect(textOf(await messageAbout(expired))).toContain('Expired: nobody decided'));
  expect(slack.messages.map(({ updates }) => updates)).toEqual([1, 1, 1]);
});

test('a forged, a late and a repeated delivery decide nothing', async () => {
  const team = await start();
  const id = await team.pay('pay.two');
  const message = await messageAbout(id);
  const payload = pressed(anna, message, 'writ_approve');
  const statuses = await Promise.all(
    [
      formDelivery(payload, { secret: 'another' }),
      formDelivery(payload, { atMs: team.time.nowMs - 6 * 60_000 }),
      formDelivery(payload, { atMs: team.time.nowMs + 6 * 60_000 }),
      { ...formDelivery(payload), headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { ...formDelivery(payload), body: formDelivery(pressed(ben, message, 'writ_approve')).body },
    ].map(async (one) => (await deliver(team.service, one)).status),
  );
  expect(statuses).toEqual([401, 401, 401, 401, 401]);
  const good = formDelivery(payload);
  expect((await deliver(team.service, good)).status).toBe(200);
  await waitFor(async () =>
    expect((await team.ann.send(`/v1/requests/${id}`)).body.approvals).toHaveLength(1),
  );
  // The person takes the vote back; the delivery that is sent again must not bring it back.
  await team.ann.send(`/v1/requests/${id}/revoke-approval`, { method: 'POST' });
  expect((await deliver(team.service, good)).status).toBe(200);
  await new Promise((done) => setTimeout(done, 150));
  const { body } = await team.ann.send(`/v1/requests/${id}`);
  expect(body.approvals.map((one: { invalid_reason: string }) => one.invalid_reason)).toEqual(['revoked it']);
});

test('opening an address decides nothing', async () => {
  const team = await start();
  const id = await team.pay();
  const message = await messageAbout(id);
  const { headers, body } = formDelivery(pressed(anna, message, 'writ_approve'));
  for (const url of [`${team.service.url}/chat/slack`, `${team.service.url}/chat/slack?${body}`]) {
    const reply = await fetch(url, { headers });
    expect(reply.status).toBe(405);
  }
  const page = buttonsOf(message).find((one) => one.action_id === 'writ_open')?.url ?? '';
  await fetch(page.replace('http://localhost', team.service.url));
  await deliver(team.service, formDelivery(pressed(anna, message, 'writ_open')));
  expect(await team.statusOf(id)).toBe('pending');
});

test('an unlinked, a foreign and a disabled person, and an ended link, decide nothing', async () => {
  const team = await start();
  const id = await team.pay();
  await press(team, eve, id);
  await told(eve, 'not linked');
  // The same user id in another workspace is another account.
  await press(team, { ...anna, team: 'T0OTHER' }, id);
  await told(anna, 'not linked');
  await press(team, lea, id);
  await told(lea, 'there is no such request, or you may not see it');
  const by = { person: team.admin, roles: team.admin.roles };
  const [link] = (await linksOf(team.directory, team.ann.person.id)).links;
  expect(await endLink(team.directory, by, { id: link!.id, personId: team.ann.person.id })).toBe('ended');
  await press(team, anna, id);
  await told(anna, 'not linked');
  await changePerson(team.directory, by, { id: team.ben.person.id, status: 'disabled' });
  expect((await linksOf(team.directory, team.ben.person.id)).links).toEqual([]);
  await press(team, ben, id);
  await told(ben, 'not linked');
  expect(await team.statusOf(id)).toBe('pending');
});

test('another digest, another risk, another group and a step-up are not decided by chat', async () => {
  const team = await start();
  const id = await team.pay();
  const message = await messageAbout(id);
  const stale = JSON.stringify({ request: id, digest: '0'.repeat(64) });
  await deliver(team.service, formDelivery(pressed(anna, message, 'writ_approve', stale)));
  await told(anna, 'the message shows another request');
  for (const [action, payload, user] of [
    ['pay.one', { vendor: 'Staples', amount: 2_000 }, anna],
    ['pay.legal', { vendor: 'Staples', amount: 20 }, lea],
    ['pay.both', { vendor: 'Staples', amount: 20 }, anna],
    ['pay.step', { vendor: 'Staples', amount: 20 }, anna],
  ] as const) {
    const other = await team.pay(action, payload);
    const shown = await messageAbout(other);
    expect(buttonsOf(shown).map((one) => one.action_id)).toEqual(['writ_open']);
    const { body } = await (user === anna ? team.ann : team.lea).send(`/v1/requests/${other}`);
    const value = JSON.stringify({ request: other, digest: body.digest });
    for (const actionId of ['writ_approve', 'writ_reject'])
      await deliver(team.service, formDelivery(pressed(user, shown, actionId, value)));
    const dialog = await waitFor(() => slack.dialogs.at(-1) ?? Promise.reject(new Error('no dialog')));
    await deliver(team.service, formDelivery(submitted(user, dialog.view, 'no')));
    await told(user, 'Look at it in Writ');
    expect(await team.statusOf(other)).toBe('pending');
  }
  expect(await team.statusOf(id)).toBe('pending');
});

test('a vote by chat no longer counts once the policies do not allow it', async () => {
  const team = await start();
  const id = await team.pay('pay.two');
  await press(team, anna, id);
  await waitFor(async () =>
    expect((await team.ann.send(`/v1/requests/${id}`)).body.approvals).toHaveLength(1),
  );
  await usePolicies(team.service, chatPolicies.replace(' by chat up to risk 40', ''));
  expect((await give(team.ben, id, 'approve')).body.status).toBe('pending');
  const { body } = await team.ben.send(`/v1/requests/${id}`);
  expect(body.requires.invalidated).toMatchObject([
    { reason: 'approved by chat, which the policies no longer allow' },
  ]);
});

test('a message in the thread of a linked person becomes a comment', async () => {
  const team = await start();
  const id = await team.pay();
  const message = await messageAbout(id);
  const event = saidInThread(anna, message, 'which <https://x.example|project> is it for &amp; why?');
  await deliver(team.service, eventDelivery(event));
  // Slack sends an event again, with another signature, when it got no answer.
  await deliver(team.service, eventDelivery(event, { atMs: team.time.nowMs - 60_000 }));
  await deliver(team.service, eventDelivery(saidInThread(lea, message, 'I am not asked')));
  await deliver(team.service, eventDelivery(saidInThread(eve, message, 'I am not linked')));
  await told(eve, 'not linked');
  await told(lea, 'no such request');
  const comments = async () => (await team.ann.send(`/v1/requests/${id}`)).body.comments;
  await waitFor(async () =>
    expect(await comments()).toMatchObject([
      { kind: 'question', text: 'which project is it for & why?', chat: team.ann.account },
    ]),
  );
  expect(await team.statusOf(id)).toBe('pending');
});

test('Slack verifies the address with a challenge', async () => {
  const team = await start();
  const challenge = {
    token: 'x',
    challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
    type: 'url_verification',
  };
  const reply = await deliver(team.service, eventDelivery(challenge));
  expect(await reply.json()).toEqual({ challenge: challenge.challenge });
  expect((await deliver(team.service, eventDelivery(challenge, { secret: 'x' }))).status).toBe(401);
});

test('texts of agents are inert, invisible characters are shown, and secrets are not', async () => {
  const team = await start();
  const payload = {
    vendor: '<!channel> *bold* https://evil.example/a <@U123> \u202Egnp.exe & co',
    amount: 20,
    token: 'tok-123456789',
  };
  const id = await team.pay('pay.one', payload);
  const message = await messageAbout(id);
  const text = textOf(message);
  expect(text).not.toContain('tok-123456789');
  expect(text).toContain('(secret)');
  expect(text).toContain('⟨U+202E⟩');
  expect(text).toContain('Contains invisible characters: vendor');
  expect(text).not.toMatch(/<!channel|<@U|https:\/\/evil|\*bold\*|evil\.example|&co/);
  expect(slack.faults).toEqual([]);
});

test('values that the agent has never sent are named as unusual, as on the dashboard', async () => {
  const team = await start();
  for (let count = 0; count < 10; count += 1) await team.pay('pay.one', { vendor: 'Staples', amount: 5 });
  team.time.nowMs += 1_000;
  const id = await team.pay('pay.one', { vendor: 'St\u0430ples', amount: 20 });
  const text = textOf(await messageAbout(id));
  expect(text).toContain('Unusual amount: higher than ever: so far always 5');
  expect(text).toContain('Letters that may deceive: vendor mixes');
  expect(text).toContain('U+0430 CYRILLIC SMALL LETTER A');
  expect(text).toContain('it looks like Staples, granted 10 times before');
});

test('a message that cannot show the whole payload has no buttons that vote', async () => {
  const team = await start();
  const long = await team.pay('pay.one', { vendor: 'x'.repeat(5_000), amount: 20 });
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, at]));
  const wide = await team.pay('pay.one', { vendor: 'Staples', amount: 20, ...many });
  for (const id of [long, wide]) {
    const message = await messageAbout(id);
    expect(buttonsOf(message).map((one) => one.action_id)).toEqual(['writ_open']);
    expect(textOf(message)).toContain('cannot show all of it');
  }
  expect(slack.faults).toEqual([]);
});

test('while Slack limits or is down, nothing is granted or lost, and no message comes twice', async () => {
  const team = await start();
  slack.mood = 'limits';
  const id = await team.pay();
  await waitFor(() => expect(slack.calls).toContain('chat.postMessage'));
  const limited = slack.calls.length;
  await new Promise((done) => setTimeout(done, 150));
  expect(slack.calls.length).toBe(limited);
  // Slack takes the message, and its answer is lost.
  slack.mood = 'loses';
  team.time.nowMs += 2_000;
  await messageAbout(id);
  slack.mood = 'answers';
  team.time.nowMs += 120_000;
  await press(team, anna, id);
  await waitFor(async () => expect(await team.statusOf(id)).toBe('approved'));
  team.time.nowMs += 5_000;
  await waitFor(async () => expect(textOf(await messageAbout(id))).toContain('Approved'));
  expect(slack.messages).toHaveLength(1);
  expect(slack.calls).toContain('conversations.history');
});

test('an account is linked by a code, entered in Slack and confirmed in a session', async () => {
  const team = await start();
  const actor: Person = team.admin;
  const { body, status } = await team.ann.send('/v1/chat-links');
  expect([status, body.type]).toEqual([403, 'urn:writ:error:session_needed']);
  expect(actor.email).toBe('ann@example.com');
  const reply = await deliver(team.service, commandDelivery(eve, 'link WRONGCODE1'));
  expect(reply.status).toBe(200);
  await told(eve, 'not valid or has ended');
  await deliver(team.service, commandDelivery(eve, 'help'));
  await told(eve, 'Write /writ link CODE');
});

test('requests that people need not decide are not announced', async () => {
  const team = await start();
  await authorize(team.service, { body: '{"action_key":"pay.none","payload":{}}' });
  await new Promise((done) => setTimeout(done, 120));
  expect(slack.messages).toEqual([]);
});
