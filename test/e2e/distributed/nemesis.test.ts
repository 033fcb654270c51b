// Three replicas under a nemesis: replicas are killed, stopped, slowed and cut off, and their clocks differ;
// the server is killed and fails over to its standby and back. Meanwhile clients ask all replicas for what
// only one may have, people vote on the same request at two of them, also as its fallback and as a stand-in, give
// standing approvals that are used at all of them, and approve plans whose steps are executed at all of them, and others
// revoke, stop and change policies. `npm run distributed` runs it for half an hour and a million decisions.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { verifyStore } from '../../../src/service/audit/verify-store.ts';
import { offerTotp } from '../../../src/service/people/codes.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { hourMs, minuteMs } from '../../../src/service/statistics/times.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { makeWebhook } from '../../../src/service/webhooks/webhook.ts';
import { firstAdmin, password, personWith, setUpCodes } from '../../service/http/person-client.ts';
import { openWire } from '../../service/store/cut-wire.ts';
import { startReceiver } from '../../service/webhooks/service.ts';
import { countStatistics } from './counted.ts';
import { judge } from './judge.ts';
import { messageFaults } from './messages.ts';
import { run } from './nemesis.ts';
import { startReplicas } from './replicas.ts';
import { startPair } from './server-pair.ts';
import { type Owner, policyText } from './world.ts';

const isLong = process.env.NEMESIS_SECONDS !== undefined;
const seconds = Number(process.env.NEMESIS_SECONDS ?? 26);
const decisionsLeast = Number(process.env.NEMESIS_DECISIONS ?? 0);
/**
 * In the test suite the run mostly waits. The long run has to decide much, and breaks as much as many short
 * runs together.
 */
const pace = isLong
  ? { clientCount: 128, pauseMs: 0, betweenChangesMs: 2_000, betweenFaultsMs: 2_000 }
  : { clientCount: 24, pauseMs: 40, betweenChangesMs: 550, betweenFaultsMs: 800 };
const seed = Number(process.env.NEMESIS_SEED ?? Math.floor(Math.random() * 2 ** 32));
/** In milliseconds; a slow machine decides 100 a second. */
vi.setConfig({ testTimeout: 300_000 + seconds * 2_000 + decisionsLeast * 10 });

const debian = '/usr/lib/postgresql/15/bin';
/** The server from npm; in the long run also Debian's, if it is installed. */
const servers = [
  { title: 'from npm', bin: undefined },
  { title: 'of Debian', bin: debian },
].filter(({ bin }) => bin === undefined || (isLong && existsSync(bin)));

const name =
  'nothing told is lost, no budget or count passed, no reading wrong, nothing granted after a stop, and one wins';
test.each(servers)(`${name}, on PostgreSQL $title`, async ({ bin }) => {
  const server = await startPair(bin);
  onTestFinished(() => server.stop());
  const database = await server.createEmptyDatabase();
  const replicas = await startReplicas(server, { database, count: 3, text: policyText(1) });
  onTestFinished(() => replicas.end());
  const wire = await openWire(server, database);
  onTestFinished(() => wire.close());
  const store = await openStore({ url: wire.url, keyFile: join(replicas.data, 'writ.key') });
  onTestFinished(() => store.close());
  const admin = await firstAdmin({ store });
  const voters = await Promise.all(
    ['ben@example.com', 'cat@example.com'].map(async (email) => {
      return await personWith({ url: '', store }, admin, { email, roles: ['approver'], groups: ['finance'] });
    }),
  );
  const { headers, person: standIn } = await personWith({ url: '', store }, admin, {
    email: 'dora@example.com',
    roles: ['approver'],
    groups: ['nobody'],
  });
  const { person: member } = voters[0]!;
  const standInPeople = {
    member: { person: member, roles: member.roles },
    standIn,
    headers,
    admin: { person: admin, roles: admin.roles },
  };
  const owners: Owner[] = [];
  for (const email of ['dan', 'eve', 'fay', 'gil'].map((name) => `${name}@example.com`)) {
    const { person, headers } = await personWith({ url: '', store }, admin, { email, roles: ['owner'] });
    const { secret } = offerTotp(person);
    // A new second factor is not accepted for step-ups during its first hour.
    await setUpCodes({ url: '', store }, person, { secret, clock: () => Date.now() - hourMs - minuteMs });
    owners.push({ email, password, headers, secret });
  }
  const directory = createDirectory(store.documents, Date.now);
  const receiver = await startReceiver();
  const hooks = { directory, masterKey: store.masterKey, arePrivateAddressesAllowed: true };
  const draft = { url: receiver.url, events: ['agent.revoked'], format: 'standard' } as const;
  const made = await makeWebhook(hooks, { person: admin, roles: admin.roles }, draft);
  const webhookId = made.kind === 'made' ? made.webhook.id : '';
  console.info(`NEMESIS_SEED=${seed}`);
  const history = await run({
    server,
    replicas,
    store,
    voters: voters.map(({ headers: own }) => own),
    standInPeople,
    owners,
    seconds,
    decisionsLeast,
    seed,
    ...pace,
  });
  const verdict = await judge(store, history);
  const { faults, outcomes: _, ...counts } = verdict;
  const { received } = receiver;
  expect(await messageFaults(directory, { webhookId, received, stops: history.stops })).toEqual([]);
  const services = history.services.map(Math.round);
  expect(faults.slice(0, 10)).toEqual([]);
  expect(counts.usedLeast).toBe(1);
  expect(Math.min(counts.ended.approved, counts.ended.rejected)).toBeGreaterThan(2);
  // Something was decided after each failover; the output shows how soon.
  expect(services.length).toBeGreaterThanOrEqual(2);
  expect(Math.max(...services)).toBeLessThan(Number.POSITIVE_INFINITY);
  expect(received.length).toBeGreaterThan(0);
  expect(counts.granted).toBeGreaterThan(isLong ? 200 : 50);
  expect(Math.min(counts.ended.expired, counts.consumed, counts.steppedUp)).toBeGreaterThan(0);
  expect(Math.min(counts.fallbacks.asked, counts.fallbacks.granted)).toBeGreaterThan(0);
  expect(Math.min(counts.standIns.votes, counts.standIns.granted)).toBeGreaterThan(0);
  if (isLong) expect(counts.reminded).toBeGreaterThan(0);
  const { used, usedUp, revoked } = counts.standing;
  expect(Math.min(used - 5, usedUp, revoked)).toBeGreaterThan(0);
  const { submitted, executed, over } = counts.plans;
  expect(Math.min(submitted - 2, executed, over)).toBeGreaterThan(0);
  const { chain, differences } = await verifyStore(store);
  expect([chain.kind, differences]).toEqual(['whole', []]);
  // Each replica has written a lane, and each restart of a replica continues the lane of its slot.
  expect(chain.kind === 'whole' && chain.end.lanes?.length).toBeGreaterThan(3);
  await replicas.end();
  // Replicas that no longer serve count as gone at once.
  await server.query("UPDATE replicas SET seen_at = seen_at - interval '1 hour'", database.name);
  const slots = await server.query<{ slot: number }>('SELECT DISTINCT slot FROM requests', database.name);
  const slotCount = Math.max(...slots.map(({ slot }) => slot)) + 1;
  const place = { url: wire.url, keyFile: join(replicas.data, 'writ.key') };
  const statistics = await countStatistics(place, slotCount, verdict);
  expect(statistics.faults).toEqual([]);
  console.info(
    JSON.stringify({
      ...counts,
      told: Object.fromEntries(history.counts),
      messages: received.length,
      stops: countsBy(history.stops, ({ kind }) => kind),
      services,
      starts: history.starts.map(Math.round),
      statistics: statistics.counts,
      verified: chain.kind === 'whole' && { sequence: chain.end.sequence, lanes: chain.end.lanes?.length },
      aSecond: Math.round(counts.decisions / history.tookS),
      nemesis: Object.fromEntries(history.faults),
      rates: Object.fromEntries(
        [...history.rates].map(([kind, { decisions, tookMs }]) => [
          kind,
          `${Math.round((decisions / tookMs) * 1000)} a second for ${Math.round(tookMs / 1000)} s`,
        ]),
      ),
      longestStops: Object.fromEntries([...history.longest].map(([kind, ms]) => [kind, Math.round(ms)])),
    }),
  );
});

function countsBy<T>(all: readonly T[], nameOf: (one: T) => string): Readonly<Record<string, number>> {
  const groups = Object.entries(Object.groupBy(all, nameOf));
  return Object.fromEntries(groups.map(([name, group = []]) => [name, group.length]));
}
