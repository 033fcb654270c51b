// Meters at work: several requests together never pass a limit that they would not pass one by one, whatever
// fails, ends or restarts in between.

import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { nothingSatisfied } from '../../../src/language/model/request.ts';
import { fromNumber } from '../../../src/language/value/decimal.ts';
import { createMeterTotals } from '../../../src/service/meters/meter-totals.ts';
import { fillFromEntries, fillFromRecords } from '../../../src/service/requests/metering/fill-meter.ts';
import { createMetering, metered } from '../../../src/service/requests/metering/metering.ts';
import type { MeterHistory, MeterStore } from '../../../src/service/store/contract/metering.ts';
import type { AppendResult } from '../../../src/service/store/contract/store.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { agentRow, keyRow, startMs, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { approverOf } from './bystanders.ts';
import { begin, type World } from './metered.ts';

const head = `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" | "EUR", to: string }
  action pay.ask { amount: money(currency) 0.01.., currency: "USD" }
  approvers finance "Finance"
  `;
const rules = `
  policy budget on pay.send {
    allow all
    deny beyond when spent > 100 USD
    escalate large to finance within 1h when payload.amount > 50 USD
  }`;
const meter = 'meter spent = sum(payload.amount) in USD of pay.send per agent over 24h';
const policies = `${head} ${meter} ${rules}`;
const dayMs = 24 * 60 * 60 * 1000;

async function setUp(text = policies) {
  const path = join(temporaryFolder(), 'writ.db');
  const agent = agentRow();
  const world: World = { nowMs: startMs, active: activeOf(text) };
  return { path, agent, world, service: await begin(path, world, agent) };
}

const pay = (amount: number, currency = 'USD') => ({ amount, currency, to: 'a' });

describe('a limit', () => {
  test('is not passed by many who ask at once', async () => {
    const { service } = await setUp();
    const replies = await Promise.all(Array.from({ length: 64 }, () => service.ask(pay(9))));
    expect(replies.filter(({ decision }) => decision === 'ALLOW')).toHaveLength(11);
    expect(replies.filter(({ decision }) => decision === 'DENY')).toHaveLength(53);
  });

  test('is there again when the window has moved on', async () => {
    const { service, world } = await setUp();
    expect((await service.ask(pay(50))).decision).toBe('ALLOW');
    expect((await service.ask(pay(50))).decision).toBe('ALLOW');
    world.nowMs = startMs + dayMs - 1;
    expect((await service.ask(pay(1))).decision).toBe('DENY');
    world.nowMs = startMs + dayMs;
    expect((await service.ask(pay(50))).decision).toBe('ALLOW');
  });

  test('of a day is there again at midnight of its zone, also after a start, and where it is computed from records', async () => {
    const over = (window: string) => `${policies.replace('over 24h', `over ${window}`)}`;
    const { service, world, path, agent } = await setUp(over('today in "Europe/Berlin"'));
    // The last second of the day on which clocks are put back.
    world.nowMs = Date.parse('2026-10-25T22:59:59.999Z');
    expect((await service.ask(pay(50))).decision).toBe('ALLOW');
    expect((await service.ask(pay(45))).decision).toBe('ALLOW');
    expect((await service.ask(pay(10))).decision).toBe('DENY');
    world.nowMs += 1;
    expect((await service.ask(pay(10))).decision).toBe('ALLOW');
    await service.end();
    const again = await begin(path, world, agent);
    expect((await again.ask(pay(50))).decision).toBe('ALLOW');
    expect((await again.ask(pay(41))).decision).toBe('DENY');
    await again.take(activeOf(over('this week in "Europe/Berlin"')));
    expect((await again.ask(pay(41))).decision).toBe('DENY');
    expect((await again.ask(pay(40))).decision).toBe('ALLOW');
    await again.take(activeOf(over('this month in "Europe/Berlin"')));
    expect((await again.ask(pay(0.01))).decision).toBe('DENY');
    expect(again.failures).toEqual([]);
  });

  test('counts what is pending, and what is refused not', async () => {
    const { service } = await setUp();
    expect((await service.ask(pay(60))).decision).toBe('ESCALATE');
    expect((await service.ask(pay(41))).decision).toBe('DENY');
    expect((await service.ask(pay(40))).decision).toBe('ALLOW');
  });

  test('is kept for each agent alone', async () => {
    const { service } = await setUp();
    const other = { ...agentRow(), id: 'other' };
    expect((await service.ask(pay(50))).decision).toBe('ALLOW');
    expect((await service.ask(pay(50), { by: other })).decision).toBe('ALLOW');
    expect((await service.ask(pay(50))).decision).toBe('ALLOW');
    expect((await service.ask(pay(1))).decision).toBe('DENY');
  });

  test('is unknown while an amount in another currency counts', async () => {
    const { service, world } = await setUp(
      `${head} meter spent = sum(payload.amount) in USD of pay.send per agent over 24h
       policy p on pay.send { allow all  deny beyond when payload.currency == "USD" and spent > 100 USD }`,
    );
    expect((await service.ask(pay(5, 'EUR'))).decision).toBe('ALLOW');
    const refused = await service.ask(pay(5));
    expect(refused.decision).toBe('DENY');
    expect((await service.record(refused.request_id)).meters).toEqual({
      spent: { unknown: 'it has an unknown value' },
    });
    world.nowMs += dayMs;
    expect((await service.ask(pay(5))).decision).toBe('ALLOW');
  });

  test('per session is unknown without one', async () => {
    const { service } = await setUp(
      `${head} meter runs = count() of pay.send per session over 1h
       policy p on pay.send { allow all  deny beyond when runs > 1 }`,
    );
    const refused = await service.ask(pay(1));
    expect(refused.decision).toBe('DENY');
    expect((await service.record(refused.request_id)).meters).toEqual({
      runs: { unknown: 'its key is unknown' },
    });
    const session = 's-1';
    expect((await service.ask(pay(1), { session })).decision).toBe('ALLOW');
    expect((await service.ask(pay(1), { session })).decision).toBe('DENY');
  });
});

describe('a meter that starts anew', () => {
  const since = `${head} action pay.review {}
    meter spent = sum(payload.amount) in USD of pay.send since pay.review per agent over 24h
    policy budget on pay.send { allow all  deny beyond when spent > 100 USD }
    policy review on pay.review { allow all  escalate asked to finance within 1h when agent.name == "careful" }`;
  const review = { action: 'pay.review' };

  test('reads what was granted since, also after a start, and where it is computed from records', async () => {
    const { service, world, path, agent } = await setUp(since);
    expect((await service.ask(pay(90))).decision).toBe('ALLOW');
    expect((await service.ask(pay(20))).decision).toBe('DENY');
    world.nowMs += 1;
    expect((await service.ask({}, review)).decision).toBe('ALLOW');
    world.nowMs += 1;
    expect((await service.ask(pay(70))).decision).toBe('ALLOW');
    await service.end();
    const again = await begin(path, world, agent);
    expect((await again.ask(pay(40))).decision).toBe('DENY');
    expect((await again.ask(pay(30))).decision).toBe('ALLOW');
    await again.take(activeOf(`${since.replace('over 24h', 'over 23h')}`));
    expect((await again.ask(pay(0.01))).decision).toBe('DENY');
    world.nowMs += 1;
    await again.ask({}, review);
    world.nowMs += 1;
    expect((await again.ask(pay(100))).decision).toBe('ALLOW');
  });

  test('is not started anew by what waits, is refused or was not stored', async () => {
    const { service, world, path } = await setUp(since);
    const careful = { ...agentRow({ name: 'careful' }), id: 'careful' };
    expect((await service.ask(pay(90), { by: careful })).decision).toBe('ALLOW');
    world.nowMs += 1;
    const waiting = await service.ask({}, { ...review, by: careful });
    expect(waiting.decision).toBe('ESCALATE');
    world.nowMs += 1;
    expect((await service.ask(pay(20), { by: careful })).decision).toBe('DENY');
    await service.end();
    const again = await begin(path, world, careful);
    expect((await again.ask(pay(20), { by: careful })).decision).toBe('DENY');
    const vote = { caller: approverOf(['finance']), group: null, comment: 'fine' };
    expect((await again.requestChanges.approve(waiting.request_id, vote)).kind).toBe('changed');
    world.nowMs += 1;
    expect((await again.ask(pay(20), { by: careful })).decision).toBe('ALLOW');
  });

  test('is not started anew by a grant that could not be stored', async () => {
    const { service, world } = await setUp(since);
    expect((await service.ask(pay(90))).decision).toBe('ALLOW');
    world.nowMs += 1;
    const { spend } = service.store.meters;
    const meters = service.store.meters as { spend: typeof spend };
    meters.spend = async (_, work) => {
      work()?.revertMeters();
      throw new StoreError('full', 'the disk is full');
    };
    await expect(service.ask({}, review)).rejects.toThrow();
    meters.spend = spend;
    world.nowMs += 1;
    expect((await service.ask(pay(20))).decision).toBe('DENY');
  });
});

describe('a meter that reads what calls returned', () => {
  const text = `action web.fetch { host: string } result { labels: [string], bytes: integer 0..100 }
    action mail.send {}
    action session.cleared {}
    meter bytes = sum(result.bytes) of web.fetch per session over 24h
    meter tainted = count() of web.fetch when "untrusted" in result.labels since session.cleared per session over 24h
    policy p on web.fetch, session.cleared { allow all  deny much when action.verb == "fetch" and bytes > 150 }
    policy q on mail.send { allow all  deny tainted when tainted > 0 }`;
  const inSession = (action: string) => ({ action, session: 's-1' });

  async function begun(rules = text) {
    const { path, agent, world, service } = await setUp(rules);
    return { path, agent, world, service: withCalls(service, agent) };
  }

  function withCalls(service: Awaited<ReturnType<typeof begin>>, agent: ReturnType<typeof agentRow>) {
    const fetch = () => service.ask({ host: 'a' }, inSession('web.fetch'));
    const mail = async () => (await service.ask({}, inSession('mail.send'))).decision;
    const clear = async () => (await service.ask({}, inSession('session.cleared'))).decision;
    const report = (id: string, result?: JsonObject, executed = true) =>
      service.requestChanges.report(id, {
        executed,
        ...(result && { result }),
        by: { agent },
        mayRelease: false,
      });
    return { ...service, fetch, mail, clear, report };
  }

  const page = (bytes: number, ...labels: string[]) => ({ labels, bytes });

  test('is unknown until the result is reported, also after a start', async () => {
    const { service, world, path, agent } = await begun();
    expect(await service.mail()).toBe('ALLOW');
    const { request_id: id, decision } = await service.fetch();
    expect(decision).toBe('ALLOW');
    expect(await service.mail()).toBe('DENY');
    expect((await service.fetch()).decision).toBe('DENY');
    await service.end();
    const again = withCalls(await begin(path, world, agent), agent);
    expect(await again.mail()).toBe('DENY');
    expect((await again.report(id, page(100))).kind).toBe('changed');
    expect(await again.mail()).toBe('ALLOW');
    const second = await again.fetch();
    expect(second.decision).toBe('ALLOW');
    await again.report(second.request_id, page(51, 'untrusted'));
    expect(await again.mail()).toBe('DENY');
    expect((await again.fetch()).decision).toBe('DENY');
    await again.end();
    const third = withCalls(await begin(path, world, agent), agent);
    expect(await third.mail()).toBe('DENY');
    world.nowMs += 1;
    expect(await third.clear()).toBe('ALLOW');
    world.nowMs += 1;
    expect(await third.mail()).toBe('ALLOW');
  });

  test('is computed from records with what they say of results', async () => {
    const { service, world } = await begun();
    const { request_id: id } = await service.fetch();
    await service.report(id, page(60, 'untrusted'));
    await service.fetch();
    await service.take(activeOf(text.replaceAll('24h', '23h')));
    const asked = await service.ask({ host: 'a' }, inSession('web.fetch'));
    expect((await service.record(asked.request_id)).meters).toEqual({
      bytes: { unknown: 'it has an unknown value' },
    });
    const mailed = await service.ask({}, inSession('mail.send'));
    expect((await service.record(mailed.request_id)).meters).toEqual({ tainted: { low: '1', high: '2' } });
    world.nowMs += 23 * 3_600_000;
    expect(await service.mail()).toBe('ALLOW');
  });

  test('takes a result once, of the declared shape, of what was carried out', async () => {
    const { service } = await begun();
    const { request_id: id } = await service.fetch();
    expect(await service.report(id, { labels: [], bytes: 101 })).toMatchObject({ kind: 'invalid-result' });
    expect(await service.report(id, { bytes: 1 })).toMatchObject({ kind: 'invalid-result' });
    expect(await service.report(id, page(1), false)).toMatchObject({ kind: 'invalid-result' });
    expect(await service.mail()).toBe('DENY');
    expect((await service.report(id, page(1, 'untrusted'))).kind).toBe('changed');
    expect((await service.report(id, page(1))).kind).toBe('conflict');
    expect((await service.report(id, page(1, 'untrusted'))).kind).toBe('changed');
    expect((await service.report(id)).kind).toBe('changed');
    expect(await service.mail()).toBe('DENY');
    const other = await service.ask({}, inSession('session.cleared'));
    expect(await service.report(other.request_id, page(1))).toMatchObject({ kind: 'invalid-result' });
  });

  test('stays unknown where the outcome says no result, or could not be stored', async () => {
    const { service } = await begun();
    const { request_id: id } = await service.fetch();
    const { change } = service.store.requests;
    const requests = service.store.requests as { change: typeof change };
    requests.change = () => Promise.reject(new StoreError('full', 'the disk is full'));
    await expect(service.report(id, page(1))).rejects.toThrow();
    requests.change = change;
    expect(await service.mail()).toBe('DENY');
    expect((await service.report(id)).kind).toBe('changed');
    expect(await service.mail()).toBe('DENY');
    expect((await service.report(id, page(1))).kind).toBe('conflict');
    expect(await service.mail()).toBe('DENY');
  });
});

describe('the record', () => {
  test('holds the readings that were decided on, with the request itself', async () => {
    const { service } = await setUp();
    await service.ask(pay(5));
    const { request_id: id } = await service.ask(pay(60));
    await service.ask(pay(60));
    const { request_id: last } = await service.ask(pay(1.5));
    expect((await service.record(id)).meters).toEqual({ spent: { low: '65', high: '65' } });
    expect((await service.record(last)).meters).toEqual({ spent: { low: '6.5', high: '66.5' } });
  });

  test('that is not stored leaves nothing in the meters', async () => {
    const { service } = await setUp();
    const { spend } = service.store.meters;
    const meters = service.store.meters as { spend: typeof spend };
    const failsAs = (end: () => Promise<AppendResult>) => {
      meters.spend = async (_, work) => {
        work();
        return await end();
      };
    };
    failsAs(() => Promise.reject(new StoreError('full', 'the disk is full')));
    await expect(service.ask(pay(50))).rejects.toMatchObject({ code: 'full' });
    await expect(service.ask(pay(60))).rejects.toMatchObject({ code: 'full' });
    failsAs(async () => 'too-many-open');
    await expect(service.ask(pay(60))).rejects.toThrow('too-many-open');
    meters.spend = spend;
    const { request_id: id } = await service.ask(pay(1));
    expect((await service.record(id)).meters).toEqual({ spent: { low: '1', high: '1' } });
  });
});

describe('a request that is decided again before it is stored', () => {
  test.each([
    [40, 'ALLOW', '40'],
    [60, 'ESCALATE', '60'],
    [101, 'DENY', '101'],
  ] as const)('of %i USD is %s as at once, and counts once', async (amount, decision, high) => {
    const { service } = await setUp();
    const { spend } = service.store.meters;
    let calls = 0;
    const meters = service.store.meters as { spend: typeof spend };
    meters.spend = (keys, work) =>
      spend(keys, () => {
        for (; calls < 3; calls += 1) work();
        return work();
      });
    const asked = await service.ask(pay(amount));
    expect([calls, asked.decision]).toEqual([3, decision]);
    const { meters: readings } = await service.record(asked.request_id);
    expect(readings).toMatchObject({ spent: { high } });
    const { meters: next } = await service.record((await service.ask(pay(1))).request_id);
    expect(next).toMatchObject({ spent: { high: decision === 'DENY' ? '1' : String(amount + 1) } });
  });

  test('tells the store which meters it reads and enters', async () => {
    const { service, agent } = await setUp();
    const { spend } = service.store.meters;
    const told: unknown[] = [];
    const meters = service.store.meters as { spend: typeof spend };
    meters.spend = (keys, work) => {
      told.push(keys);
      return spend(keys, work);
    };
    const { request_id: id } = await service.ask(pay(5));
    const [entered] = await service.store.meters.enteredBy(id);
    expect(entered?.key).toContain(agent.id);
    expect(told).toEqual([[{ definition: entered?.definition, key: entered?.key }]]);
  });
});

describe('a wait that ends', () => {
  const caller = approverOf(['finance']);
  const approvedAt = (decidedAtMs: number) =>
    ({ status: 'approved', decidedAtMs, expiresAtMs: decidedAtMs + 1_000 }) as const;

  test('gives back what it had reserved when it expires or is rejected', async () => {
    const { service, world } = await setUp();
    await service.ask(pay(60));
    expect((await service.ask(pay(41))).decision).toBe('DENY');
    world.nowMs += 3_600_000;
    for (const id of await service.store.requests.expireDue(world.nowMs, 10))
      service.metering.settle(id, null);
    expect((await service.ask(pay(41))).decision).toBe('ALLOW');
  });

  test('is decided again on readings of that moment, and counts when it is approved', async () => {
    const { service, agent, world } = await setUp();
    await service.store.agents.add(agent, keyRow(agent.id));
    const { request_id: id } = await service.ask(pay(60));
    expect((await service.ask(pay(40))).decision).toBe('ALLOW');
    world.nowMs += 1_000;
    const changed = await service.requestChanges.approve(id, { caller, group: null, comment: 'fine' });
    expect(changed).toMatchObject({ kind: 'changed', state: { status: 'approved' } });
    const decided = (await service.store.requests.events(id)).find(({ what }) => what === 'decided');
    expect(decided?.detail).toMatchObject({ meters: { spent: { low: '100', high: '100' } } });
    const { request_id: next } = await service.ask(pay(1));
    expect((await service.record(next)).meters).toEqual({ spent: { low: '101', high: '101' } });
  });

  test("is refused by today's policies where its limit is lower, and gives its share back", async () => {
    const { service, agent, world } = await setUp();
    await service.store.agents.add(agent, keyRow(agent.id));
    const { request_id: id } = await service.ask(pay(60));
    // Also changes a meter's definition, so that its past has yet to be read.
    world.active = activeOf(policies.replace('> 100 USD', '> 59 USD').replace('over 24h', 'over 48h'));
    const changed = await service.requestChanges.approve(id, { caller, group: null, comment: 'fine' });
    expect(changed).toMatchObject({ kind: 'changed', state: { status: 'rejected' } });
    expect((await service.ask(pay(50))).decision).toBe('ALLOW');
  });

  test('is not refused for want of a past that is just being read', async () => {
    const { service, agent, world } = await setUp();
    await service.store.agents.add(agent, keyRow(agent.id));
    const { request_id: id } = await service.ask(pay(60));
    world.active = activeOf(policies.replace('over 24h', 'over 48h'));
    const changed = await service.requestChanges.approve(id, { caller, group: null, comment: 'fine' });
    expect(changed).toMatchObject({ kind: 'changed', state: { status: 'approved' } });
  });

  test.each(['at once', 'after another start'])('counts from its approval on: %s', async (when) => {
    const { service, world, path, agent } = await setUp();
    const { request_id: requestId } = await service.ask(pay(60));
    world.nowMs += 1_000;
    const state = approvedAt(world.nowMs);
    const events = [{ atMs: world.nowMs, who: 'system', what: 'decided', state, detail: {} }] as const;
    await service.store.requests.change({ requestId, events, from: ['pending'], seen: null });
    service.metering.settle(requestId, world.nowMs);
    let next = service;
    if (when !== 'at once') {
      await service.end();
      next = await begin(path, world, agent);
    }
    world.nowMs = startMs + dayMs;
    const { request_id: within } = await next.ask(pay(1));
    expect((await next.record(within)).meters).toEqual({ spent: { low: '61', high: '61' } });
    world.nowMs = startMs + dayMs + 1_000;
    const { request_id: after } = await next.ask(pay(1));
    expect((await next.record(after)).meters).toEqual({ spent: { low: '2', high: '2' } });
  });
});

describe('the next start', () => {
  test('knows what was granted and what is pending', async () => {
    const { service, world, path, agent } = await setUp();
    await service.ask(pay(5));
    await service.ask(pay(60));
    await service.ask(pay(500));
    await service.end();
    const next = await begin(path, world, agent);
    const { request_id: id } = await next.ask(pay(1));
    expect((await next.record(id)).meters).toEqual({ spent: { low: '6', high: '66' } });
  });

  test('reads nothing until the past is filled in', async () => {
    const { service, world } = await setUp();
    await service.ask(pay(5));
    world.active = activeOf(policies.replace('over 24h', 'over 48h'));
    const refused = await service.ask(pay(1));
    expect(refused.decision).toBe('DENY');
    expect((await service.record(refused.request_id)).meters).toEqual({
      spent: { unknown: 'its history is unknown' },
    });
    await service.metering.settled();
    expect((await service.ask(pay(1))).decision).toBe('ALLOW');
  });
});

test('a past that cannot be read leaves the meter unknown, and is read at the next try', async () => {
  const { service, world } = await setUp();
  await service.ask(pay(5));
  const { counted } = service.store.meters;
  const failing = service.store.meters as { counted: typeof counted };
  failing.counted = () => Promise.reject(new StoreError('io', 'the disk reported an error'));
  await service.take(activeOf(policies.replace('over 24h', 'over 48h')));
  expect(service.failures).toMatchObject([{ code: 'io' }]);
  expect((await service.ask(pay(1))).decision).toBe('DENY');
  failing.counted = counted;
  await service.metering.tidy(world.active);
  const { request_id: id } = await service.ask(pay(1));
  expect((await service.record(id)).meters).toEqual({ spent: { low: '6', high: '6' } });
});

test.each(['records', 'entries'])('what of %s was read before reading failed counts once', async (from) => {
  const { service, world } = await setUp();
  const { request_id: id } = await service.ask(pay(5));
  const { meters } = service.store;
  const { key } = (await meters.enteredBy(id))[0]!;
  let isFailing = true;
  const fail = () => {
    if (isFailing) throw new StoreError('io', 'the disk reported an error');
  };
  const failing: MeterStore = {
    ...meters,
    async noteComplete(...values) {
      fail();
      await meters.noteComplete(...values);
    },
  };
  const past = await meters.openPast();
  onTestFinished(() => past.close());
  const failingPast: MeterHistory = {
    ...past,
    async *granted(...values) {
      yield* past.granted(...values);
      fail();
    },
  };
  const { active, nowMs } = world;
  const definition = active.meters[0]!;
  const totals = createMeterTotals();
  const options = { totals, meters: failing, active, nowMs, sinceMs: 0, isStill: () => true };
  const fill = () =>
    from === 'records'
      ? fillFromRecords(definition, options)
      : fillFromEntries(definition, failingPast, options);
  await expect(fill()).rejects.toMatchObject({ code: 'io' });
  isFailing = false;
  await fill();
  expect(totals.read({ definition, key, contribution: null }, { nowMs, requestId: null })).toEqual({
    low: fromNumber(5),
    high: fromNumber(5),
  });
});

describe('another set', () => {
  test.each([
    ['a meter under another name', policies.replaceAll('spent', 'total_of_day'), 'total_of_day', '6', '66'],
    ['a new meter', policies.replace('over 24h', 'over 48h'), 'spent', '6', '66'],
    [
      'one that counts',
      policies.replace('sum(payload.amount) in USD', 'count()').replace('100 USD', '100'),
      'spent',
      '2',
      '3',
    ],
  ])('goes on with %s', async (_, text, name, low, high) => {
    const { service, world, path, agent } = await setUp();
    await service.ask(pay(5));
    await service.ask(pay(60));
    await service.ask(pay(500));
    await service.take(activeOf(text));
    const { request_id: id } = await service.ask(pay(1));
    expect((await service.record(id)).meters).toEqual({ [name]: { low, high } });
    await service.end();
    const next = await begin(path, world, agent);
    world.nowMs += dayMs - 1;
    const last = await next.record((await next.ask(pay(1))).request_id);
    const one = (text: string) => String(Number(text) + 1);
    expect(last.meters).toEqual({ [name]: { low: one(low), high: one(high) } });
  });

  test('whose meter was away in between has missed nothing', async () => {
    const { service, world } = await setUp();
    const first = world.active;
    await service.ask(pay(5));
    await service.take(activeOf(`${head} policy p on pay.send { allow all }`));
    await service.ask(pay(20));
    await service.take(first);
    const { request_id: id } = await service.ask(pay(1));
    expect((await service.record(id)).meters).toEqual({ spent: { low: '26', high: '26' } });
  });

  test('that reads what records lack knows nothing until these are out of the window', async () => {
    const { service, world } = await setUp();
    await service.ask(pay(5));
    world.nowMs += 1_000;
    const text = policies
      .replace('to: string }', 'to: string, fee: money(currency) }')
      .replace('sum(payload.amount)', 'sum(payload.fee)');
    await service.take(activeOf(text));
    const send = { ...pay(1), fee: 1 };
    expect((await service.ask(send)).decision).toBe('DENY');
    world.nowMs = startMs + dayMs;
    await service.metering.tidy(world.active);
    expect((await service.ask(send)).decision).toBe('ALLOW');
  });

  test('that looks back further than records reach knows nothing until they do', async () => {
    const { service, world } = await setUp();
    await service.ask(pay(5));
    world.nowMs += 1_000;
    await service.ask(pay(5));
    const { records } = await service.store.chain.segment(0, 10);
    const { entry, hash } = records.find(({ entry: { kind } }) => kind === 'request')!;
    await service.store.chain.prune({
      sequence: entry.sequence,
      hash,
      atMs: world.nowMs,
      purpose: 'pruned',
      signature: 'x',
    });
    await service.take(activeOf(policies.replace('over 24h', 'over 48h')));
    expect((await service.ask(pay(5))).decision).toBe('DENY');
    world.nowMs += 2 * dayMs;
    await service.metering.tidy(world.active);
    expect((await service.ask(pay(5))).decision).toBe('ALLOW');
  });
});

test('meters are unknown once the store cannot tell what it holds, and are read from it again', async () => {
  const { service, world, agent } = await setUp();
  await service.ask(pay(7));
  let forget = () => {};
  const { meters } = service.store;
  const told: MeterStore = {
    ...meters,
    onUncertain: (listener) => {
      forget = listener;
    },
  };
  const metering = createMetering({ meters: told, clock: () => world.nowMs });
  const known = async () => {
    await metered(metering, () => world.active);
    await metering.settled();
  };
  await known();
  const uses = world.active.entries({
    action: 'pay.send',
    payload: pay(5),
    agent: { id: agent.id },
    request: { ip: '192.0.2.7', signed: false },
    nowMs: world.nowMs,
    meters: {},
    satisfied: nothingSatisfied,
  });
  metering.enter('never stored', uses, world.nowMs);
  const read = () => metering.read(uses, { nowMs: world.nowMs, requestId: null }).known;
  expect(read()).toEqual({ spent: { low: fromNumber(17), high: fromNumber(17) } });
  forget();
  expect(read()).toEqual({});
  await known();
  expect(read()).toEqual({ spent: { low: fromNumber(12), high: fromNumber(12) } });
});
