// Unused grants leave the meters: at any moment the meters equal the plain definition, over random histories,
// with restarts of the process and changes of the meters in between.

import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { OutcomeReport } from '../../../src/service/requests/approvals/report-outcome.ts';
import { agentRow, startMs, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { approverOf } from './bystanders.ts';
import { begin, type World } from './metered.ts';

const policiesWith = (meter: string): string => `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  approvers finance "Finance"
  meter spent = sum(payload.amount) in USD of pay.send ${meter} per agent over 24h
  policy budget on pay.send {
    allow all for 2h
    deny beyond when spent > 100000 USD
    escalate large to finance within 1h when payload.amount > 50 USD
  }`;
/**
 * Two definitions with the same meaning: the past of each comes from the records whenever the other was
 * active.
 */
const sets = [policiesWith(''), policiesWith('when payload.amount >= 0.01 USD')];
const [hourMs, dayMs] = [60 * 60 * 1000, 24 * 60 * 60 * 1000];

const caller = approverOf(['finance']);
const agent = agentRow();
type By = Omit<OutcomeReport, 'executed'>;
const person: By = { by: { person: caller }, mayRelease: true };
const agentItself: By = { by: { agent }, mayRelease: false };

interface Asked {
  readonly id: string;
  readonly amount: number;
  /** When the request was granted; null while it is pending. */
  grantedAtMs: number | null;
  endsAtMs: number;
  /** A request that was refused or released no longer counts. */
  isCounted: boolean;
  isEnded: boolean;
}

async function setUp() {
  const path = join(temporaryFolder(), 'writ.db');
  const active = sets.map(activeOf);
  const world: World = { nowMs: startMs, active: active[0]! };
  let service = await begin(path, world, agent);
  const asked: Asked[] = [];

  /** Asks, and compares the recorded reading with a walk over all earlier requests. */
  const ask = async (amount: number): Promise<Asked> => {
    const view = await service.ask({ amount, currency: 'USD' });
    const record = await service.record(view.request_id);
    const counted = asked.filter(
      ({ isCounted, grantedAtMs }) =>
        isCounted && (grantedAtMs === null || world.nowMs - grantedAtMs < dayMs),
    );
    const sum = (some: readonly Asked[]) => some.reduce((total, one) => total + one.amount, amount);
    expect(record.meters).toEqual({
      spent: {
        low: String(sum(counted.filter(({ grantedAtMs }) => grantedAtMs !== null))),
        high: String(sum(counted)),
      },
    });
    const isGranted = view.decision === 'ALLOW';
    const one: Asked = {
      id: view.request_id,
      amount,
      grantedAtMs: isGranted ? world.nowMs : null,
      endsAtMs: Date.parse(view.expires_at),
      isCounted: true,
      isEnded: false,
    };
    asked.push(one);
    return one;
  };

  const end = async (): Promise<void> => {
    for (const id of await service.store.requests.expireDue(world.nowMs, 100))
      service.metering.settle(id, null);
    for (const one of asked)
      if (one.grantedAtMs === null && one.endsAtMs <= world.nowMs) one.isCounted = false;
  };

  const report = async (one: Asked, executed: boolean, by: By) => {
    const changed = await service.requestChanges.report(one.id, { executed, ...by });
    const isOpen = one.grantedAtMs !== null && world.nowMs < one.endsAtMs;
    // The agent's report has ended the grant; the same report by a person still releases it.
    if (isOpen && !executed && by.mayRelease && changed.kind === 'changed') one.isCounted = false;
    if (changed.kind === 'changed') one.isEnded = true;
    return changed;
  };

  return {
    world,
    asked,
    ask,
    end,
    report,
    service: () => service,
    restart: async () => {
      await service.end();
      service = await begin(path, world, agent);
    },
    take: (set: number) => service.take(active[set % sets.length]!),
    give: async (one: Asked, vote: 'approve' | 'reject') => {
      const draft = { caller, group: null, comment: '' };
      const changed = await service.requestChanges[vote](one.id, draft);
      if (changed.kind !== 'changed') return;
      const { decidedAtMs, expiresAtMs } = changed.state;
      one.grantedAtMs = vote === 'approve' ? decidedAtMs : null;
      one.endsAtMs = expiresAtMs;
      one.isCounted = vote === 'approve';
    },
  };
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('ask'), amount: fc.integer({ min: 1, max: 70 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('report'),
      at: fc.nat(30),
      executed: fc.boolean(),
      isPerson: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('vote'),
      at: fc.nat(30),
      vote: fc.constantFrom('approve', 'reject'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('pass'),
      ms: fc.constantFrom(1, hourMs, 2 * hourMs, dayMs - hourMs, dayMs),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('take'), set: fc.nat(1) }) },
);

test('meters stand where a walk over all requests says, whatever is released when', {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const lifecycle = await setUp();
      for (const one of steps as readonly Readonly<Record<string, unknown>>[]) {
        const chosen = lifecycle.asked[Number(one.at) % lifecycle.asked.length];
        switch (String(one.kind)) {
          case 'ask':
            await lifecycle.ask(Number(one.amount));
            break;
          case 'report':
            if (chosen !== undefined)
              await lifecycle.report(chosen, Boolean(one.executed), one.isPerson ? person : agentItself);
            break;
          case 'vote':
            if (chosen?.isCounted && chosen.grantedAtMs === null)
              await lifecycle.give(chosen, one.vote as 'approve' | 'reject');
            break;
          case 'pass':
            lifecycle.world.nowMs += Number(one.ms);
            await lifecycle.end();
            break;
          case 'restart':
            await lifecycle.restart();
            break;
          case 'take':
            await lifecycle.take(Number(one.set));
        }
      }
      await lifecycle.ask(1);
      // The same readings must follow from the records alone.
      await lifecycle.take(0);
      await lifecycle.take(1);
      await lifecycle.ask(1);
      expect(await verifyChain(lifecycle.service().store)).toMatchObject({ kind: 'whole' });
      await lifecycle.service().end();
    }),
    { numRuns: 25 },
  );
});

describe('a release', () => {
  const readings = async (lifecycle: Awaited<ReturnType<typeof setUp>>) => {
    const { id } = await lifecycle.ask(1);
    return (await lifecycle.service().record(id)).meters;
  };

  test('is an event at the end of the chain, with who made it, in the transaction that empties the meters', async () => {
    const lifecycle = await setUp();
    const one = await lifecycle.ask(40);
    expect(await lifecycle.service().store.meters.enteredBy(one.id)).toHaveLength(1);
    await lifecycle.report(one, false, person);
    const { events } = (await lifecycle.service().store.requests.history(one.id))!;
    expect(events.map(({ what, who, state }) => [what, who, state.status])).toEqual([
      ['consumed', caller.who, 'consumed'],
      ['released', caller.who, 'consumed'],
    ]);
    expect(await lifecycle.service().store.meters.enteredBy(one.id)).toEqual([]);
    expect(await verifyChain(lifecycle.service().store)).toMatchObject({ kind: 'whole' });
    expect(await readings(lifecycle)).toEqual({ spent: { low: '1', high: '1' } });
  });

  test('is not made by the agent, but by a person who says the same in time', async () => {
    const lifecycle = await setUp();
    const one = await lifecycle.ask(40);
    await lifecycle.report(one, false, agentItself);
    expect(await readings(lifecycle)).toEqual({ spent: { low: '41', high: '41' } });
    await lifecycle.report(one, false, person);
    expect(await readings(lifecycle)).toEqual({ spent: { low: '2', high: '2' } });
    await lifecycle.report(one, false, person);
    const { events } = (await lifecycle.service().store.requests.history(one.id))!;
    expect(events.map(({ what }) => what)).toEqual(['consumed', 'released']);
  });

  test('is not made after the end of the grant, nor of one that was used', async () => {
    const lifecycle = await setUp();
    const [late, used, ended] = [await lifecycle.ask(40), await lifecycle.ask(30), await lifecycle.ask(20)];
    await lifecycle.report(used, true, agentItself);
    await lifecycle.report(ended, false, agentItself);
    expect(await lifecycle.report(used, false, person)).toMatchObject({ kind: 'conflict' });
    lifecycle.world.nowMs += 2 * hourMs;
    expect(await lifecycle.report(late, false, person)).toMatchObject({ kind: 'conflict' });
    await lifecycle.report(ended, false, person);
    expect(await readings(lifecycle)).toEqual({ spent: { low: '91', high: '91' } });
    await lifecycle.restart();
    expect(await readings(lifecycle)).toEqual({ spent: { low: '92', high: '92' } });
  });

  test('that cannot be stored changes nothing', async () => {
    const lifecycle = await setUp();
    const one = await lifecycle.ask(40);
    const { change } = lifecycle.service().store.requests;
    const failing = lifecycle.service().store.requests as { change: typeof change };
    failing.change = () => Promise.reject(new Error('the disk is full'));
    await expect(lifecycle.report(one, false, person)).rejects.toThrow('the disk is full');
    failing.change = change;
    expect(await readings(lifecycle)).toEqual({ spent: { low: '41', high: '41' } });
  });
});
