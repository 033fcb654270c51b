// The policies, the records and the webhooks over HTTP.

import { rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRequestEvents } from '../../../src/service/requests/record/request-events.ts';
import { webhookEvents } from '../../../src/service/webhooks/webhook.ts';
import { createAuthenticator } from '../people/authenticator.ts';
import { tamper } from '../store/place.ts';
import { startMailServer } from '../webhooks/mail-server.ts';
import { firstAdmin, password, personWith, signedIn, tokenClient } from './person-client.ts';
import { authorize, policyText, startService } from './service.ts';

async function startWithAdmin(changes: Parameters<typeof startService>[0] = {}) {
  const service = await startService(changes);
  const admin = await firstAdmin(service);
  return { service, admin, ann: await tokenClient(service, admin) };
}

const post = (body?: unknown) => ({ method: 'POST', ...(body === undefined ? {} : { body }) });

describe('policies', () => {
  test('shows the active set, and reloads the directory on request', async () => {
    const { service, ann } = await startWithAdmin();
    const { body } = await ann.send('/v1/policies');
    expect(body).toMatchObject({
      state: { status: 'current', digest: service.policies.state().digest, failure: null },
      approvers: [{ name: 'finance', title: 'Finance' }],
      items: [{ name: 'demo', owner: null, doc: null, rules: 5, file: 'demo.policy' }],
      next_cursor: null,
    });
    writeFileSync(service.policyFile, policyText.replace('policy demo', 'policy other'));
    const reloaded = await ann.send('/v1/policies/reload', post());
    expect([reloaded.status, reloaded.body.status]).toEqual([200, 'current']);
    expect((await ann.send('/v1/policies')).body.items).toMatchObject([{ name: 'other' }]);
  });

  test('that have errors are reported, and the last good ones stay active', async () => {
    const { service, ann } = await startWithAdmin();
    writeFileSync(
      service.policyFile,
      `${policyText}\npolicy broken on demo.* { allow nothing when nonsense }`,
    );
    const { body } = await ann.send('/v1/policies/reload', post());
    expect(body).toMatchObject({
      status: 'stale',
      digest: service.policies.state().digest,
      failure: { cause: 'policies', diagnostics: [{ file: 'demo.policy' }] },
    });
    expect((await ann.send('/v1/policies')).body.state).toEqual(body);
    expect(JSON.stringify(body)).not.toContain(service.policyFile);
  });

  test('are listed in pages', async () => {
    const { service, ann } = await startWithAdmin();
    const more = Array.from({ length: 5 }, (_, i) => `policy p${i} on demo.* { risk r +1 }`).join('\n');
    writeFileSync(service.policyFile, `${policyText}\n${more}`);
    await ann.send('/v1/policies/reload', post());
    const names: string[] = [];
    let cursor = '';
    do {
      const { body } = await ann.send(`/v1/policies?limit=2${cursor && `&cursor=${cursor}`}`);
      names.push(...body.items.map(({ name }: { name: string }) => name));
      cursor = body.next_cursor ?? '';
    } while (cursor !== '');
    expect(names.toSorted()).toEqual(['demo', 'p0', 'p1', 'p2', 'p3', 'p4']);
  });
});

describe('the record of changes', () => {
  test('is filtered by person, kind, subject and time, the latest first', async () => {
    const { service, admin, ann } = await startWithAdmin();
    const olga = await personWith(service, admin, { email: 'olga@example.com', roles: ['operator'] });
    const path = `/v1/agents/${service.agent.id}`;
    await olga.send(`${path}/disable`, post());
    await ann.send(`${path}/enable`, post());
    const whats = async (query: string) =>
      (await ann.send(`/v1/audit?${query}`)).body.items.map(({ what }: { what: string }) => what);
    expect((await whats(`subject=${service.agent.id}`)).slice(0, 2)).toEqual([
      'agent-enabled',
      'agent-disabled',
    ]);
    expect(await whats('who=OLGA&what=agent-disabled')).toEqual(['agent-disabled']);
    expect(await whats('who=olga&what=agent-enabled')).toEqual([]);
    expect(await whats('from=2100-01-01')).toEqual([]);
    expect(await whats('to=2000-01-01')).toEqual([]);
    const [change] = (await ann.send('/v1/audit?what=agent-disabled')).body.items;
    expect(change).toMatchObject({ before: { status: 'active' }, after: { status: 'disabled' } });
    for (const wrong of ['from=yesterday', 'cursor=abc', 'cursor=MTIzOmFiYw']) {
      const answer = await ann.send(`/v1/audit?${wrong}`);
      expect([wrong, answer.status]).toEqual([wrong, 400]);
    }
  });

  test('has pages that together contain each change once', async () => {
    const { service, ann } = await startWithAdmin();
    const all = await service.store.chain.changes({ beforeSequence: null, countMax: 100 });
    const sequences: number[] = [];
    let cursor = '';
    do {
      const { body } = await ann.send(`/v1/audit?limit=1${cursor && `&cursor=${cursor}`}`);
      sequences.push(...body.items.map(({ sequence }: { sequence: number }) => sequence));
      cursor = body.next_cursor ?? '';
    } while (cursor !== '');
    expect(all.length).toBeGreaterThan(2);
    expect(sequences).toEqual(all.map(({ sequence }) => sequence));
  });
});

describe('a walk over the records', () => {
  test('finds them unchanged, or names the first changed record', async () => {
    const { service, ann } = await startWithAdmin();
    for (let i = 0; i < 30; i++) await authorize(service);
    const whole = await ann.send('/v1/audit/verify', post({}));
    const last = (await service.store.chain.segment(0, 1)).lastSequence;
    expect(whole.body).toEqual({
      status: 'intact',
      checked: last,
      last_sequence: last,
      cursor: null,
      break: null,
    });
    await tamper(
      service.place,
      "UPDATE requests SET action_key = 'demo.deny' WHERE sequence = (SELECT max(sequence) - 5 FROM requests)",
    );
    const broken = await ann.send('/v1/audit/verify', post({}));
    expect(broken.body).toMatchObject({
      status: 'broken',
      cursor: null,
      break: { sequence: last - 5, difference: 'content' },
    });
  });

  test('continues where it stopped, with the hash of the last record', async () => {
    const { service, ann } = await startWithAdmin();
    for (let i = 0; i < 30; i++) await authorize(service);
    const { records } = await service.store.chain.segment(0, 20);
    const at = records.at(-1)!;
    const cursorOf = (sequence: number, hash: string) =>
      Buffer.from(JSON.stringify([sequence, hash])).toString('base64url');
    const cursor = cursorOf(at.entry.sequence, at.hash);
    const last = (await service.store.chain.segment(0, 1)).lastSequence;
    const rest = await ann.send('/v1/audit/verify', post({ cursor }));
    expect(rest.body).toMatchObject({ status: 'intact', checked: last - at.entry.sequence });
    const forged = cursorOf(at.entry.sequence, '0'.repeat(64));
    expect((await ann.send('/v1/audit/verify', post({ cursor: forged }))).body.status).toBe('broken');
    const beyond = cursorOf(last + 5, at.hash);
    expect((await ann.send('/v1/audit/verify', post({ cursor: beyond }))).body).toMatchObject({
      status: 'broken',
      break: { sequence: last + 1, difference: 'truncated' },
    });
    expect((await ann.send('/v1/audit/verify', post({ cursor: 'x' }))).status).toBe(400);
  });

  test('does not block decisions', async () => {
    const { service, ann } = await startWithAdmin();
    await Promise.all(Array.from({ length: 400 }, () => authorize(service)));
    let isOver = false;
    const walk = ann.send('/v1/audit/verify', post({})).finally(() => {
      isOver = true;
    });
    let turns = 0;
    while (!isOver) {
      turns++;
      await new Promise((next) => setImmediate(next));
    }
    expect((await walk).body.status).toBe('intact');
    // The walk reads stretches of eight records; between them other work gets at least this many turns.
    expect(turns).toBeGreaterThan(400 / 8);
  });
});

describe('an export of the records', () => {
  test('contains the chain, each line linked to the one before', async () => {
    const { service, ann } = await startWithAdmin();
    for (let i = 0; i < 30; i++) await authorize(service);
    const reply = await fetch(`${service.url}/v1/audit/export`, { headers: ann.headers });
    expect(reply.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
    const lines = (await reply.text()).trimEnd().split('\n');
    const { records } = await service.store.chain.segment(0, 1_000);
    expect(lines.map((line) => JSON.parse(line).hash)).toEqual(records.map(({ hash }) => hash));
    expect(lines.slice(1).map((line) => JSON.parse(line).previous)).toEqual(
      records.slice(0, -1).map(({ hash }) => hash),
    );
    const none = await fetch(`${service.url}/v1/audit/export?from=2100-01-01`, { headers: ann.headers });
    expect([none.status, await none.text()]).toEqual([200, '']);
    expect((await ann.send('/v1/audit/export?from=soon')).status).toBe(400);
  });

  test('does not delay a stop while it is in progress', async () => {
    const { service, ann } = await startWithAdmin();
    const note = 'x'.repeat(100_000);
    const body = JSON.stringify({ action_key: 'demo.allow', payload: { note } });
    await Promise.all(Array.from({ length: 200 }, () => authorize(service, { body })));
    // The client stops reading, so the rest of the lines cannot be sent.
    const reply = await new Promise<IncomingMessage>((began) => {
      get(`${service.url}/v1/audit/export`, { headers: ann.headers }, began);
    });
    const cut = new Promise((ended) => reply.on('error', ended));
    await service.close();
    reply.resume();
    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('e-mail', () => {
  test('a mail server that is down fails no request, and the log says so', async () => {
    const { service, ann } = await startWithAdmin({
      smtp: { url: 'smtp://127.0.0.1:1', from: 'writ@example.com' },
    });
    const body = { email: 'ben@example.com', name: 'Ben', roles: ['auditor'] };
    expect((await ann.send('/v1/invitations', post(body))).status).toBe(201);
    await service.close();
    expect(service.log.join('')).not.toContain('ben@example.com');
  });

  test('goes to the groups of a pending request, and to people who are invited or declined', async () => {
    const requestEvents = createRequestEvents();
    const mail = await startMailServer();
    const { service, admin, ann } = await startWithAdmin({
      requestEvents,
      publicUrl: 'https://writ.example.com',
      smtp: { url: mail.url, from: 'writ@example.com' },
    });
    const groups = ['finance'];
    await personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups });
    await personWith(service, admin, { email: 'eve@example.com', roles: ['approver'], groups: ['security'] });
    const about = { actionKey: 'demo.escalate', title: 'Pay 4,200.00 USD to Staples' };
    const request = { requestId: 'r1', agentId: 'a1', ...about, atMs: Date.now() };
    requestEvents.emit({ ...request, kind: 'pending', status: 'pending', groups, asksStepUp: false });
    await expect.poll(() => mail.taken.length).toBe(1);
    expect(mail.taken[0]?.to).toEqual(['RCPT TO:<ben@example.com>']);
    expect(mail.taken[0]?.text).toContain('Subject: Writ: approve or reject Pay 4,200.00 USD to Staples');
    expect(mail.taken[0]?.text).toContain('https://writ.example.com/approvals/r1');
    const body = { email: 'zoe@example.com', name: 'Zoe', roles: ['auditor'] };
    const invited = await ann.send('/v1/invitations', post(body));
    await expect.poll(() => mail.taken.length).toBe(2);
    expect(unfolded(mail.taken[1]?.text)).toContain(`/invitation#token=${invited.body.token}`);
    const ask = { email: 'max@example.com', name: 'Max', reason: 'curious' };
    const { id } = (await ann.send('/v1/applications', post(ask))).body;
    await ann.send(`/v1/applications/${id}/decline`, post({ reason: 'ask your own team first' }));
    // An admin gets a message about the application, and the applicant about the answer.
    await expect.poll(() => mail.taken.length).toBe(4);
    const toMax = mail.taken.find(({ to }) => to.includes('RCPT TO:<max@example.com>'));
    expect(toMax?.text).toContain('ask your own team first');
  });

  test('goes to the person whose second factor was changed, without the name of the factor', async () => {
    const mail = await startMailServer();
    const { service } = await startWithAdmin({
      smtp: { url: mail.url, from: 'writ@example.com' },
      publicUrl: 'https://writ.example.com',
    });
    const session = await signedIn(service, 'ann@example.com');
    const device = createAuthenticator({ origin: 'https://writ.example.com' });
    const options = await session.send('/v1/session/passkeys/options', { method: 'POST' });
    const sent = { name: 'hidden-name', response: device.create(options.body) };
    expect((await session.send('/v1/session/passkeys', post(sent))).status).toBe(403);
    const again = await session.send('/v1/session/passkeys/options', { method: 'POST' });
    const response = device.create(again.body);
    expect((await session.send('/v1/session/passkeys', post({ ...sent, response, password }))).status).toBe(
      201,
    );
    await expect.poll(() => mail.taken.length).toBe(1);
    expect(mail.taken[0]?.to).toEqual(['RCPT TO:<ann@example.com>']);
    expect(unfolded(mail.taken[0]?.text)).toContain('a passkey was added to your account');
    expect(mail.taken[0]?.text).not.toContain('hidden-name');
  });

  /** Quoted-printable breaks long lines and writes `=` as `=3D`. */
  const unfolded = (text = ''): string => text.replaceAll('=\n', '').replaceAll('=3D', '=');
});

async function startReceiver() {
  const bodies: { type: string; data: { id: string; links: object } }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    bodies.push(JSON.parse(body));
    response.writeHead(204).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, bodies };
}

describe('a webhook', () => {
  test('is created, changed, given another secret, tested and removed', async () => {
    const { ann } = await startWithAdmin({ areWebhooksPrivate: true });
    const { url, bodies } = await startReceiver();
    const made = await ann.send('/v1/webhooks', post({ url, events: ['agent.revoked'] }));
    expect(made.status).toBe(201);
    expect(made.body.secret).toMatch(/^whsec_/);
    const path = `/v1/webhooks/${made.body.webhook.id}`;
    expect((await ann.send(path)).body).toEqual(made.body.webhook);
    expect(JSON.stringify((await ann.send('/v1/webhooks')).body)).not.toContain('whsec_');
    const renewed = await ann.send(`${path}/secret`, post());
    expect([renewed.status, renewed.body.secret === made.body.secret]).toEqual([201, false]);
    const tried = await ann.send(`${path}/test`, post());
    expect([tried.status, tried.body.type]).toEqual([202, 'webhook.test']);
    await expect.poll(() => bodies.length).toBe(1);
    await expect
      .poll(async () => (await ann.send(`${path}/deliveries`)).body.items[0].status)
      .toBe('delivered');
    const off = await ann.send(path, { method: 'PATCH', body: { status: 'disabled' } });
    expect(off.body.status).toBe('disabled');
    expect((await ann.send(path, { method: 'DELETE' })).status).toBe(204);
    expect((await ann.send(path)).status).toBe(404);
    expect((await ann.send(`${path}/deliveries`)).status).toBe(404);
    expect((await ann.send(`${path}/test`, post())).status).toBe(404);
  });

  test('may be told of every event', async () => {
    const { ann } = await startWithAdmin();
    const made = await ann.send(
      '/v1/webhooks',
      post({ url: 'https://hooks.example.com/', events: webhookEvents }),
    );
    expect([made.status, made.body.webhook.events.toSorted()]).toEqual([201, webhookEvents.toSorted()]);
  });

  test('shows its complete address only to people who may change it', async () => {
    const { service, admin, ann } = await startWithAdmin();
    const url = 'https://hooks.example.com/services/T0K3N?key=s3cret';
    const { webhook } = (await ann.send('/v1/webhooks', post({ url, events: ['agent.revoked'] }))).body;
    const eve = await personWith(service, admin, { email: 'eve@example.com', roles: ['auditor'] });
    for (const path of ['/v1/webhooks', `/v1/webhooks/${webhook.id}`]) {
      expect(JSON.stringify((await ann.send(path)).body)).toContain('T0K3N');
      const seen = JSON.stringify((await eve.send(path)).body);
      expect(seen).toContain('https://hooks.example.com/...');
      expect(seen).not.toMatch(/T0K3N|s3cret/);
    }
  });

  test('is sent a pending request and its end', async () => {
    const { service, admin, ann } = await startWithAdmin({ areWebhooksPrivate: true });
    const { url, bodies } = await startReceiver();
    await ann.send('/v1/webhooks', post({ url, events: ['request.pending', 'request.decided'] }));
    const ben = await personWith(service, admin, {
      email: 'ben@example.com',
      roles: ['approver'],
      groups: ['finance'],
    });
    const asked = await authorize(service, {
      body: '{"action_key":"demo.escalate","payload":{"n":"s3cret"}}',
    });
    const { request_id: id } = (await asked.json()) as { request_id: string };
    await expect.poll(() => bodies.length).toBe(1);
    const data = { id, links: { request: `http://localhost/v1/requests/${id}` } };
    expect(bodies[0]).toMatchObject({ type: 'request.pending', data });
    const approved = await ben.send(`/v1/requests/${id}/approve`, post({ comment: 'it is right' }));
    expect(approved.status).toBe(200);
    await expect.poll(() => bodies.length).toBe(2);
    expect(bodies[1]).toMatchObject({ type: 'request.decided', data });
    expect(JSON.stringify(bodies)).not.toContain('s3cret');
    await authorize(service);
    expect(bodies).toHaveLength(2);
  });

  test.each([
    'http://hooks.example.com/',
    'https://127.0.0.1/',
    'https://10.0.0.1/',
    'https://user:password@hooks.example.com/',
    'nonsense',
  ])('is not made to %s', async (url) => {
    const { ann } = await startWithAdmin();
    const answer = await ann.send('/v1/webhooks', post({ url, events: ['agent.revoked'] }));
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/url']);
  });

  test('is sent requests, failed policy changes, and revoked agents', async () => {
    const requestEvents = createRequestEvents();
    const { service, ann } = await startWithAdmin({ areWebhooksPrivate: true, requestEvents });
    const { url, bodies } = await startReceiver();
    const events = ['request.pending', 'request.decided', 'policies.reload_failed', 'agent.revoked'];
    await ann.send('/v1/webhooks', post({ url, events }));
    // The first look at the record of changes starts after the records that exist by then.
    await expect.poll(() => service.store.documents.find('webhook-cursor', 'revocations')).not.toBeNull();
    const about = { actionKey: 'demo.escalate', title: 'Pay 4,200.00 USD to Staples' };
    const request = { requestId: 'r1', agentId: 'a1', ...about, atMs: Date.now() };
    requestEvents.emit({
      ...request,
      kind: 'pending',
      status: 'pending',
      groups: ['finance'],
      asksStepUp: false,
    });
    requestEvents.emit({ ...request, kind: 'decided', status: 'approved', groups: [], asksStepUp: false });
    writeFileSync(service.policyFile, 'nonsense');
    await ann.send('/v1/policies/reload', post());
    await ann.send(`/v1/agents/${service.agent.id}/revoke`, post({ name: 'buyer' }));
    await expect.poll(() => bodies.map(({ type }) => type).toSorted()).toEqual(events.toSorted());
    expect(bodies.find(({ type }) => type === 'agent.revoked')?.data).toEqual({
      id: service.agent.id,
      links: { agent: `http://localhost/v1/agents/${service.agent.id}` },
    });
    rmSync(service.policyFile, { force: true });
  });
});
