// Sharing the work over HTTP: a request is assigned to one of the people who are asked, and people snooze
// requests for themselves. Neither keeps anybody from deciding.

import { describe, expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { sweep } from '../../../src/service/people/sweep.ts';
import { snoozeLeavesMs } from '../../../src/service/requests/inbox/snoozes.ts';
import { startMailServer } from '../webhooks/mail-server.ts';
import { readEvents } from './event-reader.ts';
import { paymentPolicies, sharePaymentsTeam } from './payments-team.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { startService } from './service.ts';
import { ask, codeOf, give, usePolicies } from './written-policies.ts';

let laterMs = 0;
const { service, person } = sharePaymentsTeam(() => Date.now() + laterMs);
const now = () => Date.now() + laterMs;
const minuteMs = 60_000;

async function idOf(client: Client): Promise<string> {
  return (await client.send('/v1/session')).body.person.id;
}

const askOne = async (action = 'pay.one') => (await ask(service(), action)).request_id;

async function assign(by: Client, id: string, to: Client) {
  const body = { person: await idOf(to) };
  return await by.send(`/v1/requests/${id}/assignment`, { method: 'POST', body });
}

function snooze(by: Client, id: string, untilMs: number) {
  const body = { until: new Date(untilMs).toISOString() };
  return by.send(`/v1/requests/${id}/snooze`, { method: 'POST', body });
}

/** The count of the person's inbox, and whether the inbox holds the request. */
async function inbox(
  client: Client,
  id: string,
  query = '',
): Promise<readonly [count: number, holds: boolean]> {
  const { body } = await client.send(`/v1/approvals?limit=200&${query}`);
  return [body.count, body.items.some((item: { request_id: string }) => item.request_id === id)];
}

async function rowOf(client: Client, id: string, query = '') {
  const { items } = (await client.send(`/v1/approvals?limit=200&${query}`)).body;
  return items.find((item: { request_id: string }) => item.request_id === id);
}

describe('an assignment', () => {
  test('names one of the possible approvers, is visible to all of them, is found by filters, and can be removed', async () => {
    const [ann, ben] = [person('ann'), person('ben')];
    const id = await askOne();
    const handling = await ann.send(`/v1/requests/${id}/assignment`);
    expect(handling.body).toMatchObject({ assigned_to: null, snoozed_until: null });
    expect(
      handling.body.people.map((one: { name: string; is_you: boolean }) => [one.name, one.is_you]),
    ).toEqual([
      ['anna@example.com', true],
      ['ben@example.com', false],
    ]);
    expect(await inbox(ben, id, 'assigned=nobody')).toEqual([expect.any(Number), true]);
    const reader = await readEvents(service(), ben);
    expect((await assign(ann, id, ben)).status).toBe(204);
    await expect.poll(() => reader.received.map(({ kind }) => kind)).toContain('approvals');
    expect((await rowOf(ben, id)).assigned_to).toMatchObject({
      name: 'ben@example.com',
      is_you: true,
      by_name: 'anna@example.com',
    });
    expect((await rowOf(ann, id)).assigned_to.is_you).toBe(false);
    const found = async (client: Client) =>
      await Promise.all(
        ['me', 'others', 'nobody'].map(async (who) => (await inbox(client, id, `assigned=${who}`))[1]),
      );
    expect([await found(ben), await found(ann)]).toEqual([
      [true, false, false],
      [false, true, false],
    ]);
    expect((await ann.send(`/v1/requests/${id}/assignment`, { method: 'DELETE' })).status).toBe(204);
    expect((await rowOf(ben, id)).assigned_to).toBeNull();
    expect((await ann.send(`/v1/requests/${id}/assignment`, { method: 'DELETE' })).status).toBe(204);
  });

  test('does not prevent anyone from deciding, and ends when the person has approved', async () => {
    const [ann, ben] = [person('ann'), person('ben')];
    const id = await askOne('pay.two');
    await assign(ann, id, ann);
    expect(codeOf(await give(ann, id, 'approve'))).toEqual([200, 'pending']);
    expect((await rowOf(ben, id)).assigned_to).toBeNull();
    expect((await assign(ben, id, ann)).body.errors).toEqual([
      { pointer: '/person', detail: 'this person cannot approve the request, or already has' },
    ]);
    expect((await assign(ann, id, ben)).status).toBe(204);
    const other = await askOne();
    await assign(ann, other, ann);
    expect(codeOf(await give(ben, other, 'approve'))).toEqual([200, 'approved']);
    expect(codeOf(await assign(ann, other, ben))).toEqual([409, 'conflict']);
    const over = await ann.send(`/v1/requests/${other}/assignment`);
    expect(over.body).toEqual({ assigned_to: null, snoozed_until: null, people: [] });
  });

  test('is made by a possible approver, to a possible approver', async () => {
    const [ann, lea, ada] = [person('ann'), person('lea'), person('ada')];
    const id = await askOne();
    expect(codeOf(await assign(lea, id, ann))).toEqual([404, 'request_not_found']);
    expect(codeOf(await assign(ada, id, ann))).toEqual([403, 'not_allowed']);
    expect((await ada.send(`/v1/requests/${id}/assignment`)).status).toBe(403);
    for (const to of [lea, ada]) expect(codeOf(await assign(ann, id, to))).toEqual([400, 'invalid_body']);
    const nobody = { method: 'POST', body: { person: 'none' } };
    expect((await ann.send(`/v1/requests/${id}/assignment`, nobody)).status).toBe(400);
    expect((await rowOf(ann, id)).assigned_to).toBeNull();
  });
});

describe('a snoozed request', () => {
  test('is hidden from the inbox of one person until its time, but still counted and found', async () => {
    const [ann, ben] = [person('ann'), person('ben')];
    const id = await askOne();
    const [before] = await inbox(ann, id);
    const [bens] = await inbox(ben, id);
    const untilMs = now() + 30 * minuteMs;
    expect((await snooze(ann, id, untilMs)).status).toBe(204);
    expect(await inbox(ann, id)).toEqual([before - 1, false]);
    expect(await inbox(ann, id, 'order=oldest')).toEqual([before - 1, false]);
    expect(await inbox(ann, id, 'snoozed=yes')).toEqual([1, true]);
    expect((await rowOf(ann, id, 'snoozed=yes')).snoozed_until).toBe(new Date(untilMs).toISOString());
    expect(await inbox(ben, id)).toEqual([bens, true]);
    expect((await rowOf(ben, id)).snoozed_until).toBeNull();
    expect((await ann.send(`/v1/requests/${id}/snooze`, { method: 'DELETE' })).status).toBe(204);
    expect(await inbox(ann, id)).toEqual([before, true]);
    await snooze(ann, id, untilMs);
    const reader = await readEvents(service(), ann);
    laterMs += 31 * minuteMs;
    expect(await inbox(ann, id)).toEqual([before, true]);
    await expect.poll(() => reader.received.map(({ kind }) => kind)).toContain('approvals');
    expect(await sweep(service().store.documents, now())).toBeGreaterThan(0);
    const page = { kind: 'snooze', parent: null, after: null, countMax: 9 };
    expect(await service().store.documents.list(page)).toEqual([]);
  });

  test('returns as soon as somebody votes or comments', async () => {
    const [ann, ben] = [person('ann'), person('ben')];
    const asked = await askOne('pay.two');
    const voted = await askOne('pay.two');
    for (const id of [asked, voted]) await snooze(ann, id, now() + 30 * minuteMs);
    const [count] = await inbox(ann, asked);
    const question = { kind: 'question', text: 'what for?' };
    await ben.send(`/v1/requests/${asked}/comments`, { method: 'POST', body: question });
    expect(await inbox(ann, asked)).toEqual([count + 1, true]);
    expect(codeOf(await give(ben, voted, 'approve'))).toEqual([200, 'pending']);
    expect(await inbox(ann, voted)).toEqual([count + 2, true]);
    // Snoozing also hides a request with a question, which the inbox looks at one by one.
    await snooze(ann, asked, now() + 30 * minuteMs);
    expect(await inbox(ann, asked)).toEqual([count + 1, false]);
  });

  test('returns before its deadline, whatever time was chosen', async () => {
    const ann = person('ann');
    const id = await askOne();
    const { expires_at } = await rowOf(ann, id);
    const latestMs = Date.parse(expires_at) - snoozeLeavesMs;
    for (const wrong of [now() - 1, latestMs + 1]) {
      const answer = await snooze(ann, id, wrong);
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/until']);
    }
    const text = { method: 'POST', body: { until: 'soon' } };
    expect((await ann.send(`/v1/requests/${id}/snooze`, text)).status).toBe(400);
    expect((await snooze(ann, id, latestMs)).status).toBe(204);
    const soon = await askOne('pay.soon');
    expect((await snooze(ann, soon, now() + minuteMs)).body.errors).toEqual([
      { pointer: '/until', detail: 'the deadline is too close to snooze the request' },
    ]);
    expect(codeOf(await snooze(person('lea'), id, latestMs))).toEqual([404, 'request_not_found']);
    expect(codeOf(await snooze(person('ada'), id, latestMs))).toEqual([403, 'not_allowed']);
    expect(await verifyChain(service().store)).toMatchObject({ kind: 'whole' });
  });
});

test('the assignee gets a mail if somebody else assigned the request', async () => {
  const mail = await startMailServer();
  const own = await startService({ smtp: { url: mail.url, from: 'writ@example.com' } });
  await usePolicies(own, paymentPolicies);
  const admin = await firstAdmin(own);
  const finance = { roles: ['approver'], groups: ['finance'] } as const;
  const ann = await personWith(own, admin, { email: 'anna@example.com', ...finance });
  const ben = await personWith(own, admin, { email: 'ben@example.com', ...finance });
  const { request_id: id } = await ask(own, 'pay.one');
  await assign(ann, id, ann);
  await assign(ann, id, ben);
  const told = () => mail.taken.filter(({ text }) => text.includes('assigned you'));
  await expect.poll(told).toHaveLength(1);
  expect(told()[0]?.to).toEqual(['RCPT TO:<ben@example.com>']);
  expect(told()[0]?.text).toContain(`/approvals/${id}`);
});
