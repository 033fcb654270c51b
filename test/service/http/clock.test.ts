// The service's clock when the machine's clock is set forward and back, and a start when the machine's clock
// is behind the newest record.

import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { behindMaxMs, clockFault, createClock } from '../../../src/service/clock.ts';
import { serve } from '../../../src/service/http/main.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { requestRow } from '../store/rows.ts';
import { authorize, startService, temporaryDirectory } from './service.ts';

interface Machine {
  wallMs: number;
  elapsedMs: number;
}

function machineClock(options: { floorMs?: number; onSetBack?: (aheadMs: number) => void } = {}) {
  const machine: Machine = { wallMs: 1_000_000, elapsedMs: 50 };
  const clock = createClock({ wall: () => machine.wallMs, elapsed: () => machine.elapsedMs, ...options });
  const pass = (ms: number) => {
    machine.wallMs += ms;
    machine.elapsedMs += ms;
  };
  return { machine, clock, pass };
}

describe('the clock', () => {
  test('is that of the machine unless it is set back', () => {
    const { clock, pass } = machineClock();
    expect(clock()).toBe(1_000_000);
    pass(5_000);
    expect(clock()).toBe(1_005_000);
  });

  test('also returns whole milliseconds between those of the machine', () => {
    const { machine, clock } = machineClock();
    const told = [0.4, 0.4, 0.4].map((ms) => {
      machine.elapsedMs += ms;
      return clock();
    });
    expect(told).toEqual([1_000_000, 1_000_000, 1_000_001]);
  });

  test('keeps its pace when the machine is set back, and reports it once', () => {
    const told: number[] = [];
    const { machine, clock, pass } = machineClock({ onSetBack: (aheadMs) => told.push(aheadMs) });
    pass(10_000);
    clock();
    machine.wallMs -= 3_600_000;
    expect(clock()).toBe(1_010_000);
    pass(60_000);
    expect(clock()).toBe(1_070_000);
    expect(told).toEqual([3_600_000]);
    machine.wallMs += 7_200_000;
    expect(clock()).toBe(machine.wallMs);
    machine.wallMs -= 2_000;
    clock();
    expect(told).toEqual([3_600_000, 2_000]);
  });

  test('starts no earlier than the newest record', () => {
    const { clock, pass } = machineClock({ floorMs: 1_030_000 });
    expect(clock()).toBe(1_030_000);
    pass(10);
    expect(clock()).toBe(1_030_010);
  });

  test('never goes back and never runs slower, whatever happens to the machine', () => {
    const step = fc.record({ passMs: fc.nat(10_000), setMs: fc.integer({ min: -1e9, max: 1e9 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { machine, clock, pass } = machineClock();
        let before = clock();
        for (const { passMs, setMs } of steps) {
          pass(passMs);
          machine.wallMs += setMs;
          const now = clock();
          expect(now).toBeGreaterThanOrEqual(before + passMs);
          expect(now).toBeGreaterThanOrEqual(machine.wallMs);
          before = now;
        }
      }),
    );
  });

  test('a newest record more than a minute ahead of the machine is a fault', () => {
    expect(clockFault(1_000_000, null)).toBeNull();
    expect(clockFault(1_000_000, 1_000_000 + behindMaxMs)).toBeNull();
    expect(clockFault(1_000_000, 1_000_001 + behindMaxMs)).toContain('1970-01-01T00:17:40.001Z');
  });
});

describe('grants', () => {
  test('after the machine is set back, a grant still ends on time and stays ended', async () => {
    const machine = { wallMs: Date.now(), elapsedMs: 0 };
    const clock = createClock({ wall: () => machine.wallMs, elapsed: () => machine.elapsedMs });
    const service = await startService({ clock });
    const view = (await (await authorize(service)).json()) as { request_id: string; expires_at: string };
    const statusNow = async () => {
      const headers = { 'x-agent-api-key': service.apiKey };
      const reply = await fetch(`${service.url}/v1/requests/${view.request_id}`, { headers });
      return ((await reply.json()) as { status: string }).status;
    };
    machine.wallMs -= 24 * 3_600_000;
    machine.elapsedMs += 599_000;
    expect(await statusNow()).toBe('auto_approved');
    machine.elapsedMs += 1_000;
    expect(await statusNow()).toBe('expired');
    machine.wallMs -= 48 * 3_600_000;
    expect(await statusNow()).toBe('expired');
    const later = (await (await authorize(service)).json()) as { expires_at: string };
    expect(Date.parse(later.expires_at) - Date.parse(view.expires_at)).toBe(600_000);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(Number(/^writ_clock_ahead_seconds (\S+)/m.exec(metrics)?.[1])).toBeGreaterThan(500);
  });
});

describe('a start', () => {
  async function startBehind(aheadMs: number, flags: object = {}) {
    const directory = temporaryDirectory();
    const data = join(directory, 'var');
    const store = await openStore({ path: join(data, 'writ.db') });
    await store.requests.append(requestRow({ createdAtMs: Date.now() + aheadMs }), { openMax: 1 });
    await store.close();
    const running = await serve({
      directory,
      environment: {},
      print: () => undefined,
      logStream: { write: () => undefined },
      flags: { port: 0, policies: new URL('../../../policies/payments', import.meta.url).pathname, ...flags },
    });
    onTestFinished(() => running.stop());
    return running;
  }

  test('a start before the newest record is refused in one line, unless it is accepted', async () => {
    await expect(startBehind(3_600_000)).rejects.toMatchObject({
      name: 'StartError',
      exitCode: 1,
      message: expect.stringMatching(
        /^writ: this machine's clock shows .* newest record .*--clock-behind accept/,
      ),
    });
    expect((await startBehind(3_600_000, { 'clock.behind': 'accept' })).url).toContain('http://');
  });

  test('a minute is not a fault', async () => {
    expect((await startBehind(30_000)).url).toContain('http://');
  });
});

describe('waits', () => {
  test('expiry is recorded, and a clock that is set back does not undo it', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'var', 'writ.db');
    const store = await openStore({ path });
    const row = requestRow({
      createdAtMs: Date.now() - 5_000,
      expiresAtMs: Date.now() - 1,
      status: 'pending',
    });
    await store.requests.append({ ...row, decidedAtMs: null }, { openMax: 1 });
    const running = await serve({
      directory,
      environment: {},
      print: () => undefined,
      logStream: { write: () => undefined },
      flags: { port: 0, policies: new URL('../../../policies/payments', import.meta.url).pathname },
    });
    onTestFinished(async () => {
      await running.stop();
      await store.close();
    });
    await expect.poll(async () => (await store.requests.find(row.id))?.status).toBe('expired');
    const { records } = await store.chain.segment(0, 10);
    expect(records.map(({ entry }) => [entry.kind, entry.what ?? null])).toContainEqual(['event', 'expired']);
  });
});
