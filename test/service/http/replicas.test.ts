// GET /v1/replicas: which replicas serve, by which policies, on each kind of store. `/readyz` reports a lost
// database within a second.

import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { openWire, type Wire } from '../store/cut-wire.ts';
import { keptPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { readEvents } from './event-reader.ts';
import { type Client, client, firstAdmin, tokenClient } from './person-client.ts';
import { startReplica } from './replica.ts';
import { authorize, policyText, type Service, startService } from './service.ts';
import { ask } from './written-policies.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
});

test('a store in a file is served by one process', async () => {
  const self = { name: 'a (1)', version: '1.2.3', startedAtMs: 5 };
  const service = await startService({ isInFile: true, self });
  const admin = await tokenClient(service, await firstAdmin(service));
  const { digest } = service.policies.state();
  expect((await admin.send('/v1/replicas')).body).toEqual({
    store: 'file',
    policies: { digest, activation: null },
    items: [
      {
        slot: 0,
        name: 'a (1)',
        is_self: true,
        version: '1.2.3',
        started_at: '1970-01-01T00:00:00.005Z',
        seen_at: expect.any(String),
        directory_digest: digest,
        is_ready: true,
      },
    ],
    standbys: [],
  });
  expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^writ_replicas 1$/m);
});

test('replicas of a database list each other, with the set that each has read', async () => {
  const database = await server.createDatabase();
  const first = await startReplica(database, 'a (1)');
  const store = await openStore(database);
  onTestFinished(() => store.close());
  await store.agents.describe({
    ...first.agent,
    agentId: first.agent.id,
    name: 'first',
    atMs: Date.now(),
  });
  const other = policyText.replace('+7', '+8');
  const second = await startReplica(database, 'b (2)', { text: other });
  const admin = await tokenClient(second, await firstAdmin(second));
  const digest = first.policies.state().digest;
  await expect
    .poll(async () => (await admin.send('/v1/replicas')).body)
    .toMatchObject({
      store: 'postgres',
      policies: { digest, activation: 1 },
      items: [
        { slot: 0, name: 'a (1)', is_self: false, directory_digest: digest, is_ready: true },
        {
          slot: 1,
          name: 'b (2)',
          is_self: true,
          directory_digest: expect.not.stringMatching(digest),
          is_ready: true,
        },
      ],
      standbys: [],
    });
  expect(await (await fetch(`${second.url}/metrics`)).text()).toMatch(/^writ_replicas_ready 2$/m);
  await seesReviewLocks(first, second, admin);
  await first.store.close();
  await expect.poll(async () => (await admin.send('/v1/replicas')).body.items).toHaveLength(1);
});

test('reports of equal calls on two replicas each report on one grant', async () => {
  const database = await server.createDatabase();
  const first = await startReplica(database, 'a (1)');
  const store = await openStore(database);
  onTestFinished(() => store.close());
  await store.agents.describe({ ...first.agent, agentId: first.agent.id, name: 'first', atMs: Date.now() });
  const second = await startReplica(database, 'b (2)');
  const granted = await Promise.all(Array.from({ length: 6 }, () => ask(first, 'demo.allow')));
  const outcome = { call: { action_key: 'demo.allow', payload: { amount: 5 } }, executed: true };
  const report = async ({ url }: Service) => {
    const headers = { 'x-agent-api-key': first.apiKey, 'content-type': 'application/json' };
    const body = JSON.stringify({ outcomes: [outcome] });
    const reply = await fetch(`${url}/v1/outcomes`, { method: 'POST', headers, body });
    return (await reply.json()).items[0];
  };
  const reports = await Promise.all([first, second, first, second, first, second].map(report));
  const ids = reports.map(({ request_id: id }) => id).toSorted();
  expect(ids).toEqual(granted.map(({ request_id: id }) => id).toSorted());
  expect(await report(second)).toEqual({ result: 'request_not_found' });
});

/**
 * Checks that a review lock taken at one replica is visible at the other, and that readers of its event stream hear
 * of it.
 */
async function seesReviewLocks(first: Service, second: Service, admin: Client): Promise<void> {
  const atFirst = client(first, admin.headers);
  const viewedIds = async (): Promise<readonly string[]> =>
    (await admin.send('/v1/review-locks')).body.items.map((one: { request_id: string }) => one.request_id);
  const reader = await readEvents(second, admin);
  const body = '{"action_key":"demo.escalate","payload":{}}';
  const { request_id: id } = (await (await authorize(first, { body })).json()) as { request_id: string };
  expect((await atFirst.send(`/v1/requests/${id}/review-lock`, { method: 'POST' })).status).toBe(200);
  await expect.poll(() => reader.received.map(({ kind }) => kind)).toContain('approvals');
  expect(await viewedIds()).toEqual([id]);
  expect((await atFirst.send(`/v1/requests/${id}/review-lock`, { method: 'DELETE' })).status).toBe(204);
  expect(await viewedIds()).toEqual([]);
  reader.close();
}

interface Outage {
  readonly begin: (server: PostgresServer, wire: Wire) => Promise<void> | void;
  /** Ends the outage; resolves when the server takes connections. */
  readonly end: (server: PostgresServer, wire: Wire) => Promise<void> | void;
}

const outages: Readonly<Record<string, Outage>> = {
  'the network is cut': { begin: (_, wire) => wire.cut(), end: (_, wire) => wire.fix() },
  'the server is killed': { begin: (own) => own.kill(), end: (own) => own.start() },
};
const name =
  '%s: without a database nothing is granted, `/readyz` says so within a second, and all is well by itself after it';
test.each(Object.keys(outages))(name, async (outage) => {
  const { begin, end } = outages[outage]!;
  const own = await startPostgres();
  onTestFinished(() => own.stop());
  const database = await own.createDatabase();
  const wire = await openWire(own, database);
  onTestFinished(() => wire.close());
  const service = await startReplica({ url: wire.url, keyFile: database.keyFile }, 'a (1)');
  const granted: number[] = [];
  let isOver = false;
  const asking = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const begunAtMs = performance.now();
      if ((await authorize(service)).status === 200) granted.push(begunAtMs);
      else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  const ready = async () => {
    const reply = await fetch(`${service.url}/readyz`);
    return { status: reply.status, ...((await reply.json()) as { readonly reason: string | null }) };
  };
  expect(await ready()).toMatchObject({ status: 'ready', reason: null });
  await expect.poll(() => granted.length).toBeGreaterThan(10);
  await begin(own, wire);
  const cutAtMs = performance.now();
  await expect.poll(ready, { interval: 10 }).toMatchObject({ reason: expect.any(String) });
  const toldAfterMs = performance.now() - cutAtMs;
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(granted.filter((atMs) => atMs > cutAtMs)).toEqual([]);
  await end(own, wire);
  const mendedAtMs = performance.now();
  await expect.poll(() => granted.at(-1) ?? 0, { interval: 5 }).toBeGreaterThan(mendedAtMs);
  const backAfterMs = performance.now() - mendedAtMs;
  isOver = true;
  await Promise.all(asking);
  console.info(`told after ${toldAfterMs.toFixed(0)} ms, back after ${backAfterMs.toFixed(0)} ms`);
});
