// A day of a running demo on a clock of its own: how often its agents ask, and how many requests stay open.

import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { DemoAccounts } from '../../../src/packaging/demo/accounts.ts';
import { perHour } from '../../../src/packaging/demo/history.ts';
import { sendLiveTraffic } from '../../../src/packaging/demo/live-traffic.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** When a request is over that nobody answers; the shipped policies give hours for an approval. */
const expiryMs = 4 * hourMs;

/** A clock that moves to the end of the earliest pause once nothing else is under way. */
function createVirtualClock(startMs: number, endMs: number) {
  const ending = new AbortController();
  let nowMs = startMs;
  const sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  const pause = (ms: number) => new Promise<void>((wake) => sleepers.push({ atMs: nowMs + ms, wake }));
  const run = async (): Promise<void> => {
    for (await setImmediate(); sleepers.length > 0; await setImmediate()) {
      sleepers.sort((one, other) => one.atMs - other.atMs);
      const next = sleepers.shift()!;
      nowMs = Math.max(nowMs, next.atMs);
      if (nowMs >= endMs) ending.abort();
      next.wake();
    }
  };
  return { now: () => nowMs, pause, run, signal: ending.signal };
}

/** A service that asks people about one request of seven; the first vote decides. */
function createFakeService(now: () => number) {
  const asked: number[] = [];
  const open = new Map<string, number>();
  let mostOpen = 0;
  const authorize = () => {
    asked.push(now());
    if (asked.length % 7 !== 0) return { decision: 'ALLOW', status: 'auto_approved', request_id: 'a' };
    for (const [id, atMs] of open) if (now() - atMs > expiryMs) open.delete(id);
    const id = `r${asked.length}`;
    open.set(id, now());
    mostOpen = Math.max(mostOpen, open.size);
    return { decision: 'ESCALATE', status: 'pending', request_id: id };
  };
  const caller = { send: async (path: string) => ({ body: path === '/v1/authorize' ? authorize() : {} }) };
  const colleague = {
    send: async (path: string) => ({ body: { isOpen: open.delete(path.split('/')[3]!) } }),
  };
  const each = <T>(value: T) => new Proxy({}, { get: () => value });
  const cast = { agents: each({ id: 'x', caller }), colleagues: each(colleague) } as unknown as DemoAccounts;
  return { cast, asked, mostOpen: () => mostOpen };
}

test('agents ask at the pace of the past week, and few requests stay open', async () => {
  const startMs = Date.UTC(2026, 2, 2, 9);
  const clock = createVirtualClock(startMs, startMs + 24 * hourMs);
  const { cast, asked, mostOpen } = createFakeService(clock.now);
  const { now, pause, signal } = clock;
  const going = sendLiveTraffic(cast, { signal, countInWeek: 700, now, pause });
  await clock.run();
  await going;
  const countBetween = (fromMs: number, toMs: number) =>
    asked.filter((atMs) => atMs - startMs >= fromMs && atMs - startMs < toMs).length;
  expect(countBetween(0, 3 * minuteMs)).toBeGreaterThan(8);
  // After the quick start, an hour of the afternoon has what it had in the week.
  const expected = perHour(startMs + 4.5 * hourMs, 700);
  expect(countBetween(4 * hourMs, 5 * hourMs)).toBeGreaterThan(expected / 2);
  expect(countBetween(4 * hourMs, 5 * hourMs)).toBeLessThan(2 * expected);
  expect(asked.length).toBeGreaterThan(60);
  expect(asked.length).toBeLessThan(180);
  expect(mostOpen()).toBeLessThan(8);
});
