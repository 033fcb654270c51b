// A message reaches every subscriber, is repeated until it is accepted, and harms nothing when it is not
// accepted.

import { describe, expect, test } from 'vitest';
import { sweep } from '../../../src/service/people/sweep.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { listDeliveries } from '../../../src/service/webhooks/outbox.ts';
import { followRevocations } from '../../../src/service/webhooks/revocations.ts';
import { webhookHeaders } from '../../../src/service/webhooks/signature.ts';
import {
  changeWebhook,
  removeWebhook,
  rotateWebhookSecret,
  webhooksOf,
} from '../../../src/service/webhooks/webhook.ts';
import { agentRow, keyRow } from '../store/rows.ts';
import { dayMs, minuteMs, startHooks, startReceiver, webhookPayload } from './service.ts';

async function deliveries(
  { directory }: Pick<Awaited<ReturnType<typeof startHooks>>, 'directory'>,
  id: string,
) {
  const found = await listDeliveries(directory, id, { countMax: 100 });
  return found.map(({ value }) => value);
}

describe('a message', () => {
  test('comes signed, thin, and to those alone who want to hear of it', async () => {
    const hooks = await startHooks();
    const [one, other] = [await startReceiver(), await startReceiver()];
    const { secret, webhook } = await hooks.hook(one.url);
    await hooks.hook(other.url, ['agent.revoked']);
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.pass(0);
    expect(one.received).toHaveLength(1);
    expect(other.received).toEqual([]);
    const { headers, body } = one.received[0]!;
    expect(JSON.parse(body)).toEqual({
      type: 'request.pending',
      timestamp: new Date(hooks.time.nowMs).toISOString(),
      data: { id: 'r1', links: { request: 'https://writ.example.com/v1/requests/r1' } },
    });
    const message = { id: String(headers['webhook-id']), atSeconds: hooks.time.nowMs / 1_000, body };
    expect(headers).toMatchObject(webhookHeaders(message, [secret]));
    expect(await deliveries(hooks, webhook.id)).toMatchObject([
      { id: message.id, status: 'delivered', attempts: 1, lastStatus: 204, nextAtMs: null },
    ]);
    expect(hooks.failures).toEqual([]);
  });

  test('is sent again, later each time, under the same id, and given up after days', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver(503);
    const { webhook } = await hooks.hook(receiver.url);
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.pass(0);
    await hooks.pass(4_000);
    expect(receiver.received).toHaveLength(1);
    await hooks.pass(1_000);
    expect(receiver.received).toHaveLength(2);
    for (let hours = 0; hours < 24 * 4; hours++) await hooks.pass(60 * minuteMs);
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await deliveries(hooks, webhook.id)).toMatchObject([
      { status: 'failed', attempts: 10, lastStatus: 503, lastReason: 'the receiver answered 503' },
    ]);
  });

  test('that waits outlives the process that stored it', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver(503);
    const { webhook } = await hooks.hook(receiver.url);
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.pass(0);
    await hooks.dispatcher.close();
    receiver.answer = 200;
    const another = hooks.another();
    hooks.time.nowMs += minuteMs;
    await another.tick();
    await another.settled();
    expect(await deliveries(hooks, webhook.id)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  });

  test('that is emitted while the service stops is sent after the next start', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver();
    await hooks.hook(receiver.url);
    await hooks.dispatcher.close();
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.dispatcher.settled();
    expect(receiver.received).toEqual([]);
    const another = hooks.another();
    await another.tick();
    await another.settled();
    expect(receiver.received).toHaveLength(1);
  });

  test('is sent once by two processes that have the same store', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver(503);
    await hooks.hook(receiver.url);
    for (let i = 0; i < 20; i++) hooks.dispatcher.emit(webhookPayload(`r${i}`, hooks.time.nowMs));
    await hooks.pass(0);
    expect(receiver.received).toHaveLength(20);
    receiver.answer = 200;
    const another = hooks.another();
    hooks.time.nowMs += minuteMs;
    await Promise.all([hooks.dispatcher.tick(), another.tick()]);
    await Promise.all([hooks.dispatcher.settled(), another.settled()]);
    expect(receiver.received).toHaveLength(40);
  });

  test('is not held up by a receiver that hangs', async () => {
    const hooks = await startHooks({ timeoutMs: 300 });
    const [hanging, good] = [await startReceiver(null), await startReceiver()];
    await hooks.hook(hanging.url);
    await hooks.hook(good.url);
    for (let i = 0; i < 10; i++) hooks.dispatcher.emit(webhookPayload(`r${i}`, hooks.time.nowMs));
    await hooks.dispatcher.tick();
    await expect.poll(() => good.received.length).toBe(10);
    expect(hanging.received.length).toBeLessThan(10);
    await hooks.dispatcher.settled();
  });

  test('for a chat is text for people, in which nothing is a link or a mention by itself, and unsigned', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver();
    const { webhook } = await hooks.hook(receiver.url, ['request.pending'], 'chat');
    hooks.dispatcher.emit({ ...webhookPayload('r1', hooks.time.nowMs), text: 'Look at <!channel> & r1' });
    await hooks.pass(0);
    expect(receiver.received).toHaveLength(1);
    const { headers, body } = receiver.received[0]!;
    expect(JSON.parse(body)).toEqual({ text: 'Look at &lt;!channel&gt; &amp; r1' });
    expect(Object.keys(headers).filter((name) => name.startsWith('webhook-'))).toEqual([]);
    const rotated = await rotateWebhookSecret(
      { ...hooks, arePrivateAddressesAllowed: true },
      hooks.admin,
      webhook.id,
    );
    expect(rotated).toEqual({ kind: 'not-signed' });
  });

  test('with recipients of its own goes to these, whatever they want to hear of', async () => {
    const hooks = await startHooks();
    const [one, other] = [await startReceiver(), await startReceiver()];
    await hooks.hook(one.url);
    const { webhook } = await hooks.hook(other.url, ['agent.revoked']);
    const told = { ...webhookPayload('r1', hooks.time.nowMs), to: [webhook.id] };
    hooks.dispatcher.emit(told);
    const { writes, taken } = await hooks.dispatcher.prepare(told);
    await hooks.directory.documents.write(writes, null);
    taken();
    await hooks.pass(0);
    expect([one.received.length, other.received.length]).toEqual([0, 2]);
  });

  test('without a subscriber is not stored', async () => {
    const hooks = await startHooks();
    const { webhook } = await hooks.hook('http://127.0.0.1:1/', ['agent.revoked']);
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.pass(0);
    expect(await deliveries(hooks, webhook.id)).toEqual([]);
  });

  test('of a webhook that was removed is dropped', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver(503);
    const { webhook } = await hooks.hook(receiver.url);
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.pass(0);
    expect(await removeWebhook(hooks.directory, hooks.admin, webhook.id)).toBe('removed');
    await hooks.pass(dayMs);
    expect(receiver.received).toHaveLength(1);
    expect(await deliveries(hooks, webhook.id)).toEqual([]);
  });

  test('that has ended is deleted a week later, one that waits is not', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver();
    const { webhook } = await hooks.hook(receiver.url);
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.pass(0);
    receiver.answer = 503;
    hooks.dispatcher.emit(webhookPayload('r2', hooks.time.nowMs));
    await hooks.pass(0);
    expect(await sweep(hooks.store.documents, hooks.time.nowMs + 6 * dayMs)).toBe(0);
    expect(await sweep(hooks.store.documents, hooks.time.nowMs + 8 * dayMs)).toBe(1);
    expect(await deliveries(hooks, webhook.id)).toMatchObject([{ status: 'pending' }]);
  });
});

describe('an event', () => {
  test('delays nobody, and stores what it can once the store works again', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver();
    await hooks.hook(receiver.url);
    const { write } = hooks.directory.documents;
    const documents = hooks.directory.documents as { write: typeof write };
    documents.write = () => Promise.reject(new Error('the disk is full'));
    expect(hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs))).toBeUndefined();
    await hooks.pass(0);
    expect(hooks.failures).toMatchObject([{ message: 'the disk is full' }]);
    documents.write = write;
    await hooks.pass(0);
    expect(receiver.received).toHaveLength(1);
  });

  test('is stored once, also if the result of the first write is unknown', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver();
    const { webhook } = await hooks.hook(receiver.url);
    const { documents } = hooks.directory;
    const { write } = documents;
    let isBroken = true;
    Object.assign(documents, {
      write: async (...all: Parameters<typeof write>) => {
        const result = await write.apply(documents, all);
        if (!isBroken) return result;
        isBroken = false;
        throw new StoreError('uncertain', 'the connection broke');
      },
    });
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.dispatcher.settled();
    expect(hooks.failures).toHaveLength(1);
    hooks.dispatcher.emit(webhookPayload('r2', hooks.time.nowMs));
    await hooks.pass(0);
    const told = receiver.received.map(({ body }) => JSON.parse(body).data.id);
    expect(told.sort()).toEqual(['r1', 'r2']);
    expect(await deliveries(hooks, webhook.id)).toHaveLength(2);
  });

  test('too much is dropped, with a word', async () => {
    const hooks = await startHooks();
    for (let i = 0; i < 10_005; i++) hooks.dispatcher.emit(webhookPayload(`r${i}`, hooks.time.nowMs));
    expect(hooks.failures).toHaveLength(5);
    await hooks.pass(0);
  });
});

describe('a webhook', () => {
  test('signs with both secrets for a day after a rotation', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver();
    const { secret: first, webhook } = await hooks.hook(receiver.url);
    const deps = { ...hooks, arePrivateAddressesAllowed: true };
    const rotated = await rotateWebhookSecret(deps, hooks.admin, webhook.id);
    const second = (rotated.kind === 'made' ? rotated.secret : null) ?? '';
    for (const secrets of [[second, first], [second]]) {
      hooks.dispatcher.emit(webhookPayload('r', hooks.time.nowMs));
      await hooks.pass(0);
      const { headers, body } = receiver.received.at(-1)!;
      const message = { id: String(headers['webhook-id']), atSeconds: hooks.time.nowMs / 1_000, body };
      expect(headers).toMatchObject(webhookHeaders(message, secrets));
      await hooks.pass(dayMs);
    }
  });

  test('that fails for five days is disabled, with a record, and can be enabled again', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver(500);
    const { webhook } = await hooks.hook(receiver.url);
    const find = async () => (await webhooksOf(hooks.directory).find(webhook.id))?.value;
    for (let day = 0; day <= 5; day++) {
      expect(await find()).toMatchObject({ status: 'active' });
      hooks.dispatcher.emit(webhookPayload(`r${day}`, hooks.time.nowMs));
      await hooks.pass(0);
      hooks.time.nowMs += dayMs;
    }
    expect(await find()).toMatchObject({
      status: 'disabled',
      disabledBecause: 'every attempt has failed for five days',
    });
    const [change] = await hooks.store.chain.changes({ beforeSequence: null, countMax: 1 });
    expect(change).toMatchObject({ who: 'system', what: 'webhook-disabled', subject: webhook.id });
    const seen = receiver.received.length;
    hooks.dispatcher.emit(webhookPayload('late', hooks.time.nowMs));
    await hooks.pass(dayMs);
    expect(receiver.received).toHaveLength(seen);
    const deps = { ...hooks, arePrivateAddressesAllowed: true };
    await changeWebhook(deps, hooks.admin, { id: webhook.id, status: 'active' });
    expect(await find()).toMatchObject({ status: 'active', disabledBecause: null, failingSinceMs: null });
  });

  test('that takes a message has not failed for days', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver(500);
    const { webhook } = await hooks.hook(receiver.url);
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.pass(0);
    receiver.answer = 200;
    await hooks.pass(minuteMs);
    expect((await webhooksOf(hooks.directory).find(webhook.id))?.value.failingSinceMs).toBeNull();
  });

  test('that is gone by its own word is disabled at once', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver(410);
    const { webhook } = await hooks.hook(receiver.url);
    hooks.dispatcher.emit(webhookPayload('r1', hooks.time.nowMs));
    await hooks.pass(0);
    expect((await webhooksOf(hooks.directory).find(webhook.id))?.value.status).toBe('disabled');
  });

  test('is tried with one message, which is not sent again', async () => {
    const hooks = await startHooks();
    const receiver = await startReceiver(500);
    const { webhook } = await hooks.hook(receiver.url, ['agent.revoked']);
    expect(await hooks.dispatcher.test(webhook.id)).toMatchObject({ type: 'webhook.test' });
    expect(await hooks.dispatcher.test('nobody')).toBeNull();
    await hooks.pass(0);
    await hooks.pass(dayMs);
    expect(receiver.received).toHaveLength(1);
    expect(await deliveries(hooks, webhook.id)).toMatchObject([{ status: 'failed', attempts: 1 }]);
  });

  test('has no secret, and no path, in any record', async () => {
    const hooks = await startHooks();
    const { secret } = await hooks.hook('http://127.0.0.1:9/hooks/T0K3N?key=s3cret');
    const changes = JSON.stringify(await hooks.store.chain.changes({ beforeSequence: null, countMax: 10 }));
    expect(changes).toContain('http://127.0.0.1:9');
    expect(changes).not.toMatch(/T0K3N|s3cret|whsec_/);
    expect(changes).not.toContain(secret);
    const stored = await hooks.store.documents.list({
      kind: 'webhook',
      parent: null,
      after: null,
      countMax: 9,
    });
    expect(JSON.stringify(stored)).not.toMatch(/T0K3N|s3cret|whsec_/);
  });
});

describe('revocations', () => {
  test('are announced once by one process, whoever made them', async () => {
    const { directory, store, time, dispatcher, hook } = await startHooks();
    const { webhook } = await hook('http://127.0.0.1:9/hook', ['agent.revoked']);
    const follow = (from = directory, chain: Pick<typeof store.chain, 'changes'> = store.chain) =>
      followRevocations({
        directory: from,
        chain,
        prepare: ({ agentId: id, atMs }) =>
          dispatcher.prepare({ type: 'agent.revoked', id, atMs, text: 'gone', links: {} }),
      });
    const told = async () => {
      const stored = await listDeliveries(directory, webhook.id, { after: null, countMax: 100 });
      return stored.map(({ value }) => JSON.parse(value.body).data.id).toSorted();
    };
    const [one, other] = [follow(), follow()];
    const revoke = async (name: string) => {
      const agent = agentRow({ name });
      await store.agents.add(agent, keyRow(agent.id));
      await store.agents.setStatus({ agentId: agent.id, status: 'revoked', atMs: time.nowMs });
      return agent.id;
    };
    await revoke('before');
    await one();
    const id = await revoke('after');
    await Promise.all([one(), other()]);
    await Promise.all([one(), other()]);
    expect(await told()).toEqual([id]);
    const more = [await revoke('c'), await revoke('d')];
    await follow()();
    expect(await told()).toEqual([id, ...more].toSorted());
    // The write is stored, but its reply is lost because the connection broke.
    const write: typeof directory.documents.write = async (...all) => {
      await directory.documents.write(...all);
      throw new StoreError('uncertain', 'the connection broke');
    };
    const last = await revoke('e');
    const uncertain = follow({ ...directory, documents: { ...directory.documents, write } });
    await expect(uncertain()).rejects.toThrow('the connection broke');
    await uncertain();
    await follow()();
    expect(await told()).toEqual([id, ...more, last].toSorted());
    // A change arrives between two reads of the same look.
    await revoke('f');
    let between: string | null = null;
    const chain: Pick<typeof store.chain, 'changes'> = {
      async changes(page) {
        const found = await store.chain.changes(page);
        between ??= await revoke('g');
        return found;
      },
    };
    const looking = follow(directory, chain);
    await looking();
    await looking();
    const all = await told();
    expect(all).toContain(between);
    expect(all).toHaveLength(new Set(all).size);
  });
});
