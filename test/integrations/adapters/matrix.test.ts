// Each framework with each way in which the service can break, on the first request and when a paused run
// resumes: the tool never runs. With a working service the tool runs each time; otherwise the table would
// prove nothing.

import { describe, expect, test } from 'vitest';
import { createGuard } from '../../../integrations/typescript/adapters/guard.ts';
import { connect } from '../../../integrations/typescript/client.ts';
import {
  type BrokenService,
  brokenService,
  type Fault,
  faults,
  grant,
  moreFaults,
  says,
  wait,
} from './faults.ts';
import type { Asked } from './framework.ts';
import { frameworks } from './frameworks.ts';

/** Milliseconds instead of seconds for a missing answer, and before the next try. */
const hasty = 150;
const patient = 15_000;

function asking({ url }: BrokenService, timeout: number) {
  const writ = connect({ url, key: 'writ_key', wait: 0, timeout, signal: AbortSignal.timeout(20_000) });
  let runs = 0;
  const asked: Asked = {
    settings: { writ, as: 'demo' },
    amount: 5,
    pay() {
      runs += 1;
      return 'paid';
    },
  };
  return { asked, runs: () => runs };
}

type Framework = (typeof frameworks)[number];

async function runsAtOnce({ run }: Framework, fault: Fault, timeout: number): Promise<number> {
  const { asked, runs } = asking(await brokenService(fault), timeout);
  await run(asked).catch(() => undefined);
  return runs();
}

async function runsWhenResumed({ run, name }: Framework, fault: Fault, timeout: number): Promise<number> {
  const service = await brokenService(says(wait));
  const before = asking(service, patient);
  const { isPaused, saved } = await run(before.asked);
  expect([name, isPaused, before.runs()]).toEqual([name, true, 0]);
  service.become(fault);
  const after = asking(service, timeout);
  await run(after.asked, saved).catch(() => undefined);
  return before.runs() + after.runs();
}

/** Runs all frameworks at the same time, because most of the work is waiting. */
async function tableOf(fault: Fault, timeout = hasty): Promise<Readonly<Record<string, readonly number[]>>> {
  const rows = frameworks.map(async (framework) => {
    const counts = await Promise.all([
      runsAtOnce(framework, fault, timeout),
      runsWhenResumed(framework, fault, timeout),
    ]);
    return [framework.name, counts] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

const all = (count: number) => Object.fromEntries(frameworks.map(({ name }) => [name, [count, count]]));

describe('a service that breaks', () => {
  test.concurrent.each(Object.entries(faults))('%s: nothing runs', async (_, fault) => {
    expect(await tableOf(fault)).toEqual(all(0));
  });
});

/** How often the tool runs with the common part of the adapters, without a framework. */
async function guardRuns(fault: Fault, timeout = hasty): Promise<number> {
  const { asked, runs } = asking(await brokenService(fault), timeout);
  const guard = createGuard(asked.settings);
  const call = { tool: 'pay', input: { amount: 5 } };
  await guard.ahead(call).catch(() => undefined);
  await guard.execute(call, () => asked.pay({ amount: 5 })).catch(() => undefined);
  return runs();
}

test.concurrent.each(Object.entries(moreFaults))('%s: nothing runs', async (_, fault) => {
  expect(await guardRuns(fault)).toBe(0);
});

test('a service that grants: each runs once', async () => {
  expect(await tableOf(says(grant), patient)).toEqual(all(1));
  expect(await guardRuns(says(grant), patient)).toBe(1);
});
