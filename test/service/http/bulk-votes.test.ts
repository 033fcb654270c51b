// Votes on several requests at once, and the queue with only what a person can decide.

import { expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { startService } from './service.ts';
import { ask, codeOf, give } from './written-policies.ts';

const policies = `
approvers finance "Finance"
action pay.one, pay.two, pay.risky, pay.small, pay.step { amount: number, vendor: string, note?: string, ... }
policy pay on pay.* {
  allow all for 10m
  escalate one to finance within 2h when action.key == "pay.one"
  escalate two to finance needs 2 within 3h when action.key == "pay.two"
  escalate risky to finance within 1h when action.key == "pay.risky" risk +80
  reauth stepped within 15m when action.key == "pay.step"
}
`;

async function start() {
  const service = await startService({ startsWith: policies });
  const admin = await firstAdmin(service);
  const member = (email: string) =>
    personWith(service, admin, { email, roles: ['approver'], groups: ['finance'] });
  const ben = await member('ben@example.com');
  const cleo = await member('cleo@example.com');
  const added = await addAgent(service.store, {
    name: 'of-cleo',
    riskTier: 'low',
    controlOwner: 'cleo@example.com',
    tags: [],
  });
  if (added.kind !== 'added') throw new Error(added.kind);
  const pay = async (action: string, payload: object, key?: string) =>
    (await ask(service, action, { payload, ...(key === undefined ? {} : { key }) })).request_id;
  return { service, ben, cleo, ownKey: added.apiKey, pay };
}

function voteOn(client: Client, vote: 'approve' | 'reject', ids: readonly string[]) {
  const requests = ids.map((id) => ({ id }));
  return client.send('/v1/approvals/votes', { method: 'POST', body: { vote, comment: 'seen', requests } });
}

async function queueOf(client: Client, query = ''): Promise<readonly [number, ...string[]]> {
  const { body } = await client.send(`/v1/approvals?${query}`);
  return [body.count, ...body.items.map((one: { request_id: string }) => one.request_id)];
}

test('approves each request separately, except those that must be opened first', async () => {
  const { ben, cleo, pay } = await start();
  const plain = await pay('pay.one', { amount: 1, vendor: 'Staples' });
  const two = await pay('pay.two', { amount: 2, vendor: 'Staples' });
  const fake = await pay('pay.one', { amount: 3, vendor: 'St\u0430ples' });
  const hidden = await pay('pay.one', { amount: 4, vendor: 'Staples', note: 'pay\u202e' });
  const risky = await pay('pay.risky', { amount: 5, vendor: 'Staples' });
  const gone = await pay('pay.one', { amount: 6, vendor: 'Staples' });
  await give(cleo, gone, 'reject');
  const { status, body } = await voteOn(ben, 'approve', [plain, two, fake, hidden, risky, gone, 'none']);
  expect(status).toBe(200);
  const letters = 'it contains letters that may deceive: decide it by itself';
  expect(body.items).toEqual([
    { request_id: plain, status: 'approved', refusal: null },
    { request_id: two, status: 'pending', refusal: null },
    { request_id: fake, status: null, refusal: { code: 'needs_own_review', detail: letters } },
    { request_id: hidden, status: null, refusal: { code: 'needs_own_review', detail: letters } },
    {
      request_id: risky,
      status: null,
      refusal: { code: 'needs_own_review', detail: 'its risk is 80 or more: decide it by itself' },
    },
    { request_id: gone, status: null, refusal: { code: 'conflict', detail: expect.any(String) } },
    { request_id: 'none', status: null, refusal: { code: 'request_not_found', detail: expect.any(String) } },
  ]);
  // Each can be decided by itself, and all can be rejected together.
  expect(codeOf(await give(ben, fake, 'approve'))).toEqual([200, 'approved']);
  const rejected = (await voteOn(ben, 'reject', [hidden, risky])).body.items;
  expect(rejected.map((one: { status: string }) => one.status)).toEqual(['rejected', 'rejected']);
  expect(codeOf(await voteOn(ben, 'approve', []))).toEqual([400, 'invalid_body']);
});

test('the inbox and the request contain the warnings and earlier grants', async () => {
  const { ben, pay } = await start();
  const first = await pay('pay.one', { amount: 900, vendor: 'Staples', note: 'March' });
  await give(ben, first, 'approve');
  const same = await pay('pay.one', { amount: 900, vendor: 'Staples', note: 'March' });
  const other = await pay('pay.one', { amount: 901, vendor: 'Staples', note: 'March' });
  const fake = await pay('pay.one', { amount: 900, vendor: 'St\u0430ples' });
  const { items } = (await ben.send('/v1/approvals')).body;
  const about = (id: string) => items.find((one: { request_id: string }) => one.request_id === id);
  const grant = { request_id: first, at: expect.any(String), is_identical: true };
  expect(about(same).review).toEqual({ warnings: [], confusables: [], earlier_grants: [grant] });
  expect(about(other).review).toEqual({ warnings: [], confusables: [], earlier_grants: [] });
  expect(about(fake).review).toMatchObject({
    warnings: ['deceptive_letters'],
    confusables: [{ path: 'vendor', confusable_with: { value: 'Staples', count: 1 } }],
    earlier_grants: [],
  });
  const again = await pay('pay.one', { amount: 900, vendor: 'Staples', note: 'April' });
  const detail = (await ben.send(`/v1/requests/${again}`)).body;
  expect(detail.review.earlier_grants).toEqual([]);
  expect((await ben.send(`/v1/requests/${fake}`)).body.review).toEqual(about(fake).review);
  // The people are named, whatever their addresses are.
  expect((await ben.send(`/v1/requests/${first}`)).body.people).toMatchObject([
    { email: 'ben@example.com', name: expect.any(String) },
  ]);
});

test('counts and lists only what the person can decide, and gives a reason for the rest', async () => {
  const { service, ben, cleo, ownKey, pay } = await start();
  const own = await pay('pay.two', { amount: 1, vendor: 'Acme' }, ownKey);
  const mine = await pay('pay.two', { amount: 2, vendor: 'Acme' });
  const step = await pay('pay.step', { amount: 3, vendor: 'Acme' }, ownKey);
  const one = await pay('pay.one', { amount: 4, vendor: 'Acme' }, ownKey);
  expect(await queueOf(ben)).toEqual([3, one, own, mine]);
  // The control owner is not one of two people, but steps up, and approves what needs one person.
  expect(await queueOf(cleo)).toEqual([3, step, one, mine]);
  expect(await queueOf(cleo, 'limit=1')).toEqual([3, step]);
  expect(await queueOf(cleo, 'order=oldest')).toEqual([3, mine, step, one]);
  expect(await queueOf(cleo, 'decidable=no')).toEqual([1, own]);
  const { items } = (await cleo.send('/v1/approvals?decidable=no')).body;
  expect(items[0].allowed_actions.reason).toMatch(/you are the control owner/);
  await give(ben, mine, 'approve');
  expect(await queueOf(ben)).toEqual([2, one, own]);
  expect(await queueOf(cleo)).toEqual([3, step, one, mine]);
  // A disabled agent's requests cannot be approved.
  await service.store.agents.setStatus({ agentId: service.agent.id, status: 'disabled', atMs: Date.now() });
  expect(await queueOf(cleo)).toEqual([2, step, one]);
  expect(await queueOf(cleo, 'decidable=no')).toEqual([2, own, mine]);
  await service.store.agents.setStatus({ agentId: service.agent.id, status: 'active', atMs: Date.now() });
  expect(await queueOf(cleo)).toEqual([3, step, one, mine]);
});
