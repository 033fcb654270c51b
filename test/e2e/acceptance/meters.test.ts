// Budgets as a user runs them: many clients at once, with the process killed in between or a second process
// beside it; and a week of simulated time.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type MeteredRequest, meterReading } from '../../../src/language/spec/meters.ts';
import { formatDecimal, fromNumber } from '../../../src/language/value/decimal.ts';
import { activeOf } from '../../service/requests/active-of.ts';
import { begin, type World } from '../../service/requests/metered.ts';
import { isOnPostgres } from '../../service/store/place.ts';
import { agentRow, temporaryFolder } from '../../service/store/rows.ts';
import { runBudget } from './budget-rounds.ts';
import { addAgent, ask, startService, temporary } from './service.ts';

describe('a budget that many spend from at once', () => {
  it.each([
    ['in one go', 16, 100, 0],
    ['while the process is killed and begins again', 16, 100, 4],
  ])('is not overrun, %s', { timeout: 240_000 }, async (_, clients, requests, kills) => {
    const run = await runBudget({ clients, requests, kills });
    expect(run.faults).toEqual([]);
    expect(run.granted).toBeGreaterThan(clients * requests * 0.1);
    expect(run.grantedSum + run.pendingSum).toBeLessThanOrEqual(run.budget);
    // The budget is used up: no refused request would have fitted.
    if (kills === 0) expect(run.grantedSum + run.pendingSum).toBeGreaterThan(run.budget - 2.5);
  });
});

it('an attack in small transfers is stopped by their sum', async () => {
  const service = await startService({ policies: 'policies/banking' });
  const key = await addAgent(service.data, 'assistant');
  const transfer = { recipient: 'GB29NWBK60161331926819', amount: 500, subject: 'Rent', date: '2026-03-02' };
  const replies = await Promise.all(
    Array.from({ length: 20 }, () =>
      ask(service.url, key, { action_key: 'banking.send_money', payload: transfer }),
    ),
  );
  const decisions = Map.groupBy(replies, ({ body }) => body.decision);
  expect(decisions.get('ALLOW')).toHaveLength(8);
  expect(decisions.get('ESCALATE')).toHaveLength(12);
  expect(await service.end('SIGTERM')).toBe(0);
});

// Only a file excludes a second process; several processes may serve a database.
describe.skipIf(isOnPostgres)('one store in a file', () => {
  it('is served by one process, and by the next one as soon as that is killed', async () => {
    const data = temporary('served');
    const first = await startService({ policies: 'policies/payments', data });
    await expect(startService({ policies: 'policies/payments', data })).rejects.toThrow(
      /another process serves .*writ\.db/,
    );
    await first.end('SIGKILL');
    const next = await startService({ policies: 'policies/payments', data });
    expect(await next.end('SIGTERM')).toBe(0);
  });
});

describe('a week of windows', () => {
  it('is read as the definition says, over clock changes and restarts', {
    timeout: 240_000,
  }, async () => {
    const path = join(temporaryFolder(), 'writ.db');
    const agent = agentRow();
    // The week in which clocks go back in Europe.
    const world: World = { nowMs: Date.parse('2026-10-22T00:00Z'), active: activeOf(weekly) };
    let service = await begin(path, world, agent);
    const counted: MeteredRequest[] = [];
    const meter = { aggregate: 'sum', over: { kind: 'last', seconds: 24 * 3_600 } } as const;
    const seed = createSteps(7);
    for (let step = 0; step < 400; step += 1) {
      world.nowMs += Math.floor(seed() * 45 * 60_000);
      if (step === 150) world.nowMs -= 3_600_000;
      if (step % 130 === 129) {
        await service.end();
        service = await begin(path, world, agent);
      }
      const amount = (100 + Math.floor(seed() * 100)) / 100;
      const contribution = { isCertain: true, value: fromNumber(amount) };
      const expected = meterReading(meter, counted, { nowMs: world.nowMs, current: contribution })!;
      const { request_id: id, decision } = await service.ask({ amount, currency: 'USD' });
      expect((await service.record(id)).meters).toEqual({
        spent: { low: formatDecimal(expected.low), high: formatDecimal(expected.high) },
      });
      if (decision === 'ALLOW') counted.push({ grantedAtMs: world.nowMs, contribution });
    }
    expect(counted.length).toBeGreaterThan(200);
    expect(counted.length).toBeLessThan(400);
  });
});

const weekly = `
action pay.send { amount: money(currency) 0.01.., currency: "USD" }
meter spent = sum(payload.amount) in USD of pay.send per agent over 24h
policy p on pay.send { allow all  deny beyond when spent > 75 USD }
`;

/** Pseudo-random numbers from 0 to 1, the same for the same seed. */
function createSteps(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
