// Approvers whom data name, and choices of several approvers, over HTTP: who is asked, who may approve, and
// that each person counts once.

import { expect, test } from 'vitest';
import type { Role } from '../../../src/service/people/operations.ts';
import { type Client, firstAdmin, personWith, tokenClient } from './person-client.ts';
import { startService } from './service.ts';
import { ask, codeOf, give, look, usePolicies } from './written-policies.ts';

const policies = `
approvers finance "Finance"
approvers cfo "The CFO"
action expense.submit { employee: string, amount: number 0.. }
table managers = { eve: "Mia@example.com", max: "nobody@example.com" }
table teams = { eve: "finance", max: "cfo" }
policy expenses on expense.submit {
  allow all after approval by finance when payload.amount < 10
  allow rest when payload.amount >= 10
  escalate own to managers[payload.employee] within 4h when payload.amount >= 10 and payload.amount < 100
  escalate either to finance or cfo when payload.amount >= 100 and payload.amount < 1_000
  escalate both to finance when payload.amount >= 200 and payload.amount < 1_000
  escalate team to teams[payload.employee] when payload.amount >= 1_000 and payload.amount < 2_000
  escalate mixed to managers[payload.employee] or finance needs 2 when payload.amount >= 2_000
}
`;

async function start() {
  const service = await startService({ startsWith: policies });
  const admin = await firstAdmin(service);
  const person = (name: string, roles: readonly Role[], ...groups: readonly string[]) =>
    personWith(service, admin, { email: `${name}@example.com`, roles, groups });
  return {
    service,
    admin: await tokenClient(service, admin),
    mia: await person('mia', ['owner']),
    fay: await person('fay', ['approver'], 'finance'),
    finn: await person('finn', ['approver'], 'finance'),
    carl: await person('carl', ['approver'], 'cfo'),
    audra: await person('audra', ['auditor']),
  };
}

const submit = (service: Parameters<typeof ask>[0], employee: string, amount: number) =>
  ask(service, 'expense.submit', { payload: { employee, amount } });

async function inbox(client: Client): Promise<readonly string[]> {
  const { body } = await client.send('/v1/approvals');
  return (body.items as readonly { request_id: string }[]).map((one) => one.request_id);
}

test('only the person whom the table names sees the request, is asked and approves', async () => {
  const { service, admin, mia, fay, carl } = await start();
  const { request_id: id, message } = await submit(service, 'eve', 50);
  expect(message).toContain('it needs 1 approval by Mia@example.com before');
  expect(await inbox(mia)).toEqual([id]);
  expect(await inbox(fay)).toEqual([]);
  expect(await inbox(admin)).toEqual([]);
  expect(codeOf(await fay.send(`/v1/requests/${id}`))).toEqual([404, 'request_not_found']);
  expect(codeOf(await give(carl, id, 'approve'))).toEqual([404, 'request_not_found']);
  expect(codeOf(await give(admin, id, 'approve'))).toEqual([403, 'not_allowed']);
  const { body } = await mia.send(`/v1/requests/${id}`);
  expect(body.allowed_actions).toMatchObject({ approve: ['managers[payload.employee]'], reject: true });
  expect(body.requires.approvals).toEqual([
    {
      group: 'managers[payload.employee]',
      any_of: [{ from: 'managers[payload.employee]', person: 'Mia@example.com', name: 'mia@example.com' }],
      needs: 1,
      given: 0,
    },
  ]);
  expect((await give(mia, id, 'approve')).body).toMatchObject({ status: 'approved', decision: 'ALLOW' });
});

test('that person may reject, and a named person without the right to approve is not asked', async () => {
  const { service, mia, admin, audra } = await start();
  const { request_id: id } = await submit(service, 'eve', 50);
  expect((await give(mia, id, 'reject')).body.status).toBe('rejected');
  await usePolicies(service, policies.replace('Mia@example.com', 'audra@example.com'));
  const { request_id: other } = await submit(service, 'eve', 50);
  expect(codeOf(await give(audra, other, 'approve'))).toEqual([403, 'not_allowed']);
  expect((await admin.send(`/v1/requests/${other}`)).body.status).toBe('pending');
});

test('without a row nobody can approve, and everybody can read the reason', async () => {
  const { service, admin, mia, fay } = await start();
  const { request_id: id, decision, message } = await submit(service, 'zoe', 50);
  expect(decision).toBe('ESCALATE');
  expect(message).toContain(
    'nobody can approve it, because its approver is not known: managers has no row for "zoe"',
  );
  for (const person of [admin, mia, fay])
    expect([403, 404]).toContain((await give(person, id, 'approve')).status);
  const { body } = await admin.send(`/v1/requests/${id}`);
  expect(body.requires.approvals[0].any_of).toEqual([
    { from: 'managers[payload.employee]', unknown: 'managers has no row for "zoe"' },
  ]);
  expect((await look(service, id)).body.status).toBe('pending');
});

test('the manager at the time of the vote counts, and an earlier vote of another is void', async () => {
  const { service, mia, carl } = await start();
  const { request_id: id } = await submit(service, 'eve', 50);
  await usePolicies(service, policies.replace('Mia@example.com', 'carl@example.com'));
  expect(codeOf(await give(mia, id, 'approve'))).toEqual([403, 'not_allowed']);
  expect((await look(service, id)).body.status).toBe('pending');
  // The refused vote has shown that the approver changed, so the request now asks the new one.
  expect(await inbox(carl)).toEqual([id]);
  expect((await give(carl, id, 'approve')).body.status).toBe('approved');
});

test('either of two groups is enough, and one person counts for one rule only', async () => {
  const { service, fay, finn, carl } = await start();
  const { request_id: one } = await submit(service, 'eve', 150);
  expect((await give(carl, one, 'approve')).body.status).toBe('approved');
  const { request_id: two } = await submit(service, 'eve', 150);
  expect((await give(fay, two, 'approve')).body.status).toBe('approved');
  const { request_id: both, message } = await submit(service, 'eve', 300);
  expect(message).toContain('it needs 1 approval by cfo or finance and 1 approval by finance before');
  expect((await give(fay, both, 'approve')).body.status).toBe('pending');
  expect(codeOf(await give(fay, both, 'approve'))).toEqual([409, 'conflict']);
  expect((await give(carl, both, 'approve')).body.status).toBe('approved');
  const { request_id: again } = await submit(service, 'eve', 300);
  await give(fay, again, 'approve');
  expect((await give(finn, again, 'approve')).body.status).toBe('approved');
});

test('an approver is counted for the rule that still needs them', async () => {
  const { service, fay, carl } = await start();
  const { request_id: id } = await submit(service, 'eve', 300);
  // First the one who can answer for one rule only, then the one who can answer for both.
  expect((await give(carl, id, 'approve')).body.status).toBe('pending');
  expect((await give(fay, id, 'approve')).body.status).toBe('approved');
});

test('a column of groups asks the group that the row names', async () => {
  const { service, fay, carl } = await start();
  const { request_id: id, message } = await submit(service, 'max', 1_500);
  expect(message).toContain('it needs 1 approval by cfo before');
  expect(await inbox(fay)).toEqual([]);
  expect(await inbox(carl)).toEqual([id]);
  expect((await give(carl, id, 'approve')).body.status).toBe('approved');
});

test('a person and a group together give as many approvals as are needed', async () => {
  const { service, mia, fay, finn } = await start();
  const { request_id: id } = await submit(service, 'eve', 5_000);
  expect((await give(mia, id, 'approve')).body).toMatchObject({ status: 'pending' });
  expect((await give(fay, id, 'approve', 'finance')).body.status).toBe('approved');
  const { request_id: other } = await submit(service, 'eve', 5_000);
  await give(finn, other, 'approve');
  expect((await give(fay, other, 'approve')).body.status).toBe('approved');
});
