// /v1/events: events for whoever may see the thing that changed, few events of a kind, and an end with the
// session.

import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { setImmediate as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createEventStream, streamsOfPersonMax } from '../../../src/service/http/events/event-streams.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { createKillSwitchBoard } from '../../../src/service/people/kill-switches.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { readEvents } from './event-reader.ts';
import { type Client, firstAdmin, personWith, signedIn, tokenClient } from './person-client.ts';
import { authorize, policyText, problemOf, type Service, startService } from './service.ts';

const wait = { timeout: 60_000, interval: 20 };
/** Event streams check often, so that a test need not wait. */
const eventStreamsTiming = { checkMs: 100 };

async function setUp(changes: Parameters<typeof startService>[0] = { eventStreamsTiming }) {
  const service = await startService(changes);
  const ann = await firstAdmin(service);
  return { service, ann, admin: await tokenClient(service, ann) };
}

const escalate = { body: '{"action_key":"demo.escalate","payload":{}}' };
const kindsOf = ({ received }: { readonly received: readonly { readonly kind: string }[] }) =>
  [...new Set(received.map(({ kind }) => kind))].toSorted();

describe('an event stream', () => {
  test('begins with the reconnection time, and names the kind of each change', async () => {
    const { service, admin } = await setUp();
    const reader = await readEvents(service, admin);
    expect([reader.status, reader.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect([reader.headers['cache-control'], reader.headers['x-accel-buffering']]).toEqual([
      'no-store',
      'no',
    ]);
    await vi.waitFor(() => expect(reader.text()).toBe('retry: 2000\n\n'), wait);
    await authorize(service);
    await vi.waitFor(() => expect(kindsOf(reader)).toEqual(['requests']), wait);
    await authorize(service, escalate);
    await vi.waitFor(() => expect(kindsOf(reader)).toEqual(['approvals', 'requests']), wait);
    expect(Date.parse(reader.received[0]?.at ?? '')).not.toBeNaN();
    writeFileSync(service.policyFile, policyText.replace('for 10m', 'for 11m'));
    await service.policies.reload();
    await vi.waitFor(() => expect(kindsOf(reader)).toContain('policies'), wait);
  });

  test('contains changes made by other processes', async () => {
    const { service, ann, admin } = await setUp();
    const reader = await readEvents(service, admin);
    // A second store on the same place, as the command line opens it, without the service.
    const other = await openStore(service.place);
    try {
      const atMs = Date.now();
      await other.agents.setStatus({ agentId: service.agent.id, status: 'disabled', atMs });
      await vi.waitFor(() => expect(kindsOf(reader)).toEqual(['agents']), wait);
      const directory = createDirectory(other.documents, Date.now);
      const board = createKillSwitchBoard({ directory, steadyMs: () => performance.now() });
      const actor = { person: ann, roles: ann.roles };
      await board.turnOn(actor, { scope: { kind: 'all' }, reason: 'a drill' });
      await vi.waitFor(() => expect(kindsOf(reader)).toEqual(['agents', 'kill_switches']), wait);
      await personWith({ ...service, store: other }, ann, { email: 'new@example.com', roles: ['auditor'] });
      await vi.waitFor(() => expect(kindsOf(reader)).toEqual(['agents', 'kill_switches', 'people']), wait);
    } finally {
      await other.close();
    }
  });

  test('contains the expiry of a request', async () => {
    const { service, admin } = await setUp();
    await authorize(service, escalate);
    const reader = await readEvents(service, admin);
    expect(await service.store.requests.expireDue(Number.MAX_SAFE_INTEGER, 10)).toHaveLength(1);
    await vi.waitFor(() => expect(kindsOf(reader)).toEqual(['approvals', 'requests']), wait);
  });

  test('combines many changes into few events, and always sends the last change', async () => {
    const { service, admin } = await setUp({ eventStreamsTiming: { everyMs: 300 } });
    const reader = await readEvents(service, admin);
    const until = performance.now() + 1_500;
    let lastAt = 0;
    while (performance.now() < until) {
      await Promise.all(Array.from({ length: 8 }, () => authorize(service)));
      lastAt = Date.now();
    }
    await vi.waitFor(() => {
      expect(Date.parse(reader.received.at(-1)?.at ?? '')).toBeGreaterThanOrEqual(lastAt - 5);
    }, wait);
    const times = reader.received.map(({ at }) => Date.parse(at));
    expect(times.length).toBeGreaterThan(2);
    // A stalled thread may write down one time late, which shortens one gap. The total still respects the
    // announced rate.
    expect(times.length).toBeLessThanOrEqual(((times.at(-1) ?? 0) - (times[0] ?? 0)) / 300 + 2);
  });

  test('sends heartbeats while nothing changes', async () => {
    const { service, admin } = await setUp({ eventStreamsTiming: { heartbeatMs: 50 } });
    const reader = await readEvents(service, admin);
    await vi.waitFor(() => expect(reader.text()).toContain(': \n\n: \n\n'), wait);
    expect(reader.received).toEqual([]);
  });

  test('is not opened by HEAD', async () => {
    const { service, admin } = await setUp();
    const { status, headers } = await admin.send('/v1/events', { method: 'HEAD' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(service.log.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});

describe('a person', () => {
  async function changeAll({ service, ann }: { service: Service; ann: Person }): Promise<void> {
    const draft = { email: `x${Math.random()}@example.com`, roles: ['auditor'] } as const;
    await personWith(service, ann, draft);
    await service.store.agents.setStatus({ agentId: service.agent.id, status: 'disabled', atMs: Date.now() });
    await service.store.agents.setStatus({ agentId: service.agent.id, status: 'active', atMs: Date.now() });
  }

  test.each([
    ['approver', ['approvals', 'requests']],
    ['owner', ['agents', 'approvals', 'requests']],
    ['auditor', ['agents', 'people', 'requests']],
  ] as const)('who is %s hears of %j', async (role, kinds) => {
    const { service, ann, admin } = await setUp();
    const groups = role === 'approver' ? ['finance'] : [];
    const client = await personWith(service, ann, { email: 'p@example.com', roles: [role], groups });
    const [reader, control] = await Promise.all([readEvents(service, client), readEvents(service, admin)]);
    await changeAll({ service, ann });
    await authorize(service, escalate);
    await vi.waitFor(() => {
      expect(kindsOf(control)).toEqual(['agents', 'approvals', 'people', 'requests']);
      expect(kindsOf(reader)).toEqual(kinds);
    }, wait);
  });

  test('has a maximum number of streams, and can open another after one is closed', async () => {
    const { service, ann, admin } = await setUp();
    const readers = await Promise.all(
      Array.from({ length: streamsOfPersonMax }, () => readEvents(service, admin)),
    );
    const refused = await fetch(`${service.url}/v1/events`, { headers: admin.headers });
    expect(await problemOf(refused)).toMatchObject({ status: 429, code: 'too_many_streams' });
    const other = await personWith(service, ann, { email: 'other@example.com', roles: ['auditor'] });
    expect((await readEvents(service, other)).status).toBe(200);
    readers[0]?.close();
    await vi.waitFor(async () => expect((await readEvents(service, admin)).status).toBe(200), wait);
  });
});

describe('an event stream ends', () => {
  test('when the person signs out, but not before', async () => {
    const { service } = await setUp();
    const session = await signedIn(service, 'ann@example.com');
    const [reader, other] = [
      await readEvents(service, session),
      await readEvents(service, await signedIn(service, 'ann@example.com')),
    ];
    await session.send('/v1/session', { method: 'DELETE' });
    await vi.waitFor(() => expect(reader.hasEnded()).toBe(true), wait);
    expect(other.hasEnded()).toBe(false);
  });

  test('when the person is disabled or the token is removed', async () => {
    const { service, ann, admin } = await setUp();
    const email = 'p@example.com';
    const client = await personWith(service, ann, { email, roles: ['auditor'] });
    const second = await tokenClient(service, client.person);
    const [first, gone] = [await readEvents(service, client), await readEvents(service, second)];
    const session = await signedIn(service, email);
    const { items } = (await session.send('/v1/tokens')).body;
    for (const { id } of items) {
      const isSecond = String(second.headers.authorization).includes(id);
      if (isSecond) await session.send(`/v1/tokens/${id}`, { method: 'DELETE' });
    }
    await vi.waitFor(() => expect([gone.hasEnded(), first.hasEnded()]).toEqual([true, false]), wait);
    const disabled = await admin.send(`/v1/people/${client.person.id}`, {
      method: 'PATCH',
      body: { status: 'disabled' },
    });
    expect(disabled.status).toBe(200);
    await vi.waitFor(() => expect(first.hasEnded()).toBe(true), wait);
  });

  test('when an idle session expires, since an open stream does not extend it', async () => {
    let nowMs = Date.now();
    const { service } = await setUp({ eventStreamsTiming, clock: () => nowMs });
    const reader = await readEvents(service, await signedIn(service, 'ann@example.com'));
    for (let minutes = 0; minutes < 55; minutes += 5) {
      nowMs += 5 * 60_000;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(reader.hasEnded()).toBe(false);
    nowMs += 6 * 60_000;
    await vi.waitFor(() => expect(reader.hasEnded()).toBe(true), wait);
  });

  test('without delay when the person is disabled by this or another process', async () => {
    const { service, ann, admin } = await setUp({ eventStreamsTiming: { checkMs: 3_600_000 } });
    const draft = { roles: ['auditor'] as const };
    const here = await personWith(service, ann, { ...draft, email: 'here@example.com' });
    const there = await personWith(service, ann, { ...draft, email: 'there@example.com' });
    const [first, second] = [await readEvents(service, here), await readEvents(service, there)];
    const disable = { method: 'PATCH', body: { status: 'disabled' } } as const;
    await admin.send(`/v1/people/${here.person.id}`, disable);
    await vi.waitFor(() => expect([first.hasEnded(), second.hasEnded()]).toEqual([true, false]), wait);
    const other = await openStore(service.place);
    try {
      const directory = createDirectory(other.documents, Date.now);
      const found = await directory.people.find(there.person.id);
      if (found === null) throw new Error('the person is there');
      const write = directory.people.put({ ...found.value, status: 'disabled' }, found.version);
      await directory.change([write], {
        who: 'system',
        what: 'person-changed',
        subject: there.person.id,
        before: null,
        after: null,
      });
      await vi.waitFor(() => expect(second.hasEnded()).toBe(true), wait);
    } finally {
      await other.close();
    }
    expect(service.log.filter((line) => line.includes('"err":null'))).toEqual([]);
  });

  test('when the store cannot look up the person', async () => {
    const { service, admin } = await setUp();
    const reader = await readEvents(service, admin);
    const find = vi.spyOn(service.store.documents, 'find').mockRejectedValue(new Error('no'));
    await vi.waitFor(() => expect(reader.hasEnded()).toBe(true), wait);
    find.mockRestore();
  });

  test('when the service stops, without waiting for the clients', async () => {
    const { service, admin } = await setUp();
    const readers = await Promise.all(Array.from({ length: 10 }, () => readEvents(service, admin)));
    readers[0]?.pause();
    await service.close();
    await vi.waitFor(() => expect(readers.slice(1).every((one) => one.hasEnded())).toBe(true), wait);
  });
});

test('a stream that ends before it is sent is an empty reply without an error', async () => {
  const stream = createEventStream();
  stream.end();
  expect(stream.body.destroyed).toBe(false);
  expect(await stream.body.toArray()).toHaveLength(1);
});

describe('a client that does not read its stream', () => {
  test('is disconnected at the second heartbeat, with little data buffered until then', async () => {
    const stream = createEventStream();
    await pause();
    for (let count = 0; count < 10_000; count += 1) stream.send(`kind${count % 6}`, String(count));
    expect(stream.body.readableLength).toBeLessThan(4_096);
    stream.heartbeat();
    expect(stream.body.destroyed).toBe(false);
    stream.heartbeat();
    expect(stream.body.destroyed).toBe(true);
  });

  test('is disconnected over a real connection whose buffers are full', async () => {
    const stream = createEventStream();
    let reply: ServerResponse | null = null;
    const server = createServer((_request, response) => {
      reply = response;
      stream.body.pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const reader = await readEvents({ port }, { headers: {} });
    reader.pause();
    const at = 'x'.repeat(200);
    for (let round = 0; round < 20_000 && !stream.body.destroyed; round += 1) {
      for (const kind of ['a', 'b', 'c', 'd', 'e', 'f']) stream.send(kind, at);
      await pause();
      if (round % 50 === 49) stream.heartbeat();
    }
    expect(stream.body.destroyed).toBe(true);
    expect((reply as ServerResponse | null)?.writableLength ?? 0).toBeLessThan(128 * 1024);
  });

  test('does not delay other clients', async () => {
    const { service, admin } = await setUp({ eventStreamsTiming: { everyMs: 0 } });
    const [deaf, other] = [await readEvents(service, admin), await readEvents(service, admin)];
    deaf.pause();
    for (let round = 0; round < 100; round += 1) {
      const received = other.received.length;
      expect((await authorize(service)).status).toBe(200);
      await vi.waitFor(() => expect(other.received.length).toBeGreaterThan(received), wait);
    }
  });
});

test('five hundred streams get an event, and the request is answered as usual', async () => {
  const { service, ann } = await setUp({ eventStreamsTiming: {} });
  const clients: Client[] = [];
  const directory = createDirectory(service.store.documents, Date.now);
  for (let count = 0; count < 25; count += 1) {
    const person: Person = { ...ann, id: `p${count}`, email: `p${count}@example.com` };
    await directory.documents.write([directory.people.put(person, 0)], null);
    clients.push(await tokenClient(service, person));
  }
  const readers = await Promise.all(
    clients.flatMap((client) => Array.from({ length: 20 }, () => readEvents(service, client))),
  );
  expect(readers.filter(({ status }) => status !== 200)).toEqual([]);
  const replies = await Promise.all(Array.from({ length: 50 }, () => authorize(service)));
  expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
  await vi.waitFor(() => expect(readers.every((one) => kindsOf(one).includes('requests'))).toBe(true), wait);
});
