// A store that was restored from a backup: whatever may have been used, stopped or revoked since the backup
// is no longer valid, on each kind of store, and nobody serves the store meanwhile.

import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeSafe } from '../../src/cli/support/make-safe.ts';
import { verifyChain } from '../../src/service/audit/verify.ts';
import { noteMoved } from '../../src/service/store/move/placement.ts';
import { openStore, openStoreAt, type StoreLocation } from '../../src/service/store/open.ts';
import { keptPostgres, type PostgresServer } from '../service/store/postgres-server.ts';
import { pendingRow, requestRow, startMs, temporaryFolder } from '../service/store/rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
}, 60_000);

const limits = { openMax: 100 };
const nowMs = startMs + 60_000;
const options = { who: 'ops', nowMs, areMetersKnown: false };

const kinds: readonly (readonly [string, () => Promise<StoreLocation>])[] = [
  ['a file', async () => ({ path: join(temporaryFolder(), 'writ.db') })],
  ['PostgreSQL', () => server.createDatabase()],
];

describe.each(kinds)('a restored store in %s', (_kind, createPlace) => {
  async function setUp() {
    const place = await createPlace();
    const open = async () => {
      const store = await openStore(place);
      onTestFinished(() => store.close());
      return store;
    };
    const restore = async (change: Partial<typeof options> = {}) => {
      const store = await openStoreAt(place);
      try {
        return await makeSafe(store, { ...options, ...change });
      } finally {
        await store.close();
      }
    };
    return { place, open, restore, store: await open() };
  }

  test('has no request that can be used again', async () => {
    const { store, restore, open } = await setUp();
    const rows = [pendingRow(), pendingRow(), requestRow(), requestRow({ expiresAtMs: startMs + 1 })];
    for (const row of rows) await store.requests.append(row, limits);
    const [first, second, third, last] = rows;
    const state = { status: 'approved', decidedAtMs: startMs, expiresAtMs: startMs + 1e6 } as const;
    const event = { atMs: startMs, who: 'p', what: 'approved', state, detail: null } as const;
    await store.requests.change({ requestId: first!.id, events: [event], from: ['pending'], seen: 0 });
    expect(await restore()).toMatchObject({ newestMs: startMs + 0, ended: 3 });
    const after = await open();
    for (const row of [first!, second!, third!]) {
      const { status, expiresAtMs } = (await after.requests.events(row.id)).at(-1)?.state ?? row;
      expect({ status, expiresAtMs }).toEqual({ status: 'expired', expiresAtMs: nowMs });
    }
    expect(await after.requests.events(last!.id)).toEqual([]);
    expect(await verifyChain(after)).toMatchObject({ kind: 'whole' });
  });

  test('grants nothing before an operator has released it, and ends all sessions', async () => {
    const { store, restore, open } = await setUp();
    const session = {
      kind: 'session',
      id: 's',
      seen: 0,
      name: null,
      parent: 'p',
      createdAtMs: 1,
      endsAtMs: null,
    };
    await store.documents.write([{ ...session, json: '{"id":"s","createdAtMs":1}' }], null);
    const { switchId, sessions } = await restore();
    const after = await open();
    expect(sessions).toBe(1);
    expect(await after.documents.find('session', 's')).toBeNull();
    const found = await after.documents.find('switch', switchId);
    expect(JSON.parse(found?.json ?? '')).toMatchObject({ scope: { kind: 'all' }, createdBy: 'ops' });
    const page = { beforeSequence: null, countMax: 5 };
    const changes = (await after.chain.changes(page)).map(({ what, who }) => `${who} ${what}`);
    expect(changes).toEqual(['ops store-restored', 'ops kill-switch-created']);
  });

  test('knows no meter from before, unless people say so, and no signature', async () => {
    const { store, restore, open } = await setUp();
    expect(await store.meters.note(['spent'], startMs)).toEqual([0]);
    expect([await store.meters.completeSinceMs(), await store.nonces.validFromMs()]).toEqual([null, null]);
    await restore();
    const after = await open();
    expect(await after.meters.note(['spent'], startMs)).toEqual([nowMs]);
    expect([await after.meters.completeSinceMs(), await after.nonces.validFromMs()]).toEqual([nowMs, nowMs]);
    await restore({ nowMs: nowMs + 5, areMetersKnown: true });
    const known = await open();
    expect(await known.meters.note(['spent'], startMs)).toEqual([0]);
    expect(await known.meters.completeSinceMs()).toBeNull();
    expect(await known.nonces.validFromMs()).toBe(nowMs + 5);
  });

  test('is not served during the command; a store that was moved is served again', async () => {
    const { store, place, restore, open } = await setUp();
    await store.serve();
    await expect(restore()).rejects.toMatchObject({ code: 'already-served' });
    await noteMoved(store, 'postgres://db', { atMs: startMs, who: 'ops', from: 'here' });
    await store.close();
    await expect(openStore(place)).rejects.toMatchObject({ code: 'moved' });
    await restore();
    await (await open()).serve();
  });
});

test('a process that served before the restore stores nothing after it', async () => {
  const place = await server.createDatabase();
  const store = await openStore(place);
  onTestFinished(() => store.close());
  await store.serve();
  // For the database nobody serves it, although the process goes on sending heartbeats.
  await server.query('UPDATE replicas SET instance = NULL', place.name);
  const restoring = await openStoreAt(place);
  await makeSafe(restoring, options);
  await restoring.close();
  await expect(store.requests.append(requestRow(), limits)).rejects.toMatchObject({ code: 'fenced' });
});
