// What can break while the service runs, injected: docs/FAILURES.md is the table of these tests. In each test
// nothing is granted that must not be, and the service goes on once the cause is gone.

import { createHmac } from 'node:crypto';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cachedMsMax } from '../../../src/service/agents/key-cache.ts';
import { setSigning } from '../../../src/service/agents/registry.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { nextWriter } from '../store/next-writer.ts';
import { firstAdmin, tokenClient } from './person-client.ts';
import {
  allowBody,
  authorize,
  exchange,
  policyText,
  problemOf,
  type Service,
  startService,
  temporaryDirectory,
} from './service.ts';

// An injected failure takes real time, so some tests wait.
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface WatchedStore {
  readonly store: Store;
  /** The thread that writes to the database. */
  readonly writer: Worker;
  readonly path: string;
}

async function openWatchedStore(limits: {
  readonly busyTimeoutMs?: number;
  readonly writesPendingMax?: number;
}): Promise<WatchedStore> {
  const path = join(temporaryDirectory(), 'writ.db');
  const writer = nextWriter();
  const store = await openStore({ path, ...limits });
  return { store, writer, path };
}

/** The number of requests with an ALLOW in the database file. */
function grantsIn(path: string): number {
  const database = new Database(path, { readonly: true });
  const row = database
    .prepare<[], { count: number }>("SELECT count(*) AS count FROM requests WHERE outcome = 'ALLOW'")
    .get();
  database.close();
  return row?.count ?? 0;
}

async function expectNotRecorded(service: Service): Promise<void> {
  const reply = await authorize(service);
  const text = await reply.clone().text();
  expect(await problemOf(reply)).toMatchObject({ status: 500, code: 'record_failed' });
  expect(text).not.toContain('ALLOW');
  expect(text).not.toContain('/tmp');
}

async function expectAllowed(service: Service): Promise<void> {
  expect(await (await authorize(service)).json()).toMatchObject({ decision: 'ALLOW' });
}

describe('the store', () => {
  test('the writer thread dies: 500 for what waits and what comes, and not ready', async () => {
    const { store, writer, path } = await openWatchedStore({});
    const service = await startService({ store });
    await expectAllowed(service);
    const waiting = Promise.all(Array.from({ length: 20 }, () => authorize(service)));
    void writer.terminate();
    const granted = (await waiting).filter((reply) => reply.status === 200).length;
    await expectNotRecorded(service);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    // Every grant that was acknowledged before the end is on disk.
    expect(grantsIn(path)).toBeGreaterThanOrEqual(granted + 1);
  });

  test('the disk takes 2 s for a commit: no reply before it, and the rest of the service stays quick', async () => {
    const { store, writer } = await openWatchedStore({});
    const service = await startService({ store });
    await expectAllowed(service);
    const post = writer.postMessage.bind(writer);
    writer.postMessage = (message: unknown) => void setTimeout(() => post(message), 2_000);
    onTestFinished(() => {
      writer.postMessage = post;
    });
    const start = performance.now();
    const waiting = Promise.all(
      Array.from({ length: 50 }, async () => {
        const view = (await (await authorize(service)).json()) as Record<string, unknown>;
        return { decision: view.decision, afterMs: performance.now() - start };
      }),
    );
    await pause(500);
    const looked = performance.now();
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(performance.now() - looked).toBeLessThan(1_000);
    expect(Number(/writ_store_queue_depth (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(0);
    for (const { decision, afterMs } of await waiting) {
      expect(decision).toBe('ALLOW');
      expect(afterMs).toBeGreaterThan(1_900);
      expect(afterMs).toBeLessThan(10_000);
    }
  });

  test('another process holds the database for a while: replies wait; for longer: 500, then service again', async () => {
    const { store, path } = await openWatchedStore({ busyTimeoutMs: 700 });
    const service = await startService({ store });
    await expectAllowed(service);
    const other = new Database(path);
    onTestFinished(() => void other.close());
    other.exec('BEGIN IMMEDIATE');
    const short = authorize(service);
    await pause(300);
    other.exec('ROLLBACK');
    expect(await (await short).json()).toMatchObject({ decision: 'ALLOW' });
    const before = grantsIn(path);
    other.exec('BEGIN IMMEDIATE');
    await expectNotRecorded(service);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    other.exec('ROLLBACK');
    expect(grantsIn(path)).toBe(before);
    await expectAllowed(service);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });

  test('more writes wait than may: 503 for those beyond, and the others are answered', async () => {
    const { store, path } = await openWatchedStore({ writesPendingMax: 5 });
    const service = await startService({ store });
    await expectAllowed(service);
    const other = new Database(path);
    onTestFinished(() => void other.close());
    other.exec('BEGIN IMMEDIATE');
    const waiting = Promise.all(Array.from({ length: 40 }, () => authorize(service)));
    await expect.poll(() => store.queueDepth(), { interval: 5 }).toBeGreaterThanOrEqual(5);
    await pause(500);
    other.exec('ROLLBACK');
    const replies = await waiting;
    const statuses = replies.map((reply) => reply.status);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    const refused = replies.find(({ status }) => status === 503)!;
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await problemOf(refused)).toMatchObject({ code: 'store_busy' });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(grantsIn(path)).toBe(1 + statuses.filter((status) => status === 200).length);
    await expectAllowed(service);
  });

  test('more reads wait than may: 503 for those beyond, and the service stays ready', async () => {
    const { store } = await openWatchedStore({});
    const busy = new StoreError('overloaded', 'too many reads are queued for the database');
    const requests = { ...store.requests, list: () => Promise.reject(busy) };
    const service = await startService({ store: { ...store, requests } });
    const admin = await tokenClient(service, await firstAdmin(service));
    const reply = await admin.send('/v1/requests');
    expect(reply).toMatchObject({ status: 503, body: { type: 'urn:writ:error:store_busy' } });
    expect(reply.headers.get('retry-after')).toBe('1');
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    await expectAllowed(service);
  });

  test('the file is damaged under the running service: nothing is granted without a record', async () => {
    const { store, path } = await openWatchedStore({});
    const service = await startService({ store });
    await expectAllowed(service);
    writeFileSync(path, Buffer.alloc(readFileSync(path).length, 0xa5));
    truncateSync(`${path}-wal`, 0);
    // Until this time has passed the agent is cached, and the file is not read for it.
    await pause(cachedMsMax + 200);
    for (let count = 0; count < 5; count++) {
      const reply = await authorize(service);
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(await reply.text()).not.toContain('ALLOW');
    }
    await expect(openStore({ path: `${path}` })).rejects.toMatchObject({ name: 'StoreError' });
  });
});

describe('the clock', () => {
  test('a jump forward: grants have ended, signatures of before are refused, rates stay', async () => {
    let skewMs = 0;
    const service = await startService({
      clock: () => Date.now() + skewMs,
      rate: { perMinute: 60, burst: 3 },
    });
    const view = (await (await authorize(service)).json()) as { request_id: string; expires_at: string };
    skewMs = 24 * 3_600_000;
    const found = await fetch(`${service.url}/v1/requests/${view.request_id}`, {
      headers: { 'x-agent-api-key': service.apiKey },
    });
    expect(await found.json()).toMatchObject({ status: 'expired', expires_at: view.expires_at });
    expect((await authorize(service)).status).toBe(200);
    // A token bucket that followed the shifted clock would be full again.
    expect((await authorize(service)).status).toBe(429);
  });

  test('a jump forward or back by more than 300 s: a signature is refused', async () => {
    for (const skewMs of [400_000, -400_000]) {
      const service = await startService({ clock: () => Date.now() + skewMs });
      const nowMs = Date.now();
      const change = await setSigning(service.store, {
        agentId: service.agent.id,
        signing: 'required',
        nowMs,
      });
      const secret = change.kind === 'changed' ? (change.signingSecret ?? '') : '';
      const time = Math.trunc(nowMs / 1000);
      const text = `v1:${time}:nonce-0001:POST:/v1/authorize:${allowBody}`;
      const digest = createHmac('sha256', secret).update(text).digest('hex');
      const headers = { 'x-service-signature': `t=${time},n=nonce-0001,v1=${digest}` };
      expect((await problemOf(await authorize(service, { headers }))).code).toBe('invalid_signature');
    }
  });

  test('a jump back: ids still rise, an idempotency key still means its request, what was denied stays so', async () => {
    let skewMs = 0;
    const service = await startService({ clock: () => Date.now() + skewMs });
    const headers = { 'idempotency-key': 'order-1' };
    const ask = async (sent: Parameters<typeof authorize>[1]) =>
      (await (await authorize(service, sent)).json()) as { request_id: string; decision: string };
    const first = await ask({ headers });
    const denied = await ask({ body: '{"action_key":"demo.deny","payload":{}}' });
    skewMs = -24 * 3_600_000;
    expect((await ask({ headers })).request_id).toBe(first.request_id);
    const later = await ask({});
    expect(later.request_id > first.request_id).toBe(true);
    const found = await fetch(`${service.url}/v1/requests/${denied.request_id}`, {
      headers: { 'x-agent-api-key': service.apiKey },
    });
    expect(await found.json()).toMatchObject({ decision: 'DENY', status: 'rejected' });
  });
});

describe('the policies', () => {
  test('the directory is gone: the last good set decides, and it is told', async () => {
    const service = await startService();
    rmSync(dirname(service.policyFile), { recursive: true });
    await service.policies.reload();
    await expectAllowed(service);
    const denied = await authorize(service, { body: '{"action_key":"demo.deny","payload":{}}' });
    expect(await denied.json()).toMatchObject({ decision: 'DENY', matched_policy: 'demo' });
    const ready = (await (await fetch(`${service.url}/readyz`)).json()) as { policies: object };
    expect(ready.policies).toMatchObject({ status: 'stale' });
  });

  test('a policy file is emptied: the last good set decides with its guards, and it is told', async () => {
    const service = await startService();
    const guards = join(dirname(service.policyFile), 'guards.policy');
    const deny = 'policy guards on demo.* { deny everything when action.key == "demo.allow" }\n';
    writeFileSync(guards, deny);
    await service.policies.reload();
    const decision = async () => (await (await authorize(service)).json()) as object;
    const refused = { decision: 'DENY', matched_policy: 'guards' };
    expect(await decision()).toMatchObject(refused);
    for (const left of ['', '\n', '# what a dying editor leaves\n', '\ufeff', ' \t\r\n']) {
      writeFileSync(guards, left);
      await service.policies.reload();
      expect([left, await decision()]).toMatchObject([left, refused]);
      const ready = await fetch(`${service.url}/readyz`);
      expect(ready.status).toBe(200);
      const { policies } = (await ready.json()) as {
        policies: { diagnostics: { code: string; file: string }[] };
      };
      expect([left, policies]).toMatchObject([left, { status: 'stale' }]);
      expect(JSON.stringify(policies)).toContain('file-empty');
      expect(JSON.stringify(policies)).toContain('guards.policy');
    }
    writeFileSync(guards, deny);
    await service.policies.reload();
    const ready = (await (await fetch(`${service.url}/readyz`)).json()) as { policies: object };
    expect(ready.policies).toMatchObject({ status: 'current' });
    expect(await decision()).toMatchObject(refused);
  });

  test('a list file is gone: the list stays what it was, and it is told', async () => {
    const service = await startService();
    const folder = dirname(service.policyFile);
    writeFileSync(join(folder, 'blocked.txt'), 'demo.allow\n');
    writeFileSync(
      service.policyFile,
      `${policyText}list blocked from "blocked.txt"\npolicy listed on demo.* { deny blocked_action when action.key in blocked }\n`,
    );
    await service.policies.reload();
    const decision = async () => (await (await authorize(service)).json()) as object;
    expect(await decision()).toMatchObject({ decision: 'DENY', matched_policy: 'listed' });
    rmSync(join(folder, 'blocked.txt'));
    await service.policies.reload();
    expect(await decision()).toMatchObject({ decision: 'DENY', matched_policy: 'listed' });
    expect(service.policies.state()).toMatchObject({ status: 'stale' });
    writeFileSync(join(folder, 'blocked.txt'), 'demo.other\n');
    await service.policies.reload();
    expect(await decision()).toMatchObject({ decision: 'ALLOW' });
  });
});

describe('the process', () => {
  test('the event loop stands still for a second: what came meanwhile is answered, and the lag is told', async () => {
    const service = await startService();
    await fetch(`${service.url}/metrics`);
    const waiting = Array.from({ length: 20 }, () => authorize(service));
    await pause(20);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    for (const reply of await Promise.all(waiting)) expect(reply.status).toBe(200);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(Number(/lag_seconds\{quantile="1"\} (\S+)/.exec(metrics)?.[1])).toBeGreaterThan(0.8);
  });
});

describe('connections', () => {
  const head = (service: Service, length: number) =>
    `POST /v1/authorize HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
    `X-Agent-API-Key: ${service.apiKey}\r\nContent-Length: ${length}\r\n\r\n`;

  function open(service: Service): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true });
      onTestFinished(() => void socket.destroy());
      socket.once('connect', () => resolve(socket));
      socket.on('error', reject);
    });
  }

  /** All text that arrives until the other side ends the connection. */
  function untilEnd(socket: Socket): Promise<string> {
    return new Promise((resolve) => {
      let received = '';
      socket.on('data', (chunk) => {
        received += String(chunk);
      });
      for (const event of ['end', 'close'] as const) socket.once(event, () => resolve(received));
    });
  }

  test('the client goes before its reply: the decision is on record, and nothing is logged as a fault', async () => {
    const { store, writer, path } = await openWatchedStore({});
    const service = await startService({ store });
    const post = writer.postMessage.bind(writer);
    writer.postMessage = (message: unknown) => void setTimeout(() => post(message), 300);
    // The thread serves another store afterwards, so the patched method is removed.
    onTestFinished(() => void Reflect.deleteProperty(writer, 'postMessage'));
    const socket = await open(service);
    socket.write(head(service, allowBody.length) + allowBody);
    await pause(100);
    socket.resetAndDestroy();
    await pause(600);
    expect(grantsIn(path)).toBe(1);
    expect(service.log.filter((line) => /"level":[56]0/.test(line))).toEqual([]);
    await expectAllowed(service);
  });

  test('a client that closes its side behind its request: no reply, and the decision is on record', async () => {
    const { store, path } = await openWatchedStore({});
    const service = await startService({ store });
    const sent = head(service, allowBody.length) + allowBody;
    expect(await exchange(service.port, sent, { isEnded: true })).toBe('');
    await expect.poll(() => grantsIn(path)).toBe(1);
    await expectAllowed(service);
  });

  test('a connection that never says anything ends', async () => {
    const service = await startService({ requestTimeoutMs: 300 });
    const start = performance.now();
    await untilEnd(await open(service));
    expect(performance.now() - start).toBeLessThan(3_000);
    await expectAllowed(service);
  });

  test.each(['headers', 'body'])('%s a byte at a time: 408, and no decision', async (part) => {
    const service = await startService({ requestTimeoutMs: 400 });
    const socket = await open(service);
    const bytes = head(service, allowBody.length) + allowBody;
    let sent = part === 'body' ? bytes.length - allowBody.length : 10;
    socket.write(bytes.slice(0, sent));
    const drip = setInterval(() => void (socket.writable && socket.write(bytes[sent++] ?? '')), 50);
    const received = await untilEnd(socket);
    clearInterval(drip);
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(received).not.toContain('decision');
    await expectAllowed(service);
  });
});
