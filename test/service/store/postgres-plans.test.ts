// What a batch reads does not grow with the store. Its statements are planned once, in these tests while
// every table is empty, and must find each row by an index when there are many rows.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { agentRow, keyRow, pendingRow, requestRow, startMs } from './rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const rowsInRound = 30;
/** The number of rounds that make the store large. */
const roundCount = 60;
const limits = { openMax: 20 };
const keptUntilMs = startMs + 600_000;

/** Stores requests of each kind that is checked against another table, all under new keys. */
async function storeRound(store: Store, round: number, agentVersion: number): Promise<void> {
  const seen = { agentId: 'agent-1', agentVersion, keyNotAfterMs: null, switchGeneration: 0 };
  const stored: Promise<unknown>[] = [];
  for (let at = 0; at < rowsInRound; at += 1) {
    const name = `${round}-${at}`;
    const documents = [{ kind: 'person', id: name, version: 0 }];
    store.nonces.note({ nonce: name, usedAtMs: startMs, keptUntilMs });
    const idempotency = { key: name, bodyDigest: 'd', keptUntilMs };
    stored.push(
      store.requests.append(requestRow({ idempotency }), {
        ...limits,
        precondition: { ...seen, documents, nonce: name },
      }),
      store.requests.append(pendingRow({ agentId: `agent-${name}` }), limits),
    );
    const place = { definition: 'spent', key: `"${name}` };
    const spending = {
      row: requestRow(),
      limits,
      entries: [{ ...place, isCertain: true, value: '1' }],
      revertMeters: () => undefined,
    };
    stored.push(store.meters.spend([place], () => spending));
  }
  expect(new Set(await Promise.all(stored))).toEqual(new Set(['stored']));
}

test('a batch reads as many rows of a large store as of a small one', async () => {
  const database = await server.createDatabase();
  const store = await openStore(database);
  const agent = agentRow({ id: 'agent-1' });
  await store.agents.add(agent, keyRow(agent.id));
  const agentVersion = (await store.agents.find(agent.id))?.version ?? 0;
  await store.serve();
  let rounds = 0;
  /**
   * Rows that tables and indices have returned since the database was made, once the server has counted all
   * rounds.
   */
  const rowsRead = async (): Promise<number> => {
    const counted = async () => {
      const [found] = await server.query<{ inserted: string; read: string }>(
        `SELECT sum(n_tup_ins) FILTER (WHERE relname = 'requests') AS inserted,
           sum(coalesce(seq_tup_read, 0) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes AS one WHERE one.relid = tables.relid)) AS read
         FROM pg_stat_user_tables AS tables
         WHERE relname IN ('requests', 'agents', 'nonces', 'documents', 'meter_entries', 'meter_locks')`,
        database.name,
      );
      return { inserted: Number(found?.inserted), read: Number(found?.read) };
    };
    await expect.poll(async () => (await counted()).inserted).toBe(3 * rowsInRound * rounds);
    return (await counted()).read;
  };
  const readIn = async (count: number): Promise<number> => {
    const before = await rowsRead();
    for (const last = rounds + count; rounds < last; rounds += 1)
      await storeRound(store, rounds, agentVersion);
    return (await rowsRead()) - before;
  };
  await readIn(2);
  const small = await readIn(2);
  await readIn(roundCount);
  const large = await readIn(2);
  await store.close();
  expect(small).toBeGreaterThan(0);
  expect(large).toBeLessThanOrEqual(small + 2 * rowsInRound);
});
