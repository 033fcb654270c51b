// Three replicas under a nemesis: replicas are killed, stopped and cut off, the server is killed, while clients ask all of them
// for what one may have, and people revoke, stop and change policies. `npm run distributed` runs it for longer.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { verifyChain } from '../../src/service/audit/verify.ts';
import { openStore } from '../../src/service/store/open.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { judge } from './judge.ts';
import { policyText, run } from './nemesis.ts';
import { startReplicas } from './replicas.ts';

const seconds = Number(process.env.NEMESIS_SECONDS ?? 12);
const seed = Number(process.env.NEMESIS_SEED ?? Math.floor(Math.random() * 2 ** 32));
vi.setConfig({ testTimeout: 180_000 + seconds * 2_000, hookTimeout: 60_000 });

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

test('nothing told is lost, no budget passed, no reading wrong, nothing granted after a stop, and one wins', async () => {
  const database = await server.createDatabase();
  // The key of the template's store lies with the server: this one begins with an empty database.
  await server.query(`DROP DATABASE ${database.name}`);
  await server.query(`CREATE DATABASE ${database.name}`);
  const replicas = await startReplicas(server, { database, count: 3, text: policyText(1) });
  onTestFinished(() => replicas.end());
  const store = await openStore({ url: database.url, keyFile: join(replicas.data, 'writ.key') });
  onTestFinished(() => store.close());
  const history = await run({ server, replicas, store, seconds, seed });
  const { faults, ...counts } = await judge(store, history);
  const answers = Object.groupBy(history.told, ({ status, decision }) => decision ?? String(status));
  const told = Object.fromEntries(Object.entries(answers).map(([answer, all]) => [answer, all?.length]));
  const stops = history.stops.length;
  console.info(JSON.stringify({ seed, ...counts, told, stops, ...Object.fromEntries(history.faults) }));
  expect(faults.slice(0, 10)).toEqual([]);
  expect(counts.usedLeast).toBe(1);
  expect(counts.granted).toBeGreaterThan(200);
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
});
