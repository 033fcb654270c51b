// The token bucket at its edges: burst, refill, fractions, many holders.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRateLimiter } from '../../../src/service/http/auth/rate-limit.ts';

test('a burst passes, then one request per second', () => {
  const limiter = createRateLimiter('agent', { perMinute: 60, burst: 3 });
  const taken = (atMs: number) => limiter.take('a', atMs).isWithin;
  expect([taken(0), taken(0), taken(0), taken(0)]).toEqual([true, true, true, false]);
  expect([taken(999), taken(1_000), taken(1_000)]).toEqual([false, true, false]);
  expect([taken(60_000), taken(60_000), taken(60_000), taken(60_000)]).toEqual([true, true, true, false]);
});

test('agents do not share a limit', () => {
  const limiter = createRateLimiter('agent', { perMinute: 60, burst: 1 });
  expect(limiter.take('a', 0).isWithin).toBe(true);
  expect(limiter.take('b', 0).isWithin).toBe(true);
  expect(limiter.take('a', 0).isWithin).toBe(false);
});

test('headers contain the remaining number and the time of the next request', () => {
  const limiter = createRateLimiter('agent', { perMinute: 6, burst: 2 });
  expect(limiter.headers(limiter.take('a', 0))).toEqual({
    'ratelimit-policy': '"agent";q=2;w=20',
    ratelimit: '"agent";r=1;t=10',
  });
  limiter.take('a', 0);
  expect(limiter.headers(limiter.take('a', 4_000))).toEqual({
    'ratelimit-policy': '"agent";q=2;w=20',
    ratelimit: '"agent";r=0;t=16',
    'retry-after': '6',
  });
});

test('a changed rate counts from then on, without returning the tokens used', () => {
  const limiter = createRateLimiter('agent', { perMinute: 60, burst: 3 });
  const own = { ratePerMinute: 6, burst: null };
  expect(limiter.take('a', 0)).toMatchObject({ isWithin: true, policy: '"agent";q=3;w=3' });
  expect(limiter.take('a', 0, own)).toMatchObject({
    isWithin: true,
    remaining: 1,
    policy: '"agent";q=3;w=30',
  });
  expect(limiter.take('a', 0, own).isWithin).toBe(true);
  expect(limiter.take('a', 9_999, own)).toMatchObject({ isWithin: false, retryAfterSeconds: 1 });
  // A wider bucket leaves room for two more at once.
  const wider = { ratePerMinute: 6, burst: 5 };
  expect([0, 1, 2].map(() => limiter.take('a', 9_999, wider).isWithin)).toEqual([true, true, false]);
  expect(limiter.take('a', 9_999, { ratePerMinute: 6, burst: 1 })).toMatchObject({ isWithin: false });
  expect(limiter.take('b', 9_999, own)).toMatchObject({ isWithin: true, remaining: 2 });
  expect(limiter.take('b', 9_999)).toMatchObject({ policy: '"agent";q=3;w=3' });
});

test('never more than the burst and the rate together, and a retry after the given time succeeds', () => {
  const steps = fc.array(fc.nat(5_000), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 600 }),
      fc.integer({ min: 1, max: 20 }),
      steps,
      (perMinute, burst, waits) => {
        const limiter = createRateLimiter('agent', { perMinute, burst });
        let nowMs = 0;
        let passed = 0;
        for (const waitMs of waits) {
          nowMs += waitMs;
          const reading = limiter.take('a', nowMs);
          if (reading.isWithin) passed += 1;
          expect(passed).toBeLessThanOrEqual(burst + (nowMs * perMinute) / 60_000 + 1e-6);
          expect(reading.isWithin || reading.retryAfterSeconds > 0).toBe(true);
        }
        const { retryAfterSeconds } = limiter.take('a', nowMs);
        expect(limiter.take('a', nowMs + retryAfterSeconds * 1000).isWithin).toBe(true);
      },
    ),
  );
});

test('many new agents do not make it forget an agent that is over its limit', () => {
  const limiter = createRateLimiter('failures', { perMinute: 1, burst: 1 });
  for (let holder = 0; holder < 30_000; holder += 1) limiter.take(`h${holder}`, 0);
  expect(limiter.take('h29999', 0).isWithin).toBe(false);
});
