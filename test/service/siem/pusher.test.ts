// Every record reaches the receiver, in order and at least once, whatever fails between; the cursor moves only when the
// receiver has a batch.

import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { pruneRecords } from '../../../src/service/audit/prune.ts';
import type { DocumentResult } from '../../../src/service/store/contract/documents.ts';
import type { ChainSegment, Store } from '../../../src/service/store/contract/store.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { startMs } from '../store/rows.ts';
import { ofStranger } from './certificates.ts';
import { type HttpReceiver, startHttpReceiver } from './receivers.ts';
import { appendDecision, fill, fillWithEveryKind, openRecords, startStream } from './stream.ts';

interface Ocsf {
  readonly metadata: { readonly sequence: number; readonly event_code: string };
  readonly message: string;
}

function batchesOf({ batches }: HttpReceiver): readonly (readonly number[])[] {
  return batches.map(({ body }) =>
    (JSON.parse(body) as readonly Ocsf[]).map(({ metadata }) => metadata.sequence),
  );
}

function codesOf({ batches }: HttpReceiver): readonly string[] {
  return batches.flatMap(({ body }) =>
    (JSON.parse(body) as readonly Ocsf[]).map(({ metadata }) => metadata.event_code),
  );
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('the stream', () => {
  test('sends every record once, in order, in batches of bounded size', async () => {
    const receiver = await startHttpReceiver();
    const { store, run, cursor, pusher } = await startStream({
      url: receiver.url,
      recordsMax: 40,
      headers: new Map([['authorization', 'Bearer t']]),
    });
    await fill(store, 90);
    await fillWithEveryKind(store);
    expect(await run()).toBe(1_000);
    const sent = batchesOf(receiver);
    expect(sent.flat()).toEqual(numbers(1, 102));
    expect(sent.map(({ length }) => length)).toEqual([40, 40, 22]);
    expect(receiver.batches[0]?.headers).toMatchObject({
      authorization: 'Bearer t',
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    });
    expect(await cursor()).toMatchObject({ sequence: 102, failure: null, refused: null, gap: null });
    expect(pusher.counts()).toEqual({ sent: 102, failed: 0 });
    await run();
    expect(batchesOf(receiver)).toHaveLength(3);
  });

  test('bounds the bytes of a batch; a longer record goes alone', async () => {
    const receiver = await startHttpReceiver();
    const { store, run } = await startStream({ url: receiver.url, bytesMax: 3_000 });
    await fill(store, 9);
    await run();
    expect(batchesOf(receiver).flat()).toEqual(numbers(1, 9));
    expect(receiver.batches.length).toBeGreaterThan(2);
    for (const { body } of receiver.batches) expect(body.length).toBeLessThan(3_002);
    const { store: other, run: runOther } = await startStream({ url: receiver.url, bytesMax: 10 });
    await fill(other, 2);
    await runOther();
    expect(batchesOf(receiver).slice(-2)).toEqual([[1], [2]]);
  });

  test.each([
    ['now', [4]],
    ['beginning', [1, 2, 3, 4]],
  ] as const)('begins with the records from %s on', async (start, expected) => {
    const receiver = await startHttpReceiver();
    const { store, run } = await startStream({ url: receiver.url, start });
    await fill(store, 3);
    if (start === 'now') await run();
    await fill(store, 1);
    await run();
    expect(batchesOf(receiver).flat()).toEqual(expected);
  });

  test('goes on at its cursor when the address of the receiver changes', async () => {
    const [before, after] = [await startHttpReceiver(), await startHttpReceiver()];
    const first = await startStream({ url: before.url });
    await fill(first.store, 2);
    await first.run();
    await first.pusher.close();
    const second = await startStream({ url: after.url, store: first.store });
    await fill(second.store, 1);
    await second.run();
    expect(batchesOf(after)).toEqual([[3]]);
    const third = await startStream({ url: after.url, store: first.store, name: 'other' });
    await third.run();
    expect(batchesOf(after)).toEqual([[3], [1, 2, 3]]);
  });
});

describe('a receiver that', () => {
  test.each([
    ['is busy', { status: 503 }, 'the receiver answered 503'],
    ['does not know the sender', { status: 401, text: 'bad\ntoken' }, 'the receiver answered 401: bad token'],
    ['redirects', { status: 302, headers: { location: '/' } }, 'the receiver answered 302'],
    ['does not answer in time', 'silent', 'no answer in time'],
  ] as const)('%s gets the batch again, later each time', async (_name, reply, reason) => {
    const receiver = await startHttpReceiver();
    const { store, run, cursor, warnings } = await startStream({ url: receiver.url, timeoutMs: 300 });
    await fill(store, 2);
    receiver.reply = () => reply;
    expect([await run(), await run(), await run()]).toEqual([1_000, 2_000, 4_000]);
    const failure = { reason: expect.stringContaining(reason), sinceMs: startMs };
    expect(await cursor()).toMatchObject({ sequence: 0, failure });
    expect(warnings).toHaveLength(1);
    receiver.reply = () => ({ status: 204 });
    await run();
    expect(batchesOf(receiver)).toEqual([[1, 2]]);
    expect(await cursor()).toMatchObject({ sequence: 2, failure: null });
  });

  test('cuts after half a batch gets all of it again', async () => {
    const receiver = await startHttpReceiver();
    const { store, run, cursor } = await startStream({ url: receiver.url, isCompressed: false });
    await fill(store, 300);
    receiver.isCutting = true;
    await run();
    expect(await cursor()).toMatchObject({
      sequence: 0,
      failure: { reason: expect.stringMatching(/ECONNRESET|EPIPE/) },
    });
    receiver.isCutting = false;
    await run();
    expect(batchesOf(receiver).flat()).toEqual(numbers(1, 300));
  });

  test('is not there is tried at most once a minute', async () => {
    const { store, run, cursor } = await startStream({ url: 'https://localhost:1/' });
    await fill(store, 1);
    const waits: number[] = [];
    for (let at = 0; at < 8; at++) waits.push(await run());
    expect(waits.slice(-2)).toEqual([60_000, 60_000]);
    expect(await cursor()).toMatchObject({ sequence: 0, failure: { reason: 'ECONNREFUSED' } });
  });

  test.each([
    ['some seconds', () => '7', 7_000],
    ['a date', () => new Date(Date.now() + 90_000).toUTCString(), 90_000],
    ['a year', () => '31536000', 3_600_000],
  ])('asks to come again after %s is asked then, within an hour', async (_name, header, afterMs) => {
    const receiver = await startHttpReceiver();
    const { store, run } = await startStream({ url: receiver.url });
    await fill(store, 1);
    receiver.reply = () => ({ status: 429, headers: { 'retry-after': header() } });
    expect(Math.abs((await run()) - afterMs)).toBeLessThan(3_000);
  });

  test('has a certificate for another name gets nothing', async () => {
    const receiver = await startHttpReceiver(ofStranger);
    const { store, run, cursor } = await startStream({ url: receiver.url });
    await fill(store, 1);
    await run();
    expect(receiver.batches).toEqual([]);
    expect(await cursor()).toMatchObject({
      sequence: 0,
      failure: { reason: 'the certificate of the receiver is for another name' },
    });
  });

  test('has a certificate of an unknown authority gets nothing', async () => {
    const receiver = await startHttpReceiver();
    const { store, run, cursor } = await startStream({ url: receiver.url, ...({ ca: null } as object) });
    await fill(store, 1);
    await run();
    expect(receiver.batches).toEqual([]);
    expect((await cursor())?.failure?.reason).toMatch(/UNABLE_TO|SELF_SIGNED/);
  });

  test('refuses one record gets those before it, and the stream stops there and says so', async () => {
    const receiver = await startHttpReceiver();
    const poison = 13;
    const stream = await startStream({ url: receiver.url });
    const { store, run, cursor, warnings } = stream;
    await fill(store, 20);
    receiver.reply = ({ body }) =>
      body.includes(`"sequence":${poison},`) ? { status: 400, text: 'no such index' } : { status: 200 };
    expect(await run()).toBe(60_000);
    expect(batchesOf(receiver).flat()).toEqual(numbers(1, 12));
    const refused = {
      sequence: poison,
      reason: 'the receiver answered 400: no such index',
      sinceMs: startMs,
    };
    expect(await cursor()).toMatchObject({ sequence: 12, refused });
    expect(warnings).toEqual([expect.stringContaining('refuses a record')]);
    stream.time.nowMs += 60_000;
    expect(await run()).toBe(60_000);
    expect((await cursor())?.refused).toEqual(refused);
    receiver.reply = () => ({ status: 200 });
    await run();
    expect(batchesOf(receiver).flat()).toEqual(numbers(1, 20));
    expect(await cursor()).toMatchObject({ sequence: 20, refused: null });
  });

  test('finds a batch too large gets smaller ones', async () => {
    const receiver = await startHttpReceiver();
    const { store, run } = await startStream({ url: receiver.url });
    await fill(store, 30);
    receiver.reply = ({ body }) => ({ status: body.length > 5_000 ? 413 : 200 });
    await run();
    expect(batchesOf(receiver).flat()).toEqual(numbers(1, 30));
  });

  test('refuses a record that the operator skips gets a gap in its place', async () => {
    const receiver = await startHttpReceiver();
    const first = await startStream({ url: receiver.url, skip: 2 });
    await fill(first.store, 3);
    const refuses = ({ body }: { readonly body: string }) => ({
      status: body.includes('"sequence":2,') && body.includes('"event_code":"decision"') ? 400 : 200,
    });
    receiver.reply = refuses;
    await first.run();
    await first.run();
    await first.run();
    expect(codesOf(receiver)).toEqual(['decision', 'gap', 'decision']);
    expect(await first.cursor()).toMatchObject({ sequence: 3, gap: { firstSequence: 2, sequence: 2 } });
  });

  test('takes the record whose number the settings skip gets it', async () => {
    const receiver = await startHttpReceiver();
    const { store, run } = await startStream({ url: receiver.url, skip: 2 });
    await fill(store, 3);
    await run();
    expect(codesOf(receiver)).toEqual(['decision', 'decision', 'decision']);
  });
});

describe('between delivery and cursor', () => {
  test('a process that ends sends the batch again with its next start', async () => {
    const receiver = await startHttpReceiver();
    const store = await openRecords();
    let [isKilled, writes] = [false, 0];
    const documents = {
      ...store.documents,
      write: async (...call: Parameters<Store['documents']['write']>): Promise<DocumentResult> => {
        writes += 1;
        // The first write takes the cursor; after that, the process is gone.
        if (isKilled || writes > 1) throw new StoreError('closed', 'killed');
        return store.documents.write(...call);
      },
    };
    const stream = await startStream({
      url: receiver.url,
      store,
      deps: { store: { chain: store.chain, documents } },
    });
    await fill(store, 2);
    await stream.pusher.step();
    isKilled = true;
    expect(batchesOf(receiver)).toEqual([[1, 2]]);
    expect(await stream.cursor()).toMatchObject({ sequence: 0 });
    const next = stream.another({ store });
    expect((await next.step()).afterMs).toBe(5_000);
    stream.time.nowMs += 60_000;
    await stream.run(next);
    expect(batchesOf(receiver)).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(await stream.cursor()).toMatchObject({ sequence: 2 });
  });

  test('a process that alone serves its store does not wait for the one that was killed', async () => {
    const receiver = await startHttpReceiver();
    const { store, run, another } = await startStream({ url: receiver.url });
    await run();
    await fill(store, 1);
    await run(another({ isShared: false }));
    expect(batchesOf(receiver)).toEqual([[1]]);
  });

  test('a store that fails for a moment does not cause the batch to be sent again', async () => {
    const receiver = await startHttpReceiver();
    const store = await openRecords();
    let failing = 0;
    const documents = {
      ...store.documents,
      write: async (...call: Parameters<Store['documents']['write']>): Promise<DocumentResult> => {
        if (failing > 0) {
          failing -= 1;
          throw new StoreError('closed', 'no room');
        }
        return store.documents.write(...call);
      },
    };
    const stream = await startStream({
      url: receiver.url,
      store,
      deps: { store: { chain: store.chain, documents } },
    });
    await stream.run();
    await fill(store, 2);
    failing = 2;
    await stream.run();
    await stream.run();
    expect(await stream.cursor()).toMatchObject({ sequence: 0 });
    await stream.run();
    expect(await stream.cursor()).toMatchObject({ sequence: 2 });
    expect(batchesOf(receiver)).toEqual([[1, 2]]);
  });
});

describe('of two processes', () => {
  test('one sends, and the other after it has closed', async () => {
    const receiver = await startHttpReceiver();
    const { store, run, pusher, another } = await startStream({ url: receiver.url });
    const other = another();
    await fill(store, 2);
    await Promise.all([run(), run(other)]);
    await fill(store, 1);
    expect(await run(other)).toBe(5_000);
    expect(batchesOf(receiver)).toEqual([[1, 2]]);
    await pusher.close();
    await run(other);
    expect(batchesOf(receiver)).toEqual([[1, 2], [3]]);
  });

  test('one that closes while its receiver hangs passes its turn on, and blames nobody', async () => {
    const receiver = await startHttpReceiver();
    const { store, pusher, run, another, cursor, warnings } = await startStream({
      url: receiver.url,
      timeoutMs: 60_000,
    });
    const other = another();
    await fill(store, 1);
    const asked = new Promise<void>((resolve) => {
      receiver.reply = () => {
        resolve();
        return 'silent';
      };
    });
    const step = pusher.step();
    await asked;
    await pusher.close();
    await step;
    expect(await cursor()).toMatchObject({ sequence: 0, holder: null, failure: null });
    expect(warnings).toEqual([]);
    receiver.reply = () => ({ status: 200 });
    await run(other);
    expect(batchesOf(receiver)).toEqual([[1]]);
  });

  test('the other sends when the first is silent for a while, and the first gives way', async () => {
    const receiver = await startHttpReceiver();
    const { store, run, pusher, another, time } = await startStream({ url: receiver.url });
    const other = another();
    await run();
    await fill(store, 1);
    time.nowMs += 60_000;
    await run(other);
    await fill(store, 1);
    expect(await run(pusher)).toBe(5_000);
    await run(other);
    expect(batchesOf(receiver)).toEqual([[1], [2]]);
  });

  test('a sender whose turn was taken during a delivery does not move the cursor', async () => {
    const receiver = await startHttpReceiver();
    const { store, run, another, time, cursor, pusher } = await startStream({ url: receiver.url });
    const other = another();
    await run();
    await fill(store, 2);
    const asked = new Promise<void>((resolve) => {
      receiver.reply = () => {
        resolve();
        return 'silent';
      };
    });
    const step = pusher.step();
    await asked;
    time.nowMs += 60_000;
    receiver.reply = () => ({ status: 200 });
    await run(other);
    expect(await cursor()).toMatchObject({ sequence: 2, holder: 'process-2' });
    await step;
    expect(await cursor()).toMatchObject({ sequence: 2, holder: 'process-2', failure: null });
  });
});

describe('records that were', () => {
  test('deleted before they were sent are a gap', async () => {
    const receiver = await startHttpReceiver();
    const { store, run, cursor, warnings } = await startStream({ url: receiver.url });
    await run();
    for (let at = 0; at < 4; at++) await appendDecision(store);
    await pruneRecords(store, { beforeMs: startMs + 1, nowMs: startMs + 3_600_000 });
    await appendDecision(store);
    await run();
    expect(codesOf(receiver)).toEqual(['gap', 'records-pruned', 'decision']);
    const [gap] = JSON.parse(receiver.batches[0]!.body) as readonly Ocsf[];
    expect(gap).toMatchObject({
      message: 'Records 1 to 4 were deleted before they were sent',
      severity_id: 4,
      metadata: { sequence: 4, uid: 'deleted-1-4' },
    });
    expect(await cursor()).toMatchObject({
      sequence: 6,
      gap: { firstSequence: 1, sequence: 4, atMs: startMs },
    });
    expect(warnings).toEqual([expect.stringContaining('does not get some records')]);
  });

  test('deleted before the stream began are none', async () => {
    const receiver = await startHttpReceiver();
    const { store, run, cursor } = await startStream({ url: receiver.url });
    for (let at = 0; at < 4; at++) await appendDecision(store);
    await pruneRecords(store, { beforeMs: startMs + 1, nowMs: startMs + 3_600_000 });
    await run();
    expect(codesOf(receiver)).toEqual(['records-pruned']);
    expect(await cursor()).toMatchObject({ gap: null });
  });
});

test('a read that fails is tried again, later each time', async () => {
  const receiver = await startHttpReceiver();
  const store = await openRecords();
  let isBroken = false;
  const chain = {
    ...store.chain,
    segment: async (after: number, count: number): Promise<ChainSegment> => {
      if (isBroken) throw new StoreError('closed', 'no disk');
      return store.chain.segment(after, count);
    },
  };
  const { run, warnings, cursor } = await startStream({
    url: receiver.url,
    store,
    deps: { store: { chain, documents: store.documents } },
  });
  await run();
  await fill(store, 2);
  isBroken = true;
  expect([await run(), await run()]).toEqual([1_000, 2_000]);
  expect(warnings[0]).toContain('could not read records');
  isBroken = false;
  await run();
  expect(batchesOf(receiver)).toEqual([[1, 2]]);
  expect(await cursor()).toMatchObject({ sequence: 2 });
});

test('while the receiver hangs, no further record is read', async () => {
  const receiver = await startHttpReceiver();
  const store = await openRecords();
  let reads = 0;
  const chain = {
    ...store.chain,
    segment: async (after: number, count: number): Promise<ChainSegment> => {
      reads += 1;
      return store.chain.segment(after, count);
    },
  };
  const { run, cursor } = await startStream({
    url: receiver.url,
    store,
    recordsMax: 30,
    timeoutMs: 500,
    deps: { store: { chain, documents: store.documents } },
  });
  await run();
  await fill(store, 200);
  reads = 0;
  receiver.reply = () => 'silent';
  await run();
  // Two reads of 25 numbers each hold a batch of 30 records.
  expect(reads).toBe(2);
  expect(await cursor()).toMatchObject({ sequence: 0 });
});

test('a stream that runs by itself sends what comes, and ends', async () => {
  const receiver = await startHttpReceiver();
  const { store, pusher } = await startStream({ url: receiver.url });
  await fill(store, 3);
  pusher.start();
  for (let at = 0; batchesOf(receiver).length === 0 && at < 100; at++) await wait(20);
  expect(batchesOf(receiver)).toEqual([[1, 2, 3]]);
  await pusher.close();
});
