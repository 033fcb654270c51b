// Only what has ended is deleted.

import { expect, onTestFinished, test } from 'vitest';
import { invite } from '../../../src/service/people/access.ts';
import { signIn } from '../../../src/service/people/sign-in.ts';
import { startSweep, sweep } from '../../../src/service/people/sweep.ts';
import { createToken } from '../../../src/service/people/tokens.ts';
import { password, startPeople } from './service.ts';

const dayMs = 24 * 60 * 60 * 1000;

async function countOf({ directory }: Awaited<ReturnType<typeof startPeople>>) {
  const { sessions, tokens, invitations, people } = directory;
  const all = await Promise.all(
    [sessions, tokens, invitations, people].map(async (one) => (await one.list({ countMax: 500 })).length),
  );
  return all;
}

async function fill(service: Awaited<ReturnType<typeof startPeople>>) {
  const { directory, admin } = service;
  await signIn(service, { email: 'ann@example.com', password, code: null, address: '::1' });
  for (const days of [1, 30]) await createToken(directory, admin, { name: 'ci', roles: ['admin'], days });
  for (let i = 0; i < 250; i++) {
    const newcomer = { email: `p${i}@example.com`, name: 'P', roles: ['auditor'], groups: [] } as const;
    await invite(directory, admin, newcomer);
  }
}

test('a sweep deletes only what has ended, however much it is', async () => {
  const service = await startPeople();
  await fill(service);
  const { documents } = service.store;
  expect(await sweep(documents, service.time.nowMs)).toBe(0);
  expect(await countOf(service)).toEqual([1, 2, 250, 1]);
  expect(await sweep(documents, service.time.nowMs + 8 * dayMs)).toBe(252);
  expect(await countOf(service)).toEqual([0, 1, 0, 1]);
});

test('sweeps follow each other by the clock of the service, and continue after a failure', async () => {
  const service = await startPeople();
  await fill(service);
  const failures: unknown[] = [];
  let isBroken = true;
  const sweeps = startSweep({
    documents: {
      removeEnded: (...asked) =>
        isBroken ? Promise.reject(new Error('full')) : service.store.documents.removeEnded(...asked),
    },
    clock: () => service.time.nowMs,
    everyMs: 5,
    onFailure: (error) => failures.push(error),
  });
  onTestFinished(() => sweeps.close());
  await expect.poll(() => failures.length).toBeGreaterThan(0);
  isBroken = false;
  expect(await countOf(service)).toEqual([1, 2, 250, 1]);
  service.time.nowMs += 8 * dayMs;
  await expect.poll(() => countOf(service)).toEqual([0, 1, 0, 1]);
});
