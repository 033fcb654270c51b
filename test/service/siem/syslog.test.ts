// Messages over TLS: whole frames in order, sent again when a receiver ends in the middle, never to a stranger.

import { describe, expect, test } from 'vitest';
import { authority, ofClient, ofReceiver, ofStranger } from './certificates.ts';
import { startSyslogReceiver } from './receivers.ts';
import { fill, startStream, writtenFile } from './stream.ts';

function numbersOf({ messages }: { readonly messages: readonly string[] }): readonly number[] {
  return messages.map((message) => Number(/ externalId=(\d+) /.exec(message)?.[1]));
}

const cef = { format: 'cef', recordsMax: 3 } as const;

describe('a receiver of syslog', () => {
  test('gets each message as a whole frame, in order', async () => {
    const receiver = await startSyslogReceiver();
    const { store, run, cursor } = await startStream({ ...cef, url: receiver.url });
    await fill(store, 7);
    await run();
    expect(numbersOf(receiver)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(receiver.connections).toBe(3);
    expect(await cursor()).toMatchObject({ sequence: 7, resendAfter: 6, failure: null });
  });

  test.each(['reset', 'close'] as const)(
    'that ends in the middle (%s) gets the last stretch again',
    async (mood) => {
      const receiver = await startSyslogReceiver();
      const { store, run, cursor } = await startStream({ ...cef, url: receiver.url });
      await fill(store, 3);
      await run();
      await fill(store, 3);
      receiver.mood = mood;
      await run();
      expect(await cursor()).toMatchObject({ sequence: 0, failure: { reason: expect.any(String) } });
      receiver.mood = 'well';
      await run();
      expect(numbersOf(receiver)).toEqual([1, 2, 3, 1, 2, 3, 4, 5, 6]);
      expect(await cursor()).toMatchObject({ sequence: 6, failure: null });
    },
  );

  test('that stops with messages unread gets them again when it is back', async () => {
    const receiver = await startSyslogReceiver();
    const { store, run, cursor } = await startStream({ ...cef, url: receiver.url, recordsMax: 400 });
    await fill(store, 400);
    receiver.mood = 'stop';
    await run();
    // The receiver has ended in order, so only the next connection shows that it had stopped.
    await run();
    expect(await cursor()).toMatchObject({ sequence: 0, failure: { reason: 'ECONNREFUSED' } });
    receiver.mood = 'well';
    await receiver.restart();
    await run();
    expect(numbersOf(receiver)).toEqual(Array.from({ length: 400 }, (_, at) => at + 1));
    await run();
    expect(await cursor()).toMatchObject({ sequence: 400, resendAfter: 400, failure: null });
  });

  test('that has its messages, as a further connection shows, does not get them again', async () => {
    const receiver = await startSyslogReceiver();
    const { store, run, cursor } = await startStream({ ...cef, url: receiver.url });
    await fill(store, 1);
    await run();
    await run();
    expect(await cursor()).toMatchObject({ sequence: 1, resendAfter: 1 });
    receiver.mood = 'reset';
    await fill(store, 1);
    await run();
    expect(await cursor()).toMatchObject({ sequence: 1, failure: { reason: expect.any(String) } });
    receiver.mood = 'well';
    await run();
    expect(numbersOf(receiver)).toEqual([1, 2]);
    expect(receiver.connections).toBe(4);
  });

  test('that reads nothing is given up in time', async () => {
    const receiver = await startSyslogReceiver();
    const { store, run, cursor } = await startStream({ ...cef, url: receiver.url, timeoutMs: 800 });
    await fill(store, 1);
    receiver.mood = 'deaf';
    await run();
    expect(await cursor()).toMatchObject({
      sequence: 0,
      failure: { reason: 'the receiver did not take the messages in time' },
    });
  });

  test('with a certificate for another name gets nothing', async () => {
    const receiver = await startSyslogReceiver(ofStranger);
    const { store, run, cursor } = await startStream({ ...cef, url: receiver.url });
    await fill(store, 1);
    await run();
    expect(receiver.messages).toEqual([]);
    expect((await cursor())?.failure?.reason).toBe('the certificate of the receiver is for another name');
  });

  test('that wants a certificate of the client gets it', async () => {
    const receiver = await startSyslogReceiver({ ...ofReceiver, ca: authority, requestCert: true });
    const without = await startStream({ ...cef, url: receiver.url });
    await fill(without.store, 1);
    await without.run();
    expect(receiver.messages).toEqual([]);
    expect((await without.cursor())?.sequence).toBe(0);
    const { store, run } = await startStream({
      ...cef,
      url: receiver.url,
      certificate: writtenFile('client.pem', ofClient.cert),
      key: writtenFile('client.key', ofClient.key),
    });
    await fill(store, 1);
    await run();
    expect(numbersOf(receiver)).toEqual([1]);
  });

  test('that stops is no reason to wait at the end', async () => {
    const receiver = await startSyslogReceiver();
    const { store, pusher } = await startStream({ ...cef, url: receiver.url, timeoutMs: 60_000 });
    await fill(store, 1);
    receiver.mood = 'deaf';
    const step = pusher.step();
    const startedMs = performance.now();
    await pusher.close();
    await step;
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});
