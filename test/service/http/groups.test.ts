// The groups that the active policies ask: who can approve for each, and how many pending requests ask it. An
// admin who adds themselves closes the gap.

import { expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { firstAdmin, personWith, signedIn, tokenClient } from './person-client.ts';
import { startService } from './service.ts';
import { ask, usePolicies } from './written-policies.ts';

const policies = `
approvers finance "Finance, on call" by chat up to risk 40
approvers legal "Legal"
action pay.create { amount: number }
policy pay on pay.create {
  escalate large to finance needs 2 when payload.amount > 100
  escalate huge to finance and legal when payload.amount > 1_000
  escalate odd to owner when payload.amount < 0
  allow rest
}
`;

test('lists each group that the rules ask, with its members and its pending requests', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  await usePolicies(service, policies);
  const ann = await tokenClient(service, admin);
  for (const amount of [10, 200, 2_000]) await ask(service, 'pay.create', { payload: { amount } });
  const finance = {
    name: 'finance',
    title: 'Finance, on call',
    chat_max_risk: 40,
    needs: 2,
    rules: ['pay/huge', 'pay/large'],
  };
  const legal = { name: 'legal', title: 'Legal', chat_max_risk: null, needs: 1, rules: ['pay/huge'] };
  const look = async (client = ann) => (await client.send('/v1/groups')).body.items;
  expect(await look()).toEqual([
    { ...finance, has: 0, pending: 2, members: [], owners_needed: [] },
    { ...legal, has: 0, pending: 1, members: [], owners_needed: [] },
  ]);

  // An admin is no member by being an admin, and becomes one as any person does.
  const { body: session } = await ann.send('/v1/session');
  const path = `/v1/people/${session.person.id}`;
  const change = { method: 'PATCH', body: { groups: ['finance'] } };
  const here = await signedIn(service, 'ann@example.com');
  expect((await here.send(path, change)).status).toBe(200);
  const approver = { email: 'ben@example.com', roles: ['approver'] as const, groups: ['finance', 'legal'] };
  const ben = await personWith(service, admin, approver);
  const auditor = await personWith(service, admin, { email: 'ida@example.com', roles: ['auditor'] });
  const names = (await look(auditor)).map(
    ({ has, members }: { has: number; members: { name: string }[] }) => [
      has,
      members.map(({ name }) => name).toSorted(),
    ],
  );
  expect(names).toEqual([
    [2, ['Ann', 'ben@example.com']],
    [1, ['ben@example.com']],
  ]);
  // Ann and Ben are just enough for two approvals, and Ann is none of the two for an agent of her own.
  const owned = { name: 'hers', riskTier: 'low' as const, controlOwner: 'ANN@example.com', tags: [] };
  const ownersNeeded = async () => {
    const items: readonly { owners_needed: readonly { name: string }[] }[] = await look();
    return items.map(({ owners_needed: owners }) => owners.map(({ name }) => name));
  };
  expect(await ownersNeeded()).toEqual([[], []]);
  expect((await addAgent(service.store, owned)).kind).toBe('added');
  expect(await ownersNeeded()).toEqual([['Ann'], []]);
  // Who may see neither people nor all requests learns the numbers alone.
  expect(await look(ben)).toEqual([
    { ...finance, has: 2, pending: null, members: null, owners_needed: null },
    { ...legal, has: 1, pending: null, members: null, owners_needed: null },
  ]);
  // A person who is disabled approves nothing.
  await here.send(`/v1/people/${ben.person.id}`, { method: 'PATCH', body: { status: 'disabled' } });
  expect((await look()).map(({ has }: { has: number }) => has)).toEqual([1, 0]);
});

test('only admins can add themselves', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const operator = await personWith(service, admin, { email: 'opal@example.com', roles: ['operator'] });
  const change = { method: 'PATCH', body: { groups: ['finance'] } };
  expect((await operator.send(`/v1/people/${operator.person.id}`, change)).status).toBe(403);
});
