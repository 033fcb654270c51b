// Reminders and stand-ins on one PostgreSQL database that three replicas serve. INVARIANT: each person is reminded once,
// whichever replicas look and however often they start again; and a person and their stand-in who vote at the same
// moment on different replicas count as one.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { CurrentPerson } from '../../../src/service/requests/approvals/current-person.ts';
import { remind } from '../../../src/service/requests/approvals/remind.ts';
import { createRequestChanges } from '../../../src/service/requests/request-changes.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { agentRow, keyRow, startMs } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { approverOf, bystanders } from './bystanders.ts';
import { begin, type World } from './metered.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const policies = `
  approvers finance "Finance"
  action pay.send { vendor: string }
  policy pay on pay.send {
    allow all
    escalate new to finance needs 2 within 8h
  }`;
const payload = { vendor: 'Staples' };
const hourMs = 3_600_000;

const fay = approverOf(['finance'], { id: 'fay', email: 'fay@example.com' });
const finn = approverOf(['finance'], { id: 'finn', email: 'finn@example.com' });
const absent = {
  group: 'finance',
  person: { id: 'fay', email: 'fay@example.com', name: 'Fay' },
  documents: [],
};
const lea = { ...approverOf(['legal'], { id: 'lea', email: 'lea@example.com' }), standsInFor: [absent] };
const voteOf = (caller: typeof fay) => ({ caller, group: null, comment: 'fine' });

const findPeople = async (ids: readonly string[]): Promise<ReadonlyMap<string, CurrentPerson>> =>
  new Map(
    [...(await bystanders.findPeople(ids))].map(([id, person]) => [
      id,
      id === 'lea' ? { ...person, approvesFor: ['legal'], standsInFor: [absent] } : person,
    ]),
  );

async function setUp() {
  const place = await server.createDatabase();
  const agent = agentRow();
  const active = activeOf(policies);
  const replicas = await Promise.all(
    [0, 1, 2].map(async () => {
      const world: World = { nowMs: startMs, active };
      const replica = await begin(place, world, agent);
      onTestFinished(() => replica.end());
      const { store, metering } = replica;
      const deps = {
        store,
        metering,
        clock: () => world.nowMs,
        policies: () => active,
        ...bystanders,
        findPeople,
      };
      const reminders = { beforeMs: hourMs, hours: new Map() };
      const look = (id: string) =>
        remind({ ...deps, reminders, whoIsAsked: async () => ['fay', 'finn'] }, id);
      return { ...replica, world, look, requestChanges: createRequestChanges(deps) };
    }),
  );
  const [first] = replicas as [(typeof replicas)[0]];
  await first.store.agents.add(agent, keyRow(agent.id, { id: 'key00001' }));
  for (const replica of replicas) {
    await replica.store.serve();
    await replica.take(active);
  }
  return { replicas, first };
}

test('three replicas that look at once, again and again, remind once', async () => {
  const { replicas, first } = await setUp();
  const { request_id: id } = await first.ask(payload);
  const events = async () => (await first.store.requests.events(id)).map(({ what }) => what);
  const lookAll = () => Promise.all(replicas.flatMap(({ look }) => [look(id), look(id)]));
  expect((await lookAll())[0]).toBe(startMs + 7 * hourMs);
  expect(await events()).toEqual([]);
  for (const { world } of replicas) world.nowMs += 7 * hourMs;
  await lookAll();
  await lookAll();
  expect(await events()).toEqual(['reminded']);
  expect(await first.store.requests.pendingChanges(first.world.nowMs, 10)).toEqual([{ id, seen: 1 }]);
  expect(await verifyChain(first.store)).toMatchObject({ kind: 'whole' });
});

test('a person and their stand-in who vote at once on two replicas count as one', async () => {
  const { replicas, first } = await setUp();
  const [one, other] = replicas as [(typeof replicas)[0], (typeof replicas)[0]];
  for (let round = 0; round < 8; round += 1) {
    const { request_id: id } = await first.ask(payload);
    const results = await Promise.all([
      one.requestChanges.approve(id, voteOf(fay)),
      other.requestChanges.approve(id, voteOf(lea)),
    ]);
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['changed', 'conflict']);
    expect((await first.store.requests.find(id))?.status).toBe('pending');
    expect(await one.requestChanges.approve(id, voteOf(finn))).toMatchObject({
      state: { status: 'approved' },
    });
  }
  expect(await verifyChain(first.store)).toMatchObject({ kind: 'whole' });
});
