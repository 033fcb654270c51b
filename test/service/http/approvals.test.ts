// Approvals over HTTP: who may give them, what they count for, and what happens to two votes at the same
// time.

import { describe, expect, test } from 'vitest';
import { addAgent, describeAgent } from '../../../src/service/agents/registry.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { createRequestEvents } from '../../../src/service/requests/record/request-events.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { type Service, startService } from './service.ts';
import { ask, codeOf, give, look, usePolicies, type View } from './written-policies.ts';

const policies = `
approvers finance "Finance"
approvers security "Security"
action pay.small, pay.large, pay.both, pay.owned, pay.shared, pay.daily { amount?: number, card?: secret string matches '[0-9]{16}', ... }
policy pay on pay.* {
  allow all for 10m
  escalate small to finance within 1h when action.key == "pay.small"
  escalate large to finance needs 2 within 4h when action.key == "pay.large"
  escalate both_finance to finance within 4h when action.key == "pay.both"
  escalate both_security to security within 2h when action.key == "pay.both"
  escalate by_owner to owner within 2h when action.key == "pay.owned" or action.key == "pay.shared"
  escalate by_finance_too to finance within 2h when action.key == "pay.shared"
}
`;

interface World {
  readonly service: Service;
  readonly admin: Person;
  readonly ann: Client;
  readonly ben: Client;
  readonly cleo: Client;
  /** A person of the group `security`. */
  readonly sam: Client;
  readonly time: { aheadMs: number };
}

async function start(): Promise<World> {
  const time = { aheadMs: 0 };
  const service = await startService({ clock: () => Date.now() + time.aheadMs, startsWith: policies });
  const admin = await firstAdmin(service);
  const finance = (email: string) =>
    personWith(service, admin, { email, roles: ['approver'], groups: ['finance'] });
  const [ann, ben, cleo] = [
    await finance('anna@example.com'),
    await finance('ben@example.com'),
    await finance('cleo@example.com'),
  ];
  const sam = await personWith(service, admin, {
    email: 'sam@example.com',
    roles: ['approver'],
    groups: ['security', 'finance'],
  });
  return { service, admin, ann, ben, cleo, sam, time };
}

describe('a request that asks one person', () => {
  test('is approved by them, and the grant lasts as long as the policy says', async () => {
    const world = await start();
    const view = await ask(world.service, 'pay.small', { headers: { 'idempotency-key': 'k1' } });
    expect(view).toMatchObject({ decision: 'ESCALATE', status: 'pending' });
    expect(view.message).toContain('it needs 1 approval by finance before');
    const answer = await give(world.ann, view.request_id, 'approve');
    expect(answer.body).toMatchObject({ decision: 'ALLOW', status: 'approved', requires: null });
    expect(answer.body.approvals).toMatchObject([
      {
        by: expect.stringContaining('anna@example.com'),
        group: 'finance',
        is_approved: true,
        comment: 'looked at',
      },
    ]);
    const heldMs = Date.parse(answer.body.expires_at) - Date.parse(answer.body.decided_at);
    expect(heldMs).toBe(600_000);
    expect((await look(world.service, view.request_id)).body).toMatchObject({
      decision: 'ALLOW',
      status: 'approved',
    });
    const repeated = await ask(world.service, 'pay.small', { headers: { 'idempotency-key': 'k1' } });
    expect(repeated).toMatchObject({
      request_id: view.request_id,
      decision: 'ALLOW',
      status: 'auto_approved',
      expires_at: answer.body.expires_at,
    });
    expect(await verifyChain(world.service.store)).toMatchObject({ kind: 'whole' });
  });

  test('is rejected for good by one rejection', async () => {
    const world = await start();
    const view = await ask(world.service, 'pay.small', { headers: { 'idempotency-key': 'k1' } });
    const { request_id: id } = view;
    expect((await give(world.ann, id, 'reject')).body).toMatchObject({
      decision: 'DENY',
      status: 'rejected',
    });
    expect(codeOf(await give(world.ben, id, 'approve'))).toEqual([409, 'conflict']);
    expect(codeOf(await give(world.ben, id, 'reject'))).toEqual([409, 'conflict']);
    const repeated = await ask(world.service, 'pay.small', { headers: { 'idempotency-key': 'k1' } });
    expect(repeated).toMatchObject({ decision: 'DENY', status: 'rejected' });
  });

  test('keeps its idempotency key until a day after it ends, also after a late approval', async () => {
    const world = await start();
    const [hour, headers] = [3_600_000, { 'idempotency-key': 'k1' }];
    await usePolicies(
      world.service,
      policies.replace('for 10m', 'for 72h').replace('within 1h', 'within 24h'),
    );
    const at = async (hours: number) => {
      world.time.aheadMs = hours * hour;
      return await ask(world.service, 'pay.small', { headers });
    };
    const { request_id: id } = await at(0);
    world.time.aheadMs = 23 * hour;
    // The grant ends 95 hours after the request was made; the wait would have ended after 24 hours.
    expect((await give(world.ann, id, 'approve')).body.status).toBe('approved');
    expect(await at(60)).toMatchObject({ request_id: id, decision: 'ALLOW' });
    expect(await at(118.9)).toMatchObject({ request_id: id, decision: 'DENY' });
    expect((await at(119.1)).request_id).not.toBe(id);
    expect(await verifyChain(world.service.store)).toMatchObject({ kind: 'whole' });
  });

  test('expires at its deadline, even if somebody approves at that moment', async () => {
    const world = await start();
    const { request_id: id } = await ask(world.service, 'pay.small');
    world.time.aheadMs = 3_600_001;
    expect(codeOf(await give(world.ann, id, 'approve'))).toEqual([409, 'conflict']);
    expect((await look(world.service, id)).body).toMatchObject({ status: 'expired', approvals: [] });
  });

  test('ends the wait of its agent', async () => {
    const world = await start();
    const { request_id: id } = await ask(world.service, 'pay.small');
    const waiting = fetch(`${world.service.url}/v1/requests/${id}`, {
      headers: { 'x-agent-api-key': world.service.apiKey, prefer: 'wait=55' },
    });
    await give(world.ann, id, 'approve');
    expect(await (await waiting).json()).toMatchObject({ decision: 'ALLOW', status: 'approved' });
  });

  test('is hidden from people who are not asked, and they cannot vote', async () => {
    const world = await start();
    const { request_id: id } = await ask(world.service, 'pay.small');
    const legal = await personWith(world.service, world.admin, {
      email: 'leo@example.com',
      roles: ['approver'],
      groups: ['legal'],
    });
    expect(codeOf(await give(legal, id, 'approve'))).toEqual([404, 'request_not_found']);
    expect(codeOf(await legal.send(`/v1/requests/${id}`))).toEqual([404, 'request_not_found']);
    const operator = await personWith(world.service, world.admin, {
      email: 'olga@example.com',
      roles: ['operator'],
      groups: ['finance'],
    });
    expect(codeOf(await give(operator, id, 'approve'))).toEqual([403, 'not_allowed']);
    expect(codeOf(await operator.send(`/v1/requests/${id}`))).toEqual([200, 'pending']);
  });

  test('with a secret is decided again without the secret', async () => {
    const world = await start();
    const payload = { amount: 5, card: '4111111111111111' };
    const { request_id: id } = await ask(world.service, 'pay.small', { payload });
    const answer = await give(world.ann, id, 'approve');
    expect(answer.body).toMatchObject({ status: 'approved' });
    expect(JSON.stringify(answer.body)).not.toContain('4111111111111111');
  });
});

describe('a request that asks two people', () => {
  test('counts each person once, and returns the number of missing approvals', async () => {
    const world = await start();
    const { request_id: id } = await ask(world.service, 'pay.large');
    const first = await give(world.ann, id, 'approve');
    expect(first.body).toMatchObject({
      status: 'pending',
      requires: { approvals: [{ group: 'finance', needs: 2, given: 1 }], step_up: false },
    });
    expect(first.body.message).toContain('it needs 1 more approval by finance');
    expect(codeOf(await give(world.ann, id, 'approve'))).toEqual([409, 'conflict']);
    expect((await give(world.ben, id, 'approve')).body).toMatchObject({ status: 'approved' });
    expect(codeOf(await give(world.cleo, id, 'approve'))).toEqual([409, 'conflict']);
  });

  test('does not count an approval of the control owner, who may approve if one is enough', async () => {
    const world = await start();
    const added = await addAgent(world.service.store, {
      name: 'annas',
      riskTier: 'low',
      controlOwner: 'ANNA@example.com',
      tags: [],
    });
    const key = added.kind === 'added' ? added.apiKey : '';
    const { request_id: large } = await ask(world.service, 'pay.large', { key });
    expect(codeOf(await give(world.ann, large, 'approve'))).toEqual([403, 'not_allowed']);
    const { request_id: small } = await ask(world.service, 'pay.small', { key });
    expect((await give(world.ann, small, 'approve')).body.status).toBe('approved');
  });

  test('counts ten concurrent approvals by one person once', async () => {
    const world = await start();
    const { request_id: id } = await ask(world.service, 'pay.large');
    const answers = await Promise.all(Array.from({ length: 10 }, () => give(world.ann, id, 'approve')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
    expect((await look(world.service, id)).body.approvals).toHaveLength(1);
    expect((await look(world.service, id)).body.status).toBe('pending');
  });

  test('is approved by two of three concurrent approvals', async () => {
    const world = await start();
    const { request_id: id } = await ask(world.service, 'pay.large');
    const answers = await Promise.all(
      [world.ann, world.ben, world.cleo].map((client) => give(client, id, 'approve')),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 409]);
    expect((await look(world.service, id)).body).toMatchObject({ status: 'approved', approvals: [{}, {}] });
    expect(await verifyChain(world.service.store)).toMatchObject({ kind: 'whole' });
  });
});

test('accepts either a concurrent approval or a rejection, never both', async () => {
  const world = await start();
  for (let round = 0; round < 10; round += 1) {
    const { request_id: id } = await ask(world.service, 'pay.small');
    const [approval, rejection] = await Promise.all([
      give(world.ann, id, 'approve'),
      give(world.ben, id, 'reject'),
    ]);
    const { body } = await look(world.service, id);
    expect([approval.status, rejection.status].toSorted()).toEqual([200, 409]);
    expect(body.status).toBe(approval.status === 200 ? 'approved' : 'rejected');
    expect(body.approvals).toHaveLength(1);
  }
});

describe('a request that asks two groups', () => {
  test('needs both, and each approval counts for one group', async () => {
    const world = await start();
    const { request_id: id } = await ask(world.service, 'pay.both');
    const unclear = await give(world.sam, id, 'approve');
    expect(codeOf(unclear)).toEqual([400, 'invalid_body']);
    expect(unclear.body.errors[0].pointer).toBe('/group');
    const first = await give(world.sam, id, 'approve', 'security');
    expect(first.body).toMatchObject({
      status: 'pending',
      requires: { approvals: [{ group: 'finance', needs: 1, given: 0 }] },
    });
    expect(codeOf(await give(world.sam, id, 'approve', 'finance'))).toEqual([409, 'conflict']);
    expect(codeOf(await give(world.ann, id, 'approve', 'security'))).toEqual([403, 'not_allowed']);
    // A change of the policies does not lengthen the wait beyond what the first decision allowed.
    const { body } = await look(world.service, id);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(2 * 3_600_000);
    expect((await give(world.ann, id, 'approve')).body.status).toBe('approved');
  });
});

describe('an approval', () => {
  test('never grants another request that differs in a byte, an agent or an action', async () => {
    const world = await start();
    const other = await addAgent(world.service.store, {
      name: 'other',
      riskTier: 'low',
      controlOwner: 'ops',
      tags: [],
    });
    const key = other.kind === 'added' ? other.apiKey : '';
    const { request_id: approved } = await ask(world.service, 'pay.small', { payload: { note: 'a' } });
    const others = [
      await ask(world.service, 'pay.small', { payload: { note: 'b' } }),
      await ask(world.service, 'pay.small', { payload: { note: 'a' }, key }),
      await ask(world.service, 'pay.large', { payload: { note: 'a' } }),
      await ask(world.service, 'pay.small', { payload: { note: 'a' } }),
    ];
    await give(world.ann, approved, 'approve');
    const digests = new Set<string>();
    for (const { request_id: id } of others) {
      const { body } = await world.ann.send(`/v1/requests/${id}`);
      expect(body.status).toBe('pending');
      digests.add(body.digest);
    }
    const { body } = await look(world.service, approved);
    expect(digests.size).toBe(4);
    expect(digests).toContain(body.digest);
    expect(await ask(world.service, 'pay.small', { payload: { note: 'b' } })).toMatchObject({
      status: 'pending',
    });
  });

  test('does not count after the condition has changed, and the person can approve again', async () => {
    const world = await start();
    const { request_id: id } = await ask(world.service, 'pay.large');
    await give(world.ann, id, 'approve');
    await usePolicies(
      world.service,
      policies.replace('== "pay.large"', '== "pay.large" and payload.amount else 0 < 9'),
    );
    expect((await give(world.ben, id, 'approve')).body.status).toBe('pending');
    expect((await give(world.ann, id, 'approve')).body.status).toBe('approved');
  });

  test('for two rules does not count for a rule that has changed', async () => {
    const world = await start();
    const two = `${policies.slice(0, policies.lastIndexOf('}'))}
      escalate also to finance needs 2 within 4h when action.key == "pay.large" and (payload.note else "") != "b"
    }`.replace('amount?: number', 'amount?: number, note?: string');
    await usePolicies(world.service, two);
    const { request_id: id } = await ask(world.service, 'pay.large', { payload: { note: 'a' } });
    await give(world.ann, id, 'approve');
    expect(codeOf(await give(world.ann, id, 'approve'))).toEqual([409, 'conflict']);
    await usePolicies(world.service, two.replace('!= "b"', '!= "c"'));
    expect((await give(world.ann, id, 'approve')).body.status).toBe('pending');
    expect((await give(world.ben, id, 'approve')).body.status).toBe('approved');
  });

  test('is checked by the active policies: a deny refuses, a new requirement keeps it pending', async () => {
    const world = await start();
    const { request_id: denied } = await ask(world.service, 'pay.small');
    const { request_id: asked } = await ask(world.service, 'pay.both');
    await usePolicies(
      world.service,
      policies.replace('allow all', 'deny small_now when action.key == "pay.small"\n  allow all'),
    );
    const refused = await give(world.ann, denied, 'approve');
    expect(refused.body).toMatchObject({ decision: 'DENY', status: 'rejected', matched_policy: 'pay' });
    expect(refused.body.trace).toContainEqual(expect.objectContaining({ rule: 'pay/small_now' }));
    expect(refused.body.policy_set.digest).toBe(world.service.policies.state().digest);
    await usePolicies(
      world.service,
      policies.replaceAll('to finance within 4h', 'to finance needs 3 within 4h'),
    );
    expect((await give(world.ann, asked, 'approve')).body.requires).toMatchObject({
      approvals: [
        { group: 'finance', needs: 1 },
        { group: 'security', needs: 1 },
      ],
    });
    expect((await give(world.sam, asked, 'approve', 'security')).body.requires).toMatchObject({
      approvals: [{ group: 'finance', needs: 3, given: 1 }],
    });
  });

  test('uses the present facts of the agent, and never grants to a disabled one', async () => {
    const world = await start();
    const { request_id: id } = await ask(world.service, 'pay.small');
    const { store, agent } = world.service;
    await store.agents.setStatus({ agentId: agent.id, status: 'disabled', atMs: Date.now() });
    expect(codeOf(await give(world.ann, id, 'approve'))).toEqual([409, 'conflict']);
    await store.agents.setStatus({ agentId: agent.id, status: 'active', atMs: Date.now() });
    expect((await give(world.ann, id, 'approve')).body.status).toBe('approved');
  });
});

test('each event stream gets each new pending request and each end once', async () => {
  const told: string[] = [];
  const requestEvents = createRequestEvents();
  requestEvents.subscribe(({ kind, status, groups }) => told.push(`${kind} ${status} ${groups.join()}`));
  const service = await startService({ requestEvents, startsWith: policies });
  const admin = await firstAdmin(service);
  const approver = (email: string, ...groups: string[]) =>
    personWith(service, admin, { email, roles: ['approver'], groups });
  const [ann, ben] = [
    await approver('anna@example.com', 'finance'),
    await approver('ben@example.com', 'finance', 'security'),
  ];
  const { request_id: large } = await ask(service, 'pay.large');
  await give(ann, large, 'approve');
  await give(ben, large, 'approve');
  expect(told.splice(0)).toEqual(['pending pending finance', 'decided approved ']);
  const { request_id: both } = await ask(service, 'pay.both');
  await give(ben, both, 'approve', 'security');
  await give(ann, both, 'reject');
  expect(told).toEqual(['pending pending finance,security', 'pending pending finance', 'decided rejected ']);
});

describe('the queue', () => {
  test('contains the requests that the caller can approve, by deadline', async () => {
    const world = await start();
    const large = await ask(world.service, 'pay.large');
    const small = await ask(world.service, 'pay.small');
    const both = await ask(world.service, 'pay.both');
    const queue = async (client: Client) =>
      (await client.send('/v1/approvals')).body.items.map((item: View) => item.request_id);
    expect(await queue(world.ann)).toEqual([small, both, large].map((view) => view.request_id));
    await give(world.ann, large.request_id, 'approve');
    await give(world.ben, small.request_id, 'approve');
    expect(await queue(world.ann)).toEqual([both.request_id]);
    expect(await queue(world.ben)).toEqual([both, large].map((view) => view.request_id));
    const page = (await world.ben.send('/v1/approvals?limit=1')).body;
    const next = (await world.ben.send(`/v1/approvals?limit=1&cursor=${page.next_cursor}`)).body;
    expect([...page.items, ...next.items].map((item: View) => item.request_id)).toEqual(
      [both, large].map((view) => view.request_id),
    );
    await give(world.ann, both.request_id, 'approve');
    expect(await queue(world.ben)).toEqual([large.request_id]);
    // An approval does not count for a rule that has changed since.
    expect(await queue(world.ann)).toEqual([]);
    await usePolicies(
      world.service,
      policies.replace('== "pay.large"', '== "pay.large" and payload.amount else 0 < 9'),
    );
    expect(await queue(world.ann)).toEqual([large.request_id]);
    await give(world.ann, large.request_id, 'approve');
    expect(await queue(world.ann)).toEqual([]);
    world.time.aheadMs = 5 * 3_600_000;
    expect(await queue(world.ben)).toEqual([]);
  });
});

describe('a request that asks `owner`', () => {
  async function owned(action: string) {
    const world = await start();
    const { service, admin } = world;
    const people = {
      olga: await personWith(service, admin, { email: 'olga@example.com', roles: ['owner'] }),
      otto: await personWith(service, admin, { email: 'otto@example.com', roles: ['owner'] }),
      // A person of `finance`, to whom the approval for the control owner is sent as if it were an approval
      // for a group.
      fay: await personWith(service, admin, {
        email: 'fay@example.com',
        roles: ['approver'],
        groups: ['finance'],
      }),
    };
    const draft = { name: 'owned', riskTier: 'low', controlOwner: 'olga@example.com', tags: [] } as const;
    const added = await addAgent(service.store, draft);
    if (added.kind !== 'added') throw new Error(added.kind);
    const { request_id: id } = await ask(service, action, { key: added.apiKey });
    const waitingFor = async (person: Client): Promise<readonly string[]> =>
      (await person.send('/v1/approvals')).body.items.map((one: View) => one.request_id);
    return { ...world, ...people, agentId: added.agent.id, id, waitingFor };
  }

  test('waits for the control owner of its agent only', async () => {
    const { id, olga, otto, ann, waitingFor } = await owned('pay.owned');
    expect([await waitingFor(olga), await waitingFor(otto), await waitingFor(ann)]).toEqual([[id], [], []]);
    for (const other of [otto, ann])
      expect(codeOf(await give(other, id, 'approve'))).toEqual([404, 'request_not_found']);
    expect((await olga.send(`/v1/requests/${id}`)).body.allowed_actions.approve).toEqual(['owner']);
    expect((await give(olga, id, 'approve')).body).toMatchObject({
      status: 'approved',
      approvals: [{ group: 'owner' }],
    });
  });

  test('is for the person who is the control owner at the time of the vote', async () => {
    const { service, id, agentId, olga, otto, ann, admin, waitingFor } = await owned('pay.shared');
    expect((await give(olga, id, 'approve')).body.status).toBe('pending');
    await describeAgent(service.store, {
      agentId,
      nowMs: Date.now(),
      who: admin.email,
      controlOwner: 'OTTO@example.com',
    });
    expect((await otto.send(`/v1/requests/${id}`)).body.requires.invalidated).toMatchObject([
      { by: expect.stringContaining('olga'), reason: 'is no longer the control owner' },
    ]);
    expect((await give(ann, id, 'approve')).body.status).toBe('pending');
    expect([await waitingFor(olga), await waitingFor(otto)]).toEqual([[], [id]]);
    expect(codeOf(await give(olga, id, 'approve'))).toEqual([404, 'request_not_found']);
    expect((await give(otto, id, 'approve')).body.status).toBe('approved');
  });

  test('and a group needs two people, and the owner votes as owner', async () => {
    const { service, id, agentId, fay, ann, admin } = await owned('pay.shared');
    await describeAgent(service.store, {
      agentId,
      nowMs: Date.now(),
      who: admin.email,
      controlOwner: 'fay@example.com',
    });
    expect(codeOf(await give(fay, id, 'approve', 'finance'))[0]).toBe(403);
    expect((await give(fay, id, 'approve')).body).toMatchObject({
      status: 'pending',
      approvals: [{ group: 'owner' }],
    });
    expect(codeOf(await give(fay, id, 'approve'))).toEqual([409, 'conflict']);
    expect((await give(ann, id, 'approve')).body.status).toBe('approved');
    expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
  });

  test('is not approved by members of a group named owner', async () => {
    const { service, admin } = await start();
    const draft = { email: 'x@example.com', roles: ['approver'], groups: ['owner'] } as const;
    await expect(personWith(service, admin, draft)).rejects.toThrow('is no group');
  });
});
