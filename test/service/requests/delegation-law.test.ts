// LAW: a request of a sub-agent is granted exactly when every link of its chain lasts and has a use left. Chains of
// up to five links are made, used, revoked and expire in random order: one step after the other against a model, and
// many at once against the records. Nothing is granted once a revocation is acknowledged.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ActingDelegate } from '../../../src/service/agents/delegations/delegation.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { createUseCounter, readUses } from '../../../src/service/requests/metering/delegation-uses.ts';
import { createMetering, type Metering } from '../../../src/service/requests/metering/metering.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { approverOf } from './bystanders.ts';
import { delegate, identify, recordedUses, revoke, startOnFile, startOnPostgres } from './delegated.ts';
import { createOrder } from './order.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const stores = [
  ['a file', () => startOnFile()],
  ['PostgreSQL with two replicas', () => startOnPostgres(server, 2)],
] as const;

const vote = { caller: approverOf(['finance']), group: null, comment: 'fine' };

/** A delegation as the model knows it. */
interface Link {
  readonly id: string;
  readonly key: string;
  readonly above: Link | null;
  readonly depth: number;
  readonly untilMs: number;
  readonly uses: number | null;
  used: number;
  isRevoked: boolean;
}

/** The link and those above it. */
function chainOf(link: Link): readonly Link[] {
  return link.above === null ? [link] : [...chainOf(link.above), link];
}

const lasts = (link: Link, nowMs: number) =>
  chainOf(link).every(({ isRevoked, untilMs }) => !isRevoked && nowMs < untilMs);
const hasUses = (link: Link) => chainOf(link).every(({ uses, used }) => uses === null || used < uses);

describe.each(stores)('on %s', (_, start) => {
  test.each([1, 2, 3])('step by step, as the model says, seed %i', { timeout: 60_000 }, async (seed) => {
    const processes = await start();
    const { world, replicas, stores } = processes;
    const { below, pick } = createOrder(seed);
    const links: Link[] = [];
    const pending: { readonly id: string; readonly link: Link }[] = [];
    /** Who asked before may ask again with what was found then. */
    const found = new Map<Link, ActingDelegate>();
    const seen = new Map<string, number>();
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    const spend = (link: Link, by: number) => {
      for (const one of chainOf(link)) one.used += by;
    };

    const steps = {
      async delegate() {
        const lasting = links.filter((link) => lasts(link, world.nowMs));
        const deepest = lasting.toSorted((a, b) => b.depth - a.depth).slice(0, 2);
        const from = below(4) > 0 && lasting.length > 0 ? deepest : links;
        const above = from.length > 0 && below(6) > 0 ? pick(from) : null;
        const depth = (above?.depth ?? 0) + 1;
        const untilMs = world.nowMs + 1_000 * (5 + below(200));
        const terms = {
          uses: below(2) === 0 ? null : 1 + below(4),
          untilMs: below(4) === 0 ? untilMs : Math.min(untilMs, above?.untilMs ?? untilMs),
        };
        const made = await delegate(processes, above?.key ?? null, terms);
        if (above !== null && !lasts(above, world.nowMs)) expect(made).toBeNull();
        if (depth > 5) expect(made).toBeNull();
        if (made !== null) links.push({ ...made, ...terms, above, depth, used: 0, isRevoked: false });
      },
      async ask() {
        if (links.length === 0) return;
        const link = pick(links);
        const { store, ask } = pick(replicas);
        const now = await identify(store, link.key, world.nowMs);
        expect(now !== null).toBe(lasts(link, world.nowMs));
        const by = below(2) === 0 ? (found.get(link) ?? now) : now;
        if (by === null) return;
        found.set(link, by);
        const action = pick(['pay.send', 'pay.send', 'pay.large']);
        const result = await ask(by, action);
        const isGood = lasts(link, world.nowMs) && hasUses(link);
        const wanted = action === 'pay.send' ? 'auto_approved' : 'pending';
        const got = result.kind === 'decided' ? result.request.status : result.kind;
        expect([link.depth, got]).toEqual([link.depth, isGood ? wanted : 'not-allowed-now']);
        count(got);
        if (!isGood) return;
        spend(link, 1);
        if (result.kind === 'decided' && wanted === 'pending')
          pending.push({ id: result.request.request_id, link });
      },
      async plan() {
        const lasting = links.filter((link) => lasts(link, world.nowMs));
        if (lasting.length === 0) return;
        const link = pick(lasting);
        const { store, plan } = pick(replicas);
        const actions = Array.from({ length: 1 + below(3) }, () => pick(['pay.send', 'pay.large']));
        const result = await plan((await identify(store, link.key, world.nowMs))!, actions);
        const least = Math.min(...chainOf(link).map(({ uses, used }) => (uses ?? 1_000) - used));
        const asking = actions.filter((action) => action === 'pay.large').length;
        const wanted = least <= 0 ? 'not-allowed-now' : asking > least ? 'too-few-uses' : 'made';
        expect([actions, least, result.kind]).toEqual([actions, least, wanted]);
        count(`plan ${result.kind}`);
        if (result.kind !== 'made') return;
        spend(link, asking);
        for (const { requestId } of result.plan.steps)
          if (requestId !== null) pending.push({ id: requestId, link });
      },
      async approve() {
        const [one] = pending.splice(below(Math.max(1, pending.length)), 1);
        if (one === undefined) return;
        const { kind } = await pick(replicas).requestChanges.approve(one.id, vote);
        expect(kind).toBe(lasts(one.link, world.nowMs) ? 'changed' : 'stopped');
        count(`approval ${kind}`);
      },
      async reject() {
        const [one] = pending.splice(below(Math.max(1, pending.length)), 1);
        if (one === undefined) return;
        const { kind } = await pick(replicas).requestChanges.reject(one.id, vote);
        if (kind === 'changed') spend(one.link, -1);
      },
      async revoke() {
        if (links.length === 0) return;
        const link = pick(links);
        await revoke(pick(stores), link.id, world.nowMs);
        if (world.nowMs < link.untilMs) link.isRevoked = true;
      },
      async wait() {
        world.nowMs += 1_000 * below(8);
      },
    };
    const often = [
      'delegate',
      'delegate',
      'ask',
      'ask',
      'ask',
      'ask',
      'plan',
      'approve',
      'approve',
      'reject',
    ] as const;
    for (let at = 0; at < 300; at += 1)
      await steps[pick(below(12) === 0 ? (['revoke', 'wait'] as const) : often)]();

    for (const name of ['auto_approved', 'pending', 'not-allowed-now', 'approval changed', 'plan made'])
      expect([name, seen.get(name) ?? 0]).toEqual([name, expect.toSatisfy((times) => times > 2)]);
    expect((seen.get('plan too-few-uses') ?? 0) + (seen.get('plan not-allowed-now') ?? 0)).toBeGreaterThan(0);
    expect(Math.max(...links.map(({ depth }) => depth))).toBe(5);
    expect(await verifyChain(replicas[0]!.store)).toMatchObject({ kind: 'whole' });
  });

  test.each([1, 2])('all at once, seed %i', { timeout: 60_000 }, async (seed) => {
    const processes = await start();
    const { world, replicas, stores } = processes;
    const { below, pick } = createOrder(seed);
    const links: Link[] = [];
    const found: { readonly link: Link; readonly by: ActingDelegate }[] = [];
    const late: string[] = [];
    const add = async () => {
      const above = links.length > 0 && below(4) > 0 ? pick(links.slice(-12)) : null;
      const untilMs = world.nowMs + 1_000 * (20 + below(200));
      const uses = below(2) === 0 ? null : 3 + below(20);
      const made = await delegate(processes, above?.key ?? null, { uses, untilMs });
      const depth = (above?.depth ?? 0) + 1;
      if (made !== null) links.push({ ...made, above, depth, untilMs, uses, used: 0, isRevoked: false });
    };
    const look = async () => {
      if (links.length === 0) return;
      const link = pick(links.slice(-12));
      const by = await identify(pick(stores), link.key, world.nowMs);
      if (by !== null) found.push({ link, by });
    };
    const ask = async () => {
      if (found.length === 0) return;
      const { link, by } = pick(found.slice(-12));
      // Revoked, and acknowledged, before the request is sent.
      const wasRevoked = chainOf(link).some(({ isRevoked }) => isRevoked);
      const result = await pick(replicas).ask(by);
      if (wasRevoked && result.kind === 'decided') late.push(link.id);
    };
    const end = async () => {
      if (links.length === 0) return;
      const link = pick(links.slice(-12));
      await revoke(pick(stores), link.id, world.nowMs);
      link.isRevoked = true;
    };
    for (let round = 0; round < 60; round += 1) {
      world.nowMs += 500;
      await Promise.all(
        Array.from({ length: 10 }, () => pick([add, look, look, ask, ask, ask, ask, ask, ask, end])()),
      );
    }
    expect(late).toEqual([]);
    const { grants, refusable, wrong } = await walk(replicas[0]!.store);
    expect(wrong).toEqual([]);
    // How many calls of several replicas are granted depends on how they meet.
    expect(grants).toBeGreaterThan(replicas.length > 1 ? 25 : 60);
    expect(refusable).toBeGreaterThan(10);
    expect(await verifyChain(replicas[0]!.store)).toMatchObject({ kind: 'whole' });
  });

  test('64 at once use a count of 10 exactly 10 times, by any link that shares it', async () => {
    const processes = await start();
    const { world, replicas } = processes;
    const top = await delegate(processes, null, { uses: 10 });
    const middle = await delegate(processes, top!.key, { uses: 10 });
    const last = await delegate(processes, middle!.key);
    const callers = await Promise.all(
      [top, middle, last].map((one) => identify(replicas[0]!.store, one!.key, world.nowMs)),
    );
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, at) => replicas[at % replicas.length]!.ask(callers[at % 3]!)),
    );
    expect(results.filter(({ kind }) => kind === 'decided')).toHaveLength(10);
    expect((await recordedUses(replicas[0]!.store)).get(top!.id)).toBe(10);
  });

  test('64 plans and requests at once take a count of 10 exactly, whole plans only, and execute what was approved', async () => {
    const processes = await start();
    const { world, replicas } = processes;
    const [{ store, requestChanges }] = replicas as [(typeof replicas)[0]];
    const top = await delegate(processes, null, { uses: 10 });
    const last = await delegate(processes, top!.key);
    const callers = await Promise.all([top, last].map((one) => identify(store, one!.key, world.nowMs)));
    const caller = (at: number) => callers[at % 2]!;
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, at) => {
        const { ask, plan } = replicas[at % replicas.length]!;
        return at % 16 === 0
          ? ask(caller(at >> 4))
          : plan(caller(at), ['pay.large', 'pay.send', 'pay.large']);
      }),
    );
    const plans = results.flatMap((one) => (one.kind === 'made' ? [one.plan] : []));
    const granted = results.filter(({ kind }) => kind === 'decided').length;
    // One use may be left when only plans of two pending steps are left.
    const used = 2 * plans.length + granted;
    expect(used).toBeGreaterThanOrEqual(9);
    expect((await recordedUses(store)).get(top!.id)).toBe(used);
    expect(used).toBeLessThanOrEqual(10);
    expect(plans.length).toBeGreaterThan(0);
    const ids = plans.flatMap(({ steps }) => steps.flatMap(({ requestId }) => requestId ?? []));
    expect(ids).toHaveLength(2 * plans.length);
    for (const id of ids) expect((await requestChanges.approve(id, vote)).kind).toBe('changed');
    // The last use, if there is one, so that only approved steps are left to execute.
    if (used < 10) expect((await replicas.at(-1)!.ask(caller(0))).kind).toBe('decided');
    const executed = await Promise.all(
      Array.from({ length: 64 }, (_, at) => replicas[at % replicas.length]!.attach(caller(at), 'pay.large')),
    );
    const taken = executed.flatMap((one) => (one.kind === 'decided' ? [one.request.request_id] : []));
    expect(taken.toSorted()).toEqual(ids.toSorted());
    expect((await recordedUses(store)).get(top!.id)).toBe(10);
    expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
  });

  test('the uses of a chain are still counted after a start', async () => {
    const processes = await start();
    const { world, replicas } = processes;
    const [{ store, ask, metering }] = replicas as [(typeof replicas)[0]];
    const top = await delegate(processes, null, { uses: 3 });
    const below = await delegate(processes, top!.key, { uses: 3 });
    const caller = await identify(store, below!.key, world.nowMs);
    for (let at = 0; at < 2; at += 1) await ask(caller!);
    const again = createMetering({ meters: store.meters, clock: () => world.nowMs });
    await again.note(world.active);
    await again.settled();
    const counters = [metering, again].map((one) => createUseCounter(one, world.nowMs));
    for (const count of [...counters, await readUses(store.meters)])
      expect([count({ id: top!.id, above: [] }), count({ id: below!.id, above: [top!.id] })]).toEqual([2, 2]);
    await again.close();
  });

  test('the uses of a chain computed from records are those that were counted, also of a grant that was given back', async () => {
    const processes = await start();
    const { world, agent, replicas } = processes;
    const [{ store, ask, metering, requestChanges }] = replicas as [(typeof replicas)[0]];
    const top = await delegate(processes, null, { uses: 9 });
    const below = await delegate(processes, top!.key, { uses: 9 });
    const caller = await identify(store, below!.key, world.nowMs);
    const made: string[] = [];
    for (const action of ['pay.send', 'pay.send', 'pay.large', 'pay.large', 'pay.large']) {
      const result = await ask(caller!, action);
      if (result.kind === 'decided') made.push(result.request.request_id);
    }
    const [back, , approved, rejected] = made as [string, string, string, string];
    const unused = { executed: false, by: { agent }, mayRelease: true };
    expect(await requestChanges.report(back, unused)).toMatchObject({ kind: 'changed' });
    expect(await requestChanges.approve(approved, vote)).toMatchObject({ kind: 'changed' });
    expect(await requestChanges.report(approved, unused)).toMatchObject({ kind: 'changed' });
    expect(await requestChanges.reject(rejected, vote)).toMatchObject({ kind: 'changed' });
    await metering.catchUp();
    const uses = (one: Metering) => {
      const count = createUseCounter(one, world.nowMs);
      return [count({ id: top!.id, above: [] }), count({ id: below!.id, above: [top!.id] })];
    };
    expect(uses(metering)).toEqual([4, 4]);
    // The store forgets the entries, so that they are computed from records.
    await store.meters.note([], world.nowMs);
    const again = createMetering({ meters: store.meters, clock: () => world.nowMs });
    await again.note(world.active);
    await again.settled();
    expect(uses(again)).toEqual([4, 4]);
    const stored = await readUses(store.meters);
    expect(stored({ id: below!.id, above: [top!.id] })).toBe(4);
    await again.close();
  });
});

test('while uses are not known, nothing is granted by a delegation that has a limit', async () => {
  const processes = await startOnFile(({ meters }) => ({
    ...meters,
    openPast: () => Promise.reject(new Error('the disk failed')),
  }));
  const { world, replicas } = processes;
  const [{ store, ask, plan }] = replicas as [(typeof replicas)[0]];
  const open = await delegate(processes, null);
  const limited = await delegate(processes, open!.key, { uses: 5 });
  const callers = [open, limited].map((one) => identify(store, one!.key, world.nowMs));
  const [free, held] = await Promise.all(callers);
  await expect(ask(held!)).rejects.toMatchObject({ code: 'not-ready' });
  await expect(plan(held!, ['pay.large'])).rejects.toMatchObject({ code: 'not-ready' });
  expect((await recordedUses(store)).size).toBe(0);
  expect((await ask(free!)).kind).toBe('decided');
});

test('no use is gained or lost, whenever the server is killed', { timeout: 120_000 }, async () => {
  const processes = await startOnPostgres(server, 1);
  const { world, replicas } = processes;
  const [{ store, ask }] = replicas as [(typeof replicas)[0]];
  const top = await delegate(processes, null, { uses: 60 });
  const below = await delegate(processes, top!.key);
  const caller = await identify(store, below!.key, world.nowMs);
  let isOver = false;
  const asking = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      await ask(caller!).catch(() => undefined);
      await sleep(30);
    }
  });
  for (let kills = 0; kills < 3; kills += 1) {
    await sleep(150 + 60 * kills);
    await server.kill();
    await server.start();
    await expect.poll(() => store.isWritable()).toBe(true);
  }
  const used = async () => (await recordedUses(store)).get(top!.id) ?? 0;
  await expect.poll(used, { timeout: 60_000 }).toBe(60);
  isOver = true;
  await Promise.all(asking);
  expect(await used()).toBe(60);
});

interface Made {
  readonly untilMs: number;
  readonly uses: number | null;
  isRevoked: boolean;
  used: number;
}

/** Goes through the records in their order, independently of how the service decides. */
async function walk({ chain }: Store) {
  const made = new Map<string, Made>();
  const wrong: string[] = [];
  let grants = 0;
  const { records } = await chain.segment(0, 1_000_000);
  for (const { entry } of records) {
    const json = (name: string) => JSON.parse(String(entry[name] ?? 'null'));
    if (entry.kind === 'change' && entry.what === 'delegation-made') {
      const { until, uses } = json('after_json');
      made.set(String(entry.subject), { untilMs: Date.parse(until), uses, isRevoked: false, used: 0 });
    }
    if (entry.kind === 'change' && entry.what === 'delegation-revoked')
      made.get(String(entry.subject))!.isRevoked = true;
    if (entry.kind !== 'request' || entry.status === 'rejected') continue;
    grants += 1;
    for (const { id } of json('record_json').chain) {
      const link = made.get(id);
      if (link !== undefined) link.used += 1;
      const reasons = {
        'the link was not made': link === undefined,
        'the link is revoked': link?.isRevoked === true,
        'the link is over': link !== undefined && link.untilMs <= Number(entry.created_ms),
        'the link had no use left': link !== undefined && link.used > (link.uses ?? Number.POSITIVE_INFINITY),
      };
      for (const [reason, holds] of Object.entries(reasons))
        if (holds) wrong.push(`record ${entry.sequence}: ${reason}`);
    }
  }
  const refusable = [...made.values()].filter(
    ({ isRevoked, uses, used }) => isRevoked || used === uses,
  ).length;
  return { grants, refusable, wrong };
}
