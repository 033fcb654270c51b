// Fallbacks over HTTP: who may approve before and after they are asked, what is recorded and told, and that time alone
// grants nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import {
  createRequestEvents,
  type RequestNotice,
} from '../../../src/service/requests/record/request-events.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { startService } from './service.ts';
import { ask, codeOf, give, look, usePolicies } from './written-policies.ts';

const hourMs = 3_600_000;
const clause = 'to finance within 2h then to security within 2h then to cfo within 1h';
const policies = `
approvers finance "Finance"
approvers security "Security"
approvers cfo "The CFO"
action pay.send { vendor: string }
policy pay on pay.send {
  allow all for 10m
  escalate large ${clause}
}
`;

async function start(startsWith = policies) {
  const clock = { nowMs: Date.now() };
  const notices: RequestNotice[] = [];
  const requestEvents = createRequestEvents();
  requestEvents.subscribe((notice) => notices.push(notice));
  const service = await startService({
    startsWith,
    requestEvents,
    clock: () => clock.nowMs,
    fallbacks: { everyMs: 10 },
  });
  const admin = await firstAdmin(service);
  const approver = (name: string, group: string) =>
    personWith(service, admin, { email: `${name}@example.com`, roles: ['approver'], groups: [group] });
  const pay = async () => (await ask(service, 'pay.send', { payload: { vendor: 'Staples' } })).request_id;
  return {
    service,
    clock,
    notices,
    pay,
    fay: await approver('fay', 'finance'),
    finn: await approver('finn', 'finance'),
    sam: await approver('sam', 'security'),
    sue: await approver('sue', 'security'),
    carl: await approver('carl', 'cfo'),
  };
}

async function inbox(client: Client): Promise<readonly string[]> {
  const { body } = await client.send('/v1/approvals');
  return (body.items as readonly { request_id: string }[]).map((one) => one.request_id);
}

const askedIn = async (client: Client, id: string) =>
  (await client.send(`/v1/requests/${id}`)).body.fallbacks;

test('asks the fallback when the first time is over, and the next when the second is', async () => {
  const { service, clock, notices, pay, fay, sam, carl } = await start();
  const id = await pay();
  const startMs = clock.nowMs;
  const at = (hours: number) => new Date(startMs + hours * hourMs).toISOString();
  const { body } = await fay.send(`/v1/requests/${id}`);
  expect(body).toMatchObject({ expires_at: at(5), fallbacks: [] });
  expect(body.requires.approvals).toEqual([
    {
      group: 'finance then security then cfo',
      any_of: [{ group: 'finance' }],
      fallbacks: [
        { asked_at: at(2), any_of: [{ group: 'security' }] },
        { asked_at: at(4), any_of: [{ group: 'cfo' }] },
      ],
      needs: 1,
      given: 0,
    },
  ]);
  clock.nowMs = startMs + 2 * hourMs - 1;
  expect(codeOf(await sam.send(`/v1/requests/${id}`))).toEqual([404, 'request_not_found']);
  expect(codeOf(await give(sam, id, 'approve'))).toEqual([404, 'request_not_found']);
  expect(await inbox(sam)).toEqual([]);

  clock.nowMs = startMs + 2 * hourMs;
  await expect.poll(() => inbox(sam)).toEqual([id]);
  expect(await inbox(fay)).toEqual([id]);
  expect(await inbox(carl)).toEqual([]);
  const profile = `/v1/agents/${service.agent.id}/payload-profile?action=pay.send`;
  expect([(await sam.send(profile)).status, (await carl.send(profile)).status]).toEqual([200, 404]);
  expect(await askedIn(fay, id)).toEqual([{ any_of: [{ group: 'security' }], at: at(2) }]);
  expect((await look(service, id)).body).toMatchObject({
    status: 'pending',
    message: expect.stringContaining('it needs 1 approval by finance or security before'),
  });
  // Those who were asked before are not told again.
  expect(notices.map(({ kind, groups }) => [kind, groups])).toEqual([
    ['pending', ['finance']],
    ['pending', ['security']],
  ]);

  clock.nowMs = startMs + 4 * hourMs;
  await expect.poll(() => inbox(carl)).toEqual([id]);
  expect(await askedIn(carl, id)).toHaveLength(2);
  expect((await give(sam, id, 'approve')).body.status).toBe('approved');
  expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
});

test('those who were asked first may still decide, and so may the fallback', async () => {
  const { clock, pay, fay, sam } = await start();
  const [one, other] = [await pay(), await pay()];
  clock.nowMs += 2 * hourMs;
  await expect.poll(async () => (await inbox(sam)).toSorted()).toEqual([one, other].toSorted());
  expect((await give(fay, one, 'approve')).body.status).toBe('approved');
  expect((await give(sam, other, 'reject', 'security')).body.status).toBe('rejected');
});

test('a vote of the first counts together with one of the fallback, each person once', async () => {
  const { clock, pay, fay, finn, sam } = await start(
    policies.replace('finance within', 'finance needs 2 within'),
  );
  const id = await pay();
  expect((await give(fay, id, 'approve')).body.status).toBe('pending');
  clock.nowMs += 2 * hourMs;
  await expect.poll(() => inbox(sam)).toEqual([id]);
  expect(codeOf(await give(fay, id, 'approve'))).toEqual([409, 'conflict']);
  expect((await give(sam, id, 'approve')).body.status).toBe('approved');
  const next = await pay();
  expect((await give(finn, next, 'approve')).body.status).toBe('pending');
});

test('each of several groups can be replaced by a person of the fallback', async () => {
  const both = policies.replace(clause, 'to finance and cfo within 2h then to security within 2h');
  const { clock, pay, sam, sue } = await start(both);
  const id = await pay();
  clock.nowMs += 2 * hourMs;
  await expect.poll(() => inbox(sam)).toEqual([id]);
  expect((await give(sam, id, 'approve')).body.status).toBe('pending');
  expect(codeOf(await give(sam, id, 'approve'))).toEqual([409, 'conflict']);
  expect((await give(sue, id, 'approve')).body.status).toBe('approved');
});

test('nobody decides after the last time, and time alone grants nothing', async () => {
  const { service, clock, pay, fay, sam, carl } = await start();
  const id = await pay();
  clock.nowMs += 5 * hourMs;
  expect((await look(service, id)).body.status).toBe('expired');
  for (const person of [fay, sam, carl])
    expect((await give(person, id, 'approve')).status).toBeGreaterThan(399);
  expect((await look(service, id)).body).toMatchObject({ status: 'expired', decision: 'ESCALATE' });
});

test('a clock that is set back takes nothing back', async () => {
  const { service, clock, pay, sam } = await start();
  const id = await pay();
  clock.nowMs += 2 * hourMs;
  await expect.poll(() => inbox(sam)).toEqual([id]);
  clock.nowMs -= 2 * hourMs;
  expect(await inbox(sam)).toEqual([id]);
  expect((await give(sam, id, 'approve')).body.status).toBe('approved');
  const next = await pay();
  expect(codeOf(await give(sam, next, 'approve'))).toEqual([404, 'request_not_found']);
  expect((await look(service, next)).body.status).toBe('pending');
});

test('a fallback that a new policy set no longer names cannot approve', async () => {
  const { service, clock, pay, fay, sam } = await start();
  const id = await pay();
  clock.nowMs += 2 * hourMs;
  await expect.poll(() => inbox(sam)).toEqual([id]);
  await usePolicies(service, policies.replace(clause, 'to finance within 4h'));
  expect((await give(sam, id, 'approve')).body.status).toBe('pending');
  expect((await give(fay, id, 'approve')).body.status).toBe('approved');
});

test('a pending request keeps the fallbacks of the decision that counts', async () => {
  const { service, clock, pay, fay, sam } = await start(policies.replace(clause, 'to finance within 8h'));
  const id = await pay();
  await usePolicies(service, policies);
  const later = await pay();
  clock.nowMs += 2 * hourMs;
  await expect.poll(() => inbox(sam)).toEqual([later]);
  expect(await askedIn(fay, id)).toEqual([]);
});

test('is not asked while the request is stopped', async () => {
  const { service, clock, pay, sam } = await start();
  const id = await pay();
  await service.store.agents.setStatus({
    agentId: service.agent.id,
    status: 'disabled',
    atMs: clock.nowMs,
    who: 'admin',
  });
  clock.nowMs += 2 * hourMs;
  // Many times as long as between two looks.
  await sleep(200);
  expect(await inbox(sam)).toEqual([]);
  expect((await look(service, id)).status).not.toBe(200);
  await service.store.agents.setStatus({
    agentId: service.agent.id,
    status: 'active',
    atMs: clock.nowMs,
    who: 'admin',
  });
  await expect.poll(() => inbox(sam)).toEqual([id]);
});

test('an approval is for its request only once a fallback has been asked', async () => {
  const standing = policies.replace('within 1h', 'within 1h\n    standing per payload.vendor for 8h');
  const { clock, pay, fay, sam } = await start(standing);
  const id = await pay();
  expect((await fay.send(`/v1/requests/${id}`)).body.standing_offers).toHaveLength(1);
  clock.nowMs += 2 * hourMs;
  await expect.poll(() => inbox(sam)).toEqual([id]);
  expect((await sam.send(`/v1/requests/${id}`)).body.standing_offers).toEqual([]);
  const body = { comment: 'fine', standing: {} };
  expect((await sam.send(`/v1/requests/${id}/approve`, { method: 'POST', body })).status).toBe(409);
});
