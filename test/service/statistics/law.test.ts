// THE LAW OF STATISTICS: whatever happened, in whatever order, with kills in between, an overview of any time
// equals a count of that time's records, and the hits of rules equal a count of all records.

import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';
import { type OverviewRange, overviewRange, readOverview } from '../../../src/service/statistics/overview.ts';
import { hourMs, keptMs, minuteMs } from '../../../src/service/statistics/times.ts';
import type { StatisticsChange } from '../../../src/service/store/contract/statistics.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { approverOf } from '../requests/bystanders.ts';
import { agentRow, keyRow, requestRow, startMs, temporaryFolder } from '../store/rows.ts';
import { naiveHits, overviewFaults, shownHits } from './naive.ts';
import { beginStatistics, requestPath, type World } from './world.ts';

interface Life extends World {
  failures: unknown[];
}

async function setUp(): Promise<Life> {
  const store = await openStore({ path: join(temporaryFolder(), 'writ.db') });
  onTestFinished(() => store.close());
  const agent = agentRow();
  await store.agents.add(agent, keyRow(agent.id));
  const world = { store, agent, nowMs: startMs + 12_345 };
  return Object.assign(world, await beginStatistics(world, () => world.nowMs));
}

/** The process ends without warning and another begins. */
async function restart(world: Life): Promise<void> {
  Object.assign(world, await beginStatistics(world, () => world.nowMs));
  await world.statistics.caughtUp();
}

const caller = approverOf(['finance']);

function anyRange(random: RandomSource, { nowMs }: World): OverviewRange {
  const span = random.pick([7 * minuteMs, 2 * hourMs, 26 * hourMs, 20 * 24 * hourMs]);
  const untilMs = nowMs + 1 - random.pick([0, 0, 3 * minuteMs, 5 * hourMs]);
  const range = { fromMs: untilMs - 1 - random.below(span), untilMs };
  return overviewRange(range, { bucketsMax: 1 + random.below(60), nowMs });
}

async function live(world: Life, random: RandomSource, steps: number): Promise<void> {
  const { ask, refuse, requestChanges } = requestPath(world);
  const waiting: string[] = [];
  const draft = { caller, group: null, comment: '' };
  const one = async (): Promise<void> => {
    const roll = random.below(100);
    if (roll < 55) {
      const payload = { amount: random.below(100), vendor: random.pick(['a', 'b', 'bad', 'odd']) };
      const { request_id: id, status } = await ask(
        payload,
        random.pick(['pay.send', 'pay.send', 'pay.other']),
      );
      if (status === 'pending') waiting.push(id);
    } else if (roll < 58) {
      world.inDoubt = random.pick(['stored', 'lost']);
      await expect(ask({ amount: random.below(100), vendor: 'a' })).rejects.toThrow('nobody knows');
      // Mostly long enough for the outcome to be known again; otherwise the doubt lasts into a restart.
      if (random.chance(0.8)) world.nowMs += 6_000;
      else await restart(world);
    } else if (roll < 60) await refuse();
    else if (roll < 66) await ask({ amount: 'none' });
    else if (roll < 74 && waiting.length > 0) await requestChanges.approve(waiting.pop() ?? '', draft);
    else if (roll < 78 && waiting.length > 0) await requestChanges.reject(waiting.pop() ?? '', draft);
    else if (roll < 83) await world.store.requests.expireDue(Math.trunc(world.nowMs), 50);
    else if (roll < 95) await world.statistics.store();
    else await restart(world);
    world.nowMs += random.pick([0, 1, 700, 9_000, 40_000, 70_000]);
    if (random.chance(0.02)) world.nowMs += random.pick([hourMs, 9 * hourMs, 50 * hourMs]);
  };
  for (let step = 0; step < steps; step += 1) await one();
}

describe('an overview and the hits of rules', () => {
  test.each([1, 2, 3, 4, 5, 6])('say what the records say: history %i', async (seed) => {
    const random = createRandom(seed * 7919);
    const world = await setUp();
    for (let part = 0; part < 6; part += 1) {
      await live(world, random, 40);
      for (let look = 0; look < 4; look += 1) {
        const range = anyRange(random, world);
        expect([range, await overviewFaults(world.statistics, world.store, range)]).toEqual([range, []]);
      }
      expect(shownHits(await world.statistics.hits())).toEqual(await naiveHits(world.store));
    }
    expect(world.failures).toEqual([]);
    // Some statistics were stored, some of them by the hour; otherwise the test has tried nothing.
    const all = { fromMs: 0, untilMs: world.nowMs, after: null, countMax: 10_000 };
    const cells = await world.store.statistics.cells({ ...all, spanMs: null });
    expect(cells.length).toBeGreaterThan(0);
  });

  test('are made of records that were there before anything was counted', async () => {
    const world = await setUp();
    const { ask } = requestPath({ ...world, statistics: (await beginStatistics(world, () => 0)).statistics });
    for (let count = 0; count < 250; count += 1) await ask({ amount: count % 100, vendor: 'odd' });
    await restart(world);
    const range = overviewRange(
      { fromMs: world.nowMs - hourMs, untilMs: world.nowMs + 1 },
      { bucketsMax: 10, nowMs: world.nowMs },
    );
    expect(await overviewFaults(world.statistics, world.store, range)).toEqual([]);
    expect(shownHits(await world.statistics.hits())).toEqual(await naiveHits(world.store));
  });

  test('lose nothing to a disk that is full for a while', async () => {
    const world = await setUp();
    const { ask } = requestPath(world);
    for (let count = 0; count < 30; count += 1) {
      await ask({ amount: count, vendor: 'odd' });
      world.nowMs += 15_000;
    }
    // Waits that ended before this look are stored by the next one.
    await world.statistics.store();
    const { change } = world.store.statistics;
    const statistics = Object.assign(world.store.statistics, {
      change: () => Promise.reject(new StoreError('full', 'the disk is full')),
    });
    for (let looks = 0; looks < 3; looks += 1) {
      await expect(world.statistics.store()).rejects.toThrow('the disk is full');
      await ask({ amount: 1, vendor: 'odd' });
      world.nowMs += minuteMs;
    }
    Object.assign(statistics, { change });
    await world.statistics.store();
    const range = overviewRange(
      { fromMs: world.nowMs - hourMs, untilMs: world.nowMs + 1 },
      { bucketsMax: 100, nowMs: world.nowMs },
    );
    expect(await overviewFaults(world.statistics, world.store, range)).toEqual([]);
    expect(shownHits(await world.statistics.hits())).toEqual(await naiveHits(world.store));
  });

  test.each(['stored', 'not stored'])('count once what was %s when the answer was lost', async (what) => {
    const world = await setUp();
    const { ask } = requestPath(world);
    const { statistics } = world.store;
    const { change } = statistics;
    let losses = 3;
    Object.assign(statistics, {
      change: async (asked: StatisticsChange) => {
        if (asked.mark === null || losses === 0) return await change(asked);
        losses -= 1;
        if (what === 'stored') await change(asked);
        throw new StoreError('uncertain', 'nobody knows');
      },
    });
    for (let count = 0; count < 40; count += 1) {
      await ask({ amount: count, vendor: 'odd' });
      world.nowMs += 15_000;
      if (count % 4 === 0) await world.statistics.store().catch(() => {});
    }
    expect(losses).toBe(0);
    const range = overviewRange(
      { fromMs: world.nowMs - hourMs, untilMs: world.nowMs + 1 },
      { bucketsMax: 100, nowMs: world.nowMs },
    );
    for (let looks = 0; looks < 2; looks += 1) {
      await world.statistics.store();
      expect(await overviewFaults(world.statistics, world.store, range)).toEqual([]);
      expect(shownHits(await world.statistics.hits())).toEqual(await naiveHits(world.store));
      world.nowMs += 5 * minuteMs;
    }
  });
});

test('what cannot be counted harms nobody, and keeps nothing else from being counted', async () => {
  const world = await setUp();
  const { ask } = requestPath(world);
  await ask({ amount: 1, vendor: 'a' });
  world.statistics.decided({ createdAtMs: world.nowMs } as never);
  expect(world.failures).toHaveLength(1);
  // A record as after tampering.
  const broken = requestRow({ createdAtMs: world.nowMs, recordJson: '{}' });
  await world.store.requests.append(broken, { openMax: 20 });
  await ask({ amount: 2, vendor: 'a' });
  await restart(world);
  expect(world.failures).toHaveLength(1);
  expect((await world.statistics.hits()).rules.get('payments/small')?.decided).toBe(2);
});

describe('what is stored', () => {
  test('is by the minute for two days, by the hour for ninety, and then gone', async () => {
    const world = await setUp();
    const { ask } = requestPath(world);
    const spansAt = async () => {
      // By the second look everything in flight has arrived.
      for (let looks = 0; looks < 2; looks += 1) {
        world.nowMs += 2 * minuteMs;
        await world.statistics.store();
      }
      const page = { fromMs: 0, untilMs: world.nowMs, spanMs: null, after: null, countMax: 100 };
      return (await world.store.statistics.cells(page)).map(({ spanMs }) => spanMs);
    };
    const begin = world.nowMs;
    for (let count = 0; count < 3; count += 1) {
      await ask({ amount: count, vendor: 'a' });
      world.nowMs += minuteMs;
    }
    expect(await spansAt()).toEqual([minuteMs, minuteMs, minuteMs]);
    world.nowMs = begin + 47 * hourMs;
    expect(await spansAt()).toEqual([minuteMs, minuteMs, minuteMs]);
    world.nowMs = begin + 50 * hourMs;
    expect(await spansAt()).toEqual([hourMs]);
    world.nowMs = begin + keptMs - hourMs;
    expect(await spansAt()).toEqual([hourMs]);
    const range = overviewRange({ fromMs: begin, untilMs: begin + 1 }, { bucketsMax: 1, nowMs: world.nowMs });
    expect((await readOverview(world.statistics, range)).total).toBe(3);
    world.nowMs = begin + keptMs + 2 * hourMs;
    expect(await spansAt()).toEqual([]);
    expect((await world.statistics.hits()).rules.get('payments/small')?.decided).toBe(3);
  });

  test('can be read in steps of whole hours where it is old, of whole minutes where it is not', () => {
    const nowMs = startMs + 30 * 24 * hourMs + 123_456;
    const at = (fromMs: number, untilMs: number, bucketsMax: number) =>
      overviewRange({ fromMs, untilMs }, { bucketsMax, nowMs });
    const old = at(nowMs - 60 * hourMs, nowMs, 7);
    expect([old.fromMs % hourMs, old.untilMs % hourMs, old.bucketMs % hourMs]).toEqual([0, 0, 0]);
    expect((old.untilMs - old.fromMs) / old.bucketMs).toBeLessThanOrEqual(7);
    const fresh = at(nowMs - 100_000, nowMs, 200);
    expect([fresh.fromMs % minuteMs, fresh.untilMs % minuteMs, fresh.bucketMs]).toEqual([0, 0, minuteMs]);
    expect(fresh.untilMs).toBeGreaterThan(nowMs);
  });
});
