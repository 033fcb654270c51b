// Fair shares: however much one agent asks at once, another agent's requests are decided.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { createFairShares } from '../../../src/service/http/auth/fair-shares.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { authorize, problemOf, startService, temporaryDirectory } from './service.ts';

test('law: a caller without a place gets one, however many others have', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 9 })), { maxLength: 300 });
  fc.assert(
    fc.property(
      fc.integer({ min: 4, max: 100 }),
      fc.integer({ min: 1, max: 50 }),
      steps,
      (placesMax, ofOneMax, all) => {
        const shares = createFairShares({ placesMax, ofOneMax });
        const taken = new Map<number, number>();
        const total = () => [...taken.values()].reduce((sum, count) => sum + count, 0);
        for (const [isEnter, holder] of all) {
          const own = taken.get(holder) ?? 0;
          if (isEnter) {
            const free = placesMax - total();
            const isIn = shares.enter(`h${holder}`);
            if (isIn) taken.set(holder, own + 1);
            if (own === 0) expect(isIn).toBe(free > 1);
            expect(taken.get(holder) ?? 0).toBeLessThanOrEqual(ofOneMax);
          } else if (own > 0) {
            shares.leave(`h${holder}`);
            taken.set(holder, own - 1);
          }
        }
        expect(total()).toBeLessThan(placesMax);
      },
    ),
  );
});

test('an agent that fills its share of the write queue gets 429, and another agent is decided', async () => {
  const path = join(temporaryDirectory(), 'writ.db');
  const store = await openStore({ path, writesPendingMax: 300, busyTimeoutMs: 30_000 });
  const service = await startService({ store });
  const added = await addAgent(store, { name: 'neighbour', riskTier: 'low', controlOwner: 'ops', tags: [] });
  const key = added.kind === 'added' ? added.apiKey : '';
  const other = new Database(path);
  onTestFinished(() => void other.close());
  expect((await authorize(service)).status).toBe(200);
  expect((await authorize(service, { key })).status).toBe(200);
  // Another writer holds the database, so nothing is written for a while.
  other.exec('BEGIN IMMEDIATE');
  const flood = Array.from({ length: 400 }, () => authorize(service));
  await expect.poll(() => store.queueDepth()).toBeGreaterThan(200);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const neighbour = Array.from({ length: 10 }, () => authorize(service, { key }));
  await new Promise((resolve) => setTimeout(resolve, 500));
  other.exec('ROLLBACK');
  expect((await Promise.all(neighbour)).map(({ status }) => status)).toEqual(
    Array.from({ length: 10 }, () => 200),
  );
  const replies = await Promise.all(flood);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
  const refused = await problemOf(replies.find(({ status }) => status === 429)!);
  expect([refused.code, refused.headers.get('retry-after')]).toEqual(['too_many_in_flight', '1']);
  expect((await authorize(service)).status).toBe(200);
});
