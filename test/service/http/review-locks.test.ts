// Claims over HTTP: others see who looks at a waiting request, until the claim is given back or the request
// is decided or expires.

import { expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { sweep } from '../../../src/service/people/sweep.ts';
import { reviewLockMs } from '../../../src/service/requests/inbox/review-locks.ts';
import { readEvents } from './event-reader.ts';
import { sharePaymentsTeam } from './payments-team.ts';
import type { Client } from './person-client.ts';
import { ask, codeOf, give } from './written-policies.ts';

let laterMs = 0;
const { service, person } = sharePaymentsTeam(() => Date.now() + laterMs);

const claim = (client: Client, id: string, method: 'POST' | 'DELETE' = 'POST') =>
  client.send(`/v1/requests/${id}/review-lock`, { method });

/** The people who look at a request, as this client sees them. */
async function lookersAt(client: Client, id: string): Promise<readonly string[]> {
  const { items } = (await client.send('/v1/review-locks')).body;
  return items
    .filter((one: { request_id: string }) => one.request_id === id)
    .map((one: { name: string; is_own: boolean }) => (one.is_own ? 'you' : one.name))
    .toSorted();
}

test('a review is visible to people who may see the request, can be taken over, and ends', async () => {
  const [ann, ben, lea, ada] = [person('ann'), person('ben'), person('lea'), person('ada')];
  const { request_id: id } = await ask(service(), 'pay.one');
  const { request_id: next } = await ask(service(), 'pay.two');
  const reader = await readEvents(service(), ben);
  const { status, body } = await claim(ann, id);
  expect([status, body.name, body.is_own]).toEqual([200, 'anna@example.com', true]);
  expect(body.by).toMatch(/^anna@example\.com \([0-9a-f-]{36}\)$/);
  expect(Date.parse(body.until) - Date.parse(body.since)).toBe(reviewLockMs);
  expect(await lookersAt(ann, id)).toEqual(['you']);
  expect(await lookersAt(ben, id)).toEqual(['anna@example.com']);
  expect(await lookersAt(ada, id)).toEqual(['anna@example.com']);
  expect(await lookersAt(lea, id)).toEqual([]);
  await expect.poll(() => reader.received.map(({ kind }) => kind)).toContain('approvals');
  await claim(ben, id);
  expect(await lookersAt(ada, id)).toEqual(['anna@example.com', 'ben@example.com']);
  await claim(ben, next);
  expect([await lookersAt(ada, id), await lookersAt(ada, next)]).toEqual([
    ['anna@example.com'],
    ['ben@example.com'],
  ]);
  // Giving back a claim on another request changes nothing.
  expect((await claim(ann, next, 'DELETE')).status).toBe(204);
  expect(await lookersAt(ada, id)).toEqual(['anna@example.com']);
  for (const one of [ann, ann]) expect((await claim(one, id, 'DELETE')).status).toBe(204);
  expect([await lookersAt(ada, id), await lookersAt(ada, next)]).toEqual([[], ['ben@example.com']]);
});

test('does not prevent anyone from deciding, and ends with the vote or the request', async () => {
  const [ann, ben, ada] = [person('ann'), person('ben'), person('ada')];
  const one = (await ask(service(), 'pay.one')).request_id;
  await claim(ann, one);
  expect(codeOf(await give(ben, one, 'approve'))).toEqual([200, 'approved']);
  expect(await lookersAt(ada, one)).toEqual([]);
  expect(codeOf(await claim(ann, one))).toEqual([409, 'conflict']);
  const two = (await ask(service(), 'pay.two')).request_id;
  await claim(ann, two);
  await claim(ben, two);
  expect(codeOf(await give(ben, two, 'approve'))).toEqual([200, 'pending']);
  expect(await lookersAt(ada, two)).toEqual(['anna@example.com']);
});

test('expires unless it is renewed, and is then deleted', async () => {
  const [ann, ada] = [person('ann'), person('ada')];
  const { request_id: id } = await ask(service(), 'pay.one');
  const first = (await claim(ann, id)).body;
  laterMs += reviewLockMs - 1_000;
  const again = (await claim(ann, id)).body;
  expect([again.since, Date.parse(again.until)]).toEqual([first.since, expect.any(Number)]);
  expect(Date.parse(again.until)).toBeGreaterThan(Date.parse(first.until));
  laterMs += reviewLockMs - 2_000;
  expect(await lookersAt(ada, id)).toEqual(['anna@example.com']);
  const reader = await readEvents(service(), ann);
  laterMs += 3_000;
  expect(await lookersAt(ada, id)).toEqual([]);
  await expect.poll(() => reader.received.map(({ kind }) => kind)).toContain('approvals');
  // A second claim begins at the time it is made.
  expect((await claim(ann, id)).body.since > again.until).toBe(true);
  laterMs += reviewLockMs + 1_000;
  expect(await sweep(service().store.documents, Date.now() + laterMs)).toBeGreaterThan(0);
  expect(
    await service().store.documents.list({ kind: 'claim', parent: null, after: null, countMax: 9 }),
  ).toEqual([]);
});

test('only possible approvers start one; two windows of one person at once end in one review', async () => {
  const [ann, lea, ada, eve] = [person('ann'), person('lea'), person('ada'), person('eve')];
  const ids = [(await ask(service(), 'pay.one')).request_id, (await ask(service(), 'pay.two')).request_id];
  const [id = ''] = ids;
  expect(codeOf(await claim(lea, id))).toEqual([404, 'request_not_found']);
  expect(codeOf(await claim(ada, id))).toEqual([403, 'not_allowed']);
  expect(codeOf(await claim(eve, id))).toEqual([403, 'not_allowed']);
  expect(codeOf(await claim(eve, id, 'DELETE'))).toEqual([403, 'not_allowed']);
  expect(codeOf(await claim(ann, 'none'))).toEqual([404, 'request_not_found']);
  const answers = await Promise.all([...ids, ...ids].map((one) => claim(ann, one)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const looked = await Promise.all(ids.map((one) => lookersAt(ann, one)));
  expect(looked.flat()).toEqual(['you']);
  expect(await verifyChain(service().store)).toMatchObject({ kind: 'whole' });
});
