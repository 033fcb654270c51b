// Two replicas of one database each write a lane of their own; one of them sends the records of all lanes, with the knots,
// in the order of their numbers and without a hole, while both go on writing.

import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { examineStore, openStore } from '../../../src/service/store/open.ts';
import { keptPostgres, type PostgresServer } from '../store/postgres-server.ts';
import { startHttpReceiver } from './receivers.ts';
import { fill, startStream } from './stream.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
});

interface Sent {
  readonly metadata: { readonly sequence: number; readonly event_code: string };
  readonly unmapped: { readonly lane: number; readonly follows: number };
}

test('replicas that write at once send every record of every lane, one of them at a time', async () => {
  const database = await server.createDatabase();
  onTestFinished(database.drop);
  const open = async (): Promise<Store> => {
    const store = await openStore(database);
    onTestFinished(() => store.close());
    await store.serve();
    return store;
  };
  const [one, two] = [await open(), await open()];
  const receiver = await startHttpReceiver();
  const first = await startStream({ url: receiver.url, store: one, recordsMax: 20 });
  const second = await startStream({
    url: receiver.url,
    store: two,
    recordsMax: 20,
    deps: { holder: 'another' },
  });
  for (let round = 0; round < 3; round++) {
    await Promise.all([fill(one, 20), fill(two, 20), first.run(), second.run()]);
    await one.chain.tie();
  }
  await first.run();
  await second.run();
  const sent = receiver.batches.flatMap(({ body }) => JSON.parse(body) as Sent[]);
  const { records } = await one.chain.segment(0, 1_000);
  expect(sent.map(({ metadata }) => metadata.sequence)).toEqual(records.map(({ entry }) => entry.sequence));
  expect(new Set(sent.map(({ unmapped }) => unmapped.lane)).size).toBeGreaterThan(1);
  expect(sent.map(({ metadata }) => metadata.event_code)).toContain('knot');
  const ends = new Map<number, number>();
  for (const { metadata, unmapped } of sent) {
    expect(unmapped.follows).toBe(ends.get(unmapped.lane) ?? 0);
    ends.set(unmapped.lane, metadata.sequence);
  }
  expect((await examineStore(database)).cursors).toMatchObject([{ name: 'siem', lacking: 0 }]);
  await fill(two, 1);
  expect((await examineStore(database)).cursors).toMatchObject([
    { name: 'siem', lacking: expect.any(Number), lackingSinceMs: expect.any(Number) },
  ]);
});
