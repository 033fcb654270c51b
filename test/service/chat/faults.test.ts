// Votes by chat under faults: links that end and stores that fail between the judgement and the write, several processes on
// one store, and a service that is killed after it has acknowledged a press.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { createApp } from '../../../src/service/http/app.ts';
import { tokenDigest } from '../../../src/service/http/resources/policies/plants.ts';
import { endLink, linksOf } from '../../../src/service/people/chat-links.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { tries } from '../../support/tries.ts';
import { client, firstAdmin, password, personWith, send, signedIn } from '../http/person-client.ts';
import { temporaryDirectory } from '../http/service.ts';
import { placeInFile } from '../store/place.ts';
import { type ChatTeam, chatPolicies, linkAccount, slackSettings, startTeam, waitFor } from './chat-team.ts';
import {
  appTeam,
  botToken,
  commandDelivery,
  deliver,
  formDelivery,
  pressed,
  type SlackMessage,
  shareSlack,
  signingSecret,
  textOf,
} from './slack-server.ts';

const slack = shareSlack();
const userOf = (name: string) => ({ id: `U${name.toUpperCase()}`, team: appTeam, name });
const accountOf = (name: string) =>
  ({ service: 'slack', workspace: appTeam, user: userOf(name).id }) as const;

function start(): Promise<ChatTeam> {
  slack.messages.length = slack.ephemeral.length = 0;
  return startTeam({ slack: slackSettings(slack) }, accountOf);
}

async function messageAbout(id: string): Promise<SlackMessage> {
  return await waitFor(() => slack.about(id) ?? Promise.reject(new Error('no message yet')));
}

async function press(service: { readonly url: string }, name: string, id: string): Promise<Response> {
  return await deliver(service, formDelivery(pressed(userOf(name), await messageAbout(id), 'writ_approve')));
}

const told = (text: string) => waitFor(() => expect(slack.ephemeral.at(-1)?.text).toContain(text));

test('a link that ends, and a person who is disabled, between the judgement and the write, grant nothing', async () => {
  const team = await start();
  const { requests } = team.service.store;
  const change = requests.change.bind(requests);
  const by = { person: team.admin, roles: team.admin.roles };
  const endings = [
    async () => {
      const [link] = (await linksOf(team.directory, team.ann.person.id)).links;
      await endLink(team.directory, by, { id: link!.id, personId: team.ann.person.id });
    },
    async () => {
      const found = await team.directory.people.find(team.ben.person.id);
      const disabled = { ...found!.value, status: 'disabled' } as const;
      await team.directory.documents.write([team.directory.people.put(disabled, found!.version)], null);
    },
  ];
  for (const [at, name] of ['anna', 'ben'].entries()) {
    const id = await team.pay();
    const spy = vi.spyOn(requests, 'change').mockImplementationOnce(async (asked) => {
      await endings[at]!();
      return await change(asked);
    });
    await press(team.service, name, id);
    await told('Not recorded: this chat account is not linked to a person');
    spy.mockRestore();
    expect(await team.statusOf(id)).toBe('pending');
  }
  expect(await verifyChain(team.service.store)).toMatchObject({ kind: 'whole' });
});

test('a store that fails grants nothing, and the person is told', async () => {
  const team = await start();
  const id = await team.pay();
  await messageAbout(id);
  const spy = vi
    .spyOn(team.service.store.requests, 'change')
    .mockRejectedValue(new Error('the disk is full'));
  await press(team.service, 'anna', id);
  await told('Writ could not record this. Nothing was decided.');
  spy.mockRestore();
  expect(await team.statusOf(id)).toBe('pending');
  // A delivery that cannot be noted is not acted on: it could come again.
  const write = vi
    .spyOn(team.service.store.documents, 'write')
    .mockRejectedValue(new Error('the disk is full'));
  expect((await press(team.service, 'anna', id)).status).toBe(500);
  write.mockRestore();
  expect(await team.statusOf(id)).toBe('pending');
});

test('the control owner of the agent is not one of several people, by chat either', async () => {
  const team = await start();
  const { agent, store } = team.service;
  const id = await team.pay('pay.two');
  const admin = await signedIn(team.service, team.admin.email);
  const body = { control_owner: 'anna@example.com' };
  const changed = await admin.send(`/v1/agents/${agent.id}`, { method: 'PATCH', body });
  expect(changed.status).toBe(200);
  await press(team.service, 'anna', id);
  await told('the control owner of the agent cannot be one of them');
  expect((await store.requests.events(id)).length).toBe(0);
});

test('of two processes on one store, one posts and one updates each message', async () => {
  const team = await start();
  const { store, policies } = team.service;
  const other = createApp({
    store,
    policies,
    sandboxTokenDigest: tokenDigest('another'),
    rate: { perMinute: 60_000, burst: 10_000 },
    log: { level: 'silent', stream: { write: () => undefined } },
    slack: slackSettings(slack),
    chats: { everyMs: 10 },
    clock: () => team.time.nowMs,
  });
  await other.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => other.close());
  const ids = await Promise.all(Array.from({ length: 8 }, () => team.pay()));
  for (const id of ids) await messageAbout(id);
  await new Promise((done) => setTimeout(done, 100));
  expect(slack.messages).toHaveLength(ids.length);
  for (const id of ids) await press(team.service, 'anna', id);
  for (const id of ids)
    await waitFor(async () => expect(textOf(await messageAbout(id))).toContain('Approved'));
  expect(slack.messages.map(({ updates }) => updates)).toEqual(ids.map(() => 1));
});

test('a person links their account: a code with a proof, its entry in Slack, and the confirmation', async () => {
  const team = await start();
  const eve = await personWith(team.service, team.admin, {
    email: 'eve@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const session = await signedIn(team.service, 'eve@example.com');
  const make = (body: object) => session.send('/v1/chat-links', { method: 'POST', body });
  expect((await make({})).status).toBe(403);
  const made = await make({ password });
  expect(made.status).toBe(201);
  const confirm = (id: string) => session.send(`/v1/chat-links/${id}/confirm`, { method: 'POST' });
  expect((await confirm(made.body.id)).status).toBe(409);
  const id = await team.pay();
  await deliver(team.service, commandDelivery(userOf('eve'), `link ${made.body.code.toLowerCase()}`));
  await told('confirm this account on your account page');
  // A code is entered once: who enters it later is told that it is not valid.
  await deliver(team.service, commandDelivery(userOf('mallory'), `link ${made.body.code}`));
  await told('not valid or has ended');
  await press(team.service, 'eve', id);
  await told('not linked');
  const { body } = await session.send('/v1/chat-links');
  expect(body).toMatchObject({
    services: ['slack'],
    items: [{ status: 'entered', account: { workspace: appTeam, user: 'UEVE', name: 'eve' } }],
  });
  // Nobody else confirms it.
  const other = await signedIn(team.service, 'ben@example.com');
  expect((await other.send(`/v1/chat-links/${made.body.id}/confirm`, { method: 'POST' })).status).toBe(404);
  expect((await confirm(made.body.id)).body).toMatchObject({ status: 'linked' });
  await press(team.service, 'eve', id);
  await waitFor(async () => expect(await team.statusOf(id)).toBe('approved'));
  // An account belongs to one person, and a person has one account in a workspace.
  for (const [name, why] of [
    ['anna', 'this chat account is linked already'],
    ['third', 'you have linked another account of this workspace'],
  ] as const) {
    const again = await make({ password });
    await deliver(team.service, commandDelivery(userOf(name), `link ${again.body.code}`));
    await waitFor(async () => expect((await confirm(again.body.id)).body.detail).toContain(why));
  }
  const admin = await signedIn(team.service, team.admin.email);
  const links = await admin.send(`/v1/people/${eve.person.id}/chat-links`);
  const [link] = links.body.items;
  const path = `/v1/people/${eve.person.id}/chat-links/${link.id}`;
  expect((await admin.send(path, { method: 'DELETE' })).status).toBe(204);
  const { chain } = team.service.store;
  const changes = (await chain.changes({ beforeSequence: null, countMax: 200 })).map(({ what }) => what);
  expect(changes).toContain('chat-linked');
  expect(changes).toContain('chat-unlinked');
  // A new password ends the links that were made before.
  const change = { password, new_password: 'another horse battery staple' };
  const own = await signedIn(team.service, 'ben@example.com');
  expect((await own.send('/v1/session/password', { method: 'POST', body: change })).status).toBe(200);
  expect((await linksOf(team.directory, team.ben.person.id)).links).toEqual([]);
});

/** Starts the service as a process of its own; resolves when it listens. */
async function spawnService(directory: string): Promise<{ url: string; process: ChildProcess }> {
  const script = join(import.meta.dirname, '../http/serve-child.ts');
  const child = spawn(process.execPath, [script], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (/listens on \S+/.test(printed)) break;
  }
  return { url: /listens on (\S+)/.exec(printed)?.[1] ?? '', process: child };
}

test('a service that is killed after it has acknowledged a press has the vote once or not at all', async () => {
  slack.messages.length = 0;
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'policies'));
  writeFileSync(join(directory, 'policies', 'pay.policy'), chatPolicies);
  const settings = {
    bot_token: botToken,
    signing_secret: signingSecret,
    channel: 'CFINANCE',
    api: slack.url,
  };
  writeFileSync(join(directory, 'writ.yaml'), JSON.stringify({ slack: settings, log: { level: 'silent' } }));
  mkdirSync(join(directory, 'var'));
  const { place } = placeInFile(join(directory, 'var'));
  const store = await openStore(place);
  const admin = await firstAdmin({ store });
  const anna = await personWith({ store, url: '' }, admin, {
    email: 'anna@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  await linkAccount(createDirectory(store.documents, Date.now), anna.person, accountOf('anna'));
  const added = await addAgent(store, { name: 'buyer', riskTier: 'low', controlOwner: 'ops', tags: [] });
  if (added.kind !== 'added') throw new Error(added.kind);
  await store.close();
  let running = await spawnService(directory);
  for (let round = 0; round < tries(1); round += 1) {
    const body = { action_key: 'pay.one', payload: { vendor: 'Staples', amount: 20 } };
    const headers = { 'x-agent-api-key': added.apiKey };
    const asked = await send(running, '/v1/authorize', { method: 'POST', headers, body });
    const id: string = asked.body.request_id;
    expect((await press(running, 'anna', id)).status).toBe(200);
    await new Promise((done) => setTimeout(done, round * 4));
    running.process.kill('SIGKILL');
    running = await spawnService(directory);
    const look = () => client(running, headers).send(`/v1/requests/${id}`);
    const { status, approvals } = (await look()).body;
    expect([status, approvals.length]).toEqual(status === 'approved' ? ['approved', 1] : ['pending', 0]);
    if (status === 'pending') await press(running, 'anna', id);
    await waitFor(async () => expect((await look()).body.status).toBe('approved'));
    expect((await look()).body.approvals).toHaveLength(1);
    await waitFor(async () => expect(textOf(await messageAbout(id))).toContain('Approved'));
  }
  running.process.kill('SIGKILL');
  expect(slack.messages.map(({ content }) => content.metadata.event_payload.request_id)).toHaveLength(
    new Set(slack.messages.map(({ content }) => content.metadata.event_payload.request_id)).size,
  );
});
