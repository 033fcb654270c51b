// Standing approvals over HTTP: what they cover, and every way in which they end.

import { expect, test } from 'vitest';
import { type Answer, type Client, firstAdmin, personWith, send } from './person-client.ts';
import { type Service, startService } from './service.ts';
import { ask, codeOf, give, look, usePolicies } from './written-policies.ts';

const clause = 'standing per session, payload.vendor for 8h up to 3 times';
const policies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.send, pay.hold { amount: number, vendor: string }
policy pay on pay.* {
  allow all for 10m
  escalate new_payee to finance within 4h
    ${clause}
  escalate large to legal within 4h when payload.amount > 100
  deny huge when payload.amount > 1000
}
`;

type Choice = { readonly until?: string; readonly times?: number };

async function start() {
  const clock = { nowMs: Date.now() };
  const service = await startService({
    startsWith: policies,
    clock: () => clock.nowMs,
    openRequestsMax: 10_000,
    areAgentReportsTrusted: true,
  });
  const admin = await firstAdmin(service);
  const approver = (name: string, group: string) =>
    personWith(service, admin, { email: `${name}@example.com`, roles: ['approver'], groups: [group] });
  const [ann, ben, lea] = [
    await approver('finn', 'finance'),
    await approver('ben', 'finance'),
    await approver('lea', 'legal'),
  ];
  const adminClient = await personWith(service, admin, { email: 'eve@example.com', roles: ['admin'] });
  const pay = (vendor: string, { amount = 5, session = 's1', action = 'pay.send' } = {}) =>
    ask(service, action, { payload: { amount, vendor }, headers: { 'x-agent-session': session } });
  return { service, clock, ann, ben, lea, adminClient, pay };
}

function approveStanding(client: Client, id: string, standing: Choice = {}): Promise<Answer> {
  const body = { comment: 'known vendor', standing };
  return client.send(`/v1/requests/${id}/approve`, { method: 'POST', body });
}

/** Has ann approve a payment to Staples as a standing approval. */
async function startStanding(choice: Choice = {}) {
  const world = await start();
  const { request_id: id } = await world.pay('Staples');
  const answer = await approveStanding(world.ann, id, choice);
  expect(codeOf(answer)).toEqual([200, 'approved']);
  return { ...world, id, paid: async () => (await world.pay('Staples')).decision };
}

test('serves later requests with equal keys, up to its count', async () => {
  const { service, pay, id } = await startStanding();
  expect((await pay('Other')).decision).toBe('ESCALATE');
  expect((await pay('Staples', { session: 's2' })).decision).toBe('ESCALATE');
  const views = [await pay('Staples'), await pay('Staples', { amount: 7 }), await pay('Staples')];
  expect(views.map(({ decision, status }) => [decision, status])).toEqual(
    Array.from({ length: 3 }, () => ['ALLOW', 'auto_approved']),
  );
  expect((await pay('Staples')).decision).toBe('ESCALATE');
  expect((await look(service, id)).body.status).toBe('approved');
});

test('an approval without it serves only its own request', async () => {
  const { ann, pay } = await start();
  const { request_id: id } = await pay('Staples');
  expect((await give(ann, id, 'approve')).body.status).toBe('approved');
  expect((await pay('Staples')).decision).toBe('ESCALATE');
});

test('the other rules still apply', async () => {
  const { lea, pay, service } = await startStanding();
  expect((await pay('Staples', { amount: 2000 })).decision).toBe('DENY');
  const { request_id: id, decision } = await pay('Staples', { amount: 200 });
  expect(decision).toBe('ESCALATE');
  expect((await look(service, id)).body.requires.approvals).toMatchObject([{ group: 'legal' }]);
  expect((await give(lea, id, 'approve')).body.status).toBe('approved');
  // The refused request counted nothing, and the approved one counted once.
  expect((await pay('Staples')).decision).toBe('ALLOW');
  expect((await pay('Staples')).decision).toBe('ALLOW');
  expect((await pay('Staples')).decision).toBe('ESCALATE');
});

test('a request that waits for other approvals reserves one use, and returns it if it is not granted', async () => {
  const { lea, pay } = await startStanding({ times: 1 });
  const { request_id: id } = await pay('Staples', { amount: 200 });
  expect((await pay('Staples')).decision).toBe('ESCALATE');
  await give(lea, id, 'reject');
  expect((await pay('Staples')).decision).toBe('ALLOW');
  expect((await pay('Staples')).decision).toBe('ESCALATE');
});

test('an approver can choose a narrower scope, but not a wider one', async () => {
  const { ann, pay, clock } = await start();
  const { request_id: id } = await pay('Staples');
  const at = (hours: number) => new Date(clock.nowMs + hours * 3_600_000).toISOString();
  expect(codeOf(await approveStanding(ann, id, { times: 4 }))).toEqual([409, 'conflict']);
  expect(codeOf(await approveStanding(ann, id, { times: 0 }))).toEqual([400, 'invalid_body']);
  expect(codeOf(await approveStanding(ann, id, { until: at(9) }))).toEqual([409, 'conflict']);
  expect(codeOf(await approveStanding(ann, id, { until: at(-1) }))).toEqual([409, 'conflict']);
  expect((await approveStanding(ann, id, { until: at(1), times: 2 })).body.status).toBe('approved');
  expect((await pay('Staples')).decision).toBe('ALLOW');
  clock.nowMs += 3_600_000;
  expect((await pay('Staples')).decision).toBe('ESCALATE');
});

test('a rule without the clause has no standing approvals', async () => {
  const { service, ann, pay } = await start();
  await usePolicies(service, policies.replace(clause, ''));
  const { request_id: id } = await pay('Staples');
  expect(codeOf(await approveStanding(ann, id))).toEqual([409, 'conflict']);
});

test('all approvers must choose it, and the narrowest choice counts', async () => {
  const { service, ann, ben, pay } = await start();
  await usePolicies(service, policies.replace('finance within', 'finance needs 2 within'));
  const { request_id: first } = await pay('Staples');
  await approveStanding(ann, first);
  expect((await give(ben, first, 'approve')).body.status).toBe('approved');
  expect((await pay('Staples')).decision).toBe('ESCALATE');
  const { request_id: second } = await pay('Staples');
  await approveStanding(ann, second);
  expect((await pay('Staples')).decision).toBe('ESCALATE');
  expect((await approveStanding(ben, second, { times: 1 })).body.status).toBe('approved');
  expect((await pay('Staples')).decision).toBe('ALLOW');
  expect((await pay('Staples')).decision).toBe('ESCALATE');
});

test('counts a grant that was given back, also after its uses were computed from records', async () => {
  const { service, ann, pay } = await startStanding();
  const { request_id: back } = await pay('Staples');
  const outcome = { method: 'POST', body: { executed: false } };
  const headers = { 'x-agent-api-key': service.apiKey };
  expect((await send(service, `/v1/requests/${back}/outcome`, { ...outcome, headers })).status).toBe(200);
  const used = async () => (await ann.send('/v1/standing-approvals')).body.items[0].used;
  expect(await used()).toBe(1);
  // Without the clause the uses are forgotten.
  await usePolicies(service, policies.replace(clause, ''));
  await usePolicies(service, policies);
  expect(await used()).toBe(1);
  expect([await pay('Staples'), await pay('Staples'), await pay('Staples')]).toMatchObject([
    { decision: 'ALLOW' },
    { decision: 'ALLOW' },
    { decision: 'ESCALATE' },
  ]);
});

test('a request without a session is not covered', async () => {
  const { service, ann } = await start();
  const sent = { payload: { amount: 5, vendor: 'Staples' } };
  const { request_id: id } = await ask(service, 'pay.send', sent);
  expect(codeOf(await approveStanding(ann, id))).toEqual([409, 'conflict']);
  await give(ann, id, 'approve');
  expect((await ask(service, 'pay.send', sent)).decision).toBe('ESCALATE');
});

test('ends at its time', async () => {
  const { clock, paid } = await startStanding();
  clock.nowMs += 8 * 3_600_000 - 1;
  expect(await paid()).toBe('ALLOW');
  clock.nowMs += 1;
  expect(await paid()).toBe('ESCALATE');
});

test('ends with a kill switch, and stays ended after the switch is off', async () => {
  for (const scope of ['all', 'tier:low', 'area:pay', 'agent:']) {
    const { service, adminClient, paid, clock } = await startStanding();
    expect(await paid()).toBe('ALLOW');
    clock.nowMs += 1_000;
    const named = scope === 'agent:' ? `agent:${service.agent.id}` : scope;
    const body = { scope: named, reason: 'an incident' };
    const made = await adminClient.send('/v1/kill-switches', { method: 'POST', body });
    expect(made.status).toBe(201);
    const off = { method: 'POST', body: { reason: 'over' } };
    const over = await adminClient.send(`/v1/kill-switches/${made.body.id}/deactivate`, off);
    expect(over.status).toBe(204);
    await expect.poll(paid).toBe('ESCALATE');
  }
});

test('does not end with a kill switch on others', async () => {
  const { adminClient, paid } = await startStanding();
  const body = { scope: 'area:mail', reason: 'an incident' };
  expect((await adminClient.send('/v1/kill-switches', { method: 'POST', body })).status).toBe(201);
  expect(await paid()).toBe('ALLOW');
});

test('ends when the agent or its keys change', async () => {
  const changes = [
    (service: Service) =>
      service.store.agents.setStatus({ agentId: service.agent.id, status: 'disabled', atMs: 1 }),
    (service: Service) =>
      service.store.agents.describe({
        ...service.agent,
        agentId: service.agent.id,
        riskTier: 'high',
        atMs: 1,
      }),
  ];
  for (const change of changes) {
    const { service, paid } = await startStanding();
    await change(service);
    await service.store.agents.setStatus({ agentId: service.agent.id, status: 'active', atMs: 2 });
    expect(await paid()).toBe('ESCALATE');
  }
});

test('ends when its rule changes: condition, people, keys or count', async () => {
  const changes = [
    ['escalate large', 'escalate large'],
    [clause, `${clause} when payload.amount < 50`],
    ['new_payee to finance', 'new_payee to legal'],
    [clause, clause.replace('session, ', '')],
    [clause, clause.replace('3 times', '1 times')],
    [clause, ''],
  ] as const;
  const outcomes: string[][] = [];
  for (const [from, to] of changes) {
    const { service, paid } = await startStanding();
    await usePolicies(service, policies.replace(from, to));
    outcomes.push([await paid(), await paid()]);
  }
  const [same, ...changed] = outcomes;
  expect(same).toEqual(['ALLOW', 'ALLOW']);
  expect(changed[3]).toEqual(['ALLOW', 'ESCALATE']);
  expect(changed.toSpliced(3, 1)).toEqual(Array.from({ length: 4 }, () => ['ESCALATE', 'ESCALATE']));
});

test('ends when an approver is disabled or loses the role, and resumes when they have it again', async () => {
  const { ann, adminClient, paid } = await startStanding();
  const path = `/v1/people/${ann.person.id}`;
  const change = async (body: object) =>
    expect((await adminClient.send(path, { method: 'PATCH', body })).status).toBe(200);
  for (const [away, back] of [
    [{ status: 'disabled' }, { status: 'active' }],
    [{ roles: ['auditor'] }, { roles: ['approver'], groups: ['finance'] }],
  ] as const) {
    await change(away);
    expect(await paid()).toBe('ESCALATE');
    await change(back);
    expect(await paid()).toBe('ALLOW');
  }
});

test('a receipt names the standing approval, but no approver of another request', async () => {
  const { service, ben, id } = await startStanding();
  const [{ id: standing }] = (await ben.send('/v1/standing-approvals')).body.items;
  const reply = await fetch(`${service.url}/v1/authorize`, {
    method: 'POST',
    headers: {
      'x-agent-api-key': service.apiKey,
      'x-agent-session': 's1',
      'content-type': 'application/json',
      prefer: 'receipt',
    },
    body: JSON.stringify({ action_key: 'pay.send', payload: { amount: 5, vendor: 'Staples' } }),
  });
  const [, claims = ''] = reply.headers.get('writ-receipt')?.split('.') ?? [];
  const told = JSON.parse(Buffer.from(claims, 'base64url').toString());
  expect(told).toMatchObject({ standing_approvals: [standing] });
  expect([told.jti === id, 'approved_by' in told]).toEqual([false, false]);
});

test('is revoked by the control owner of the agent', async () => {
  const { service, ann, ben, pay } = await start();
  const described = { ...service.agent, agentId: service.agent.id, controlOwner: ben.person.email, atMs: 1 };
  await service.store.agents.describe(described);
  const { request_id: id } = await pay('Staples');
  expect((await approveStanding(ann, id)).body.status).toBe('approved');
  expect((await pay('Staples')).decision).toBe('ALLOW');
  const [{ id: standing }] = (await ben.send('/v1/standing-approvals')).body.items;
  const revoked = await ben.send(`/v1/standing-approvals/${standing}/revoke`, { method: 'POST' });
  expect(revoked.status).toBe(200);
  expect((await pay('Staples')).decision).toBe('ESCALATE');
});

test('ends when somebody who approved may no longer approve', async () => {
  const { ann, adminClient, paid } = await startStanding();
  expect(await paid()).toBe('ALLOW');
  const { id } = ann.person;
  const body = { roles: ['approver'], groups: ['legal'] };
  const changed = await adminClient.send(`/v1/people/${id}`, { method: 'PATCH', body });
  expect(changed.status).toBe(200);
  expect(await paid()).toBe('ESCALATE');
});

test('is listed with its scope, and the records name it', async () => {
  const { service, ann, ben, lea, adminClient, paid, id } = await startStanding({ times: 2 });
  await paid();
  const { items } = (await ben.send('/v1/standing-approvals')).body;
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({
    rule: 'pay/new_payee',
    agent: 'buyer',
    request_id: id,
    per: [
      { key: 'payload.vendor', value: 'Staples' },
      { key: 'session', value: 's1' },
    ],
    times: 2,
    used: 1,
    ended: null,
    can_revoke: false,
  });
  const standing = items[0].id;
  const one = await ann.send(`/v1/standing-approvals/${standing}`);
  expect(one.body).toEqual({ ...items[0], can_revoke: true });
  expect((await lea.send('/v1/standing-approvals')).body.items).toEqual([]);
  expect((await lea.send(`/v1/standing-approvals/${standing}`)).status).toBe(404);
  const list = `/v1/standing-approvals?agent=${service.agent.id}`;
  expect((await adminClient.send(list)).body.items).toHaveLength(1);
  expect((await adminClient.send('/v1/standing-approvals?agent=other')).body.items).toEqual([]);
  const { request_id: under } = await ask(service, 'pay.send', {
    payload: { amount: 1, vendor: 'Staples' },
    headers: { 'x-agent-session': 's1' },
  });
  expect((await look(service, under)).body.standing_approvals).toEqual([
    { rule: 'pay/new_payee', id: standing },
  ]);
  const { body: origin } = await ben.send(`/v1/requests/${id}`);
  expect(origin.approvals[0].standing).toMatchObject([{ rule: 'pay/new_payee', times: 2 }]);
  expect((await ben.send('/v1/standing-approvals')).body.items[0]).toMatchObject({
    used: 2,
    ended: 'it is used up',
  });
});

test('whoever gave it sees what was granted under it, and may do nothing else; nobody else sees more', async () => {
  const { service, ann, ben, lea, adminClient, pay, id } = await startStanding();
  const { request_id: under } = await pay('Staples');
  const { request_id: other } = await ask(service, 'pay.send', { payload: { amount: 5, vendor: 'Staples' } });
  await give(ben, other, 'approve');
  const statusFor = async (client: Client) => (await client.send(`/v1/requests/${under}`)).status;
  const listed = async (client: Client) => {
    const { items } = (await client.send('/v1/requests?action=pay.send')).body;
    return items.map((one: { request_id: string }) => one.request_id);
  };
  const clients = [ann, ben, lea, adminClient];
  expect(await Promise.all(clients.map(statusFor))).toEqual([200, 404, 404, 200]);
  expect(await listed(ann)).toEqual([other, under, id]);
  expect(await listed(ben)).toEqual([other, id]);
  expect(await listed(lea)).toEqual([]);
  expect((await ann.send('/v1/requests/count')).body.count).toBe(3);
  const searched = await ann.send('/v1/requests?text=staples');
  expect(searched.body.items).toHaveLength(3);
  for (const [path, body] of [
    ['approve', { comment: 'yes' }],
    ['reject', { comment: 'no' }],
    ['outcome', { executed: true }],
    ['comments', { kind: 'comment', text: 'mine' }],
  ] as const) {
    const answer = await ann.send(`/v1/requests/${under}/${path}`, { method: 'POST', body });
    expect([path, answer.status]).toEqual([path, expect.toSatisfy((status) => status >= 403)]);
  }
  expect((await look(service, under)).body.status).toBe('auto_approved');
});

test('a request that is refused has no givers', async () => {
  const { service, ann, pay } = await startStanding();
  const { request_id: denied } = await pay('Staples', { amount: 2_000 });
  expect((await look(service, denied)).body.status).toBe('rejected');
  const row = await service.store.requests.find(denied);
  expect(JSON.parse(row?.recordJson ?? '')).not.toHaveProperty('givers');
  const { request_id: granted } = await pay('Staples');
  const used = await service.store.requests.find(granted);
  expect(JSON.parse(used?.recordJson ?? '').givers).toEqual([
    { rule: 'pay/new_payee', person: ann.person.id },
  ]);
});

test('an approver sees which scopes can be chosen', async () => {
  const { ann, pay } = await start();
  const { request_id: id } = await pay('Staples');
  expect((await ann.send(`/v1/requests/${id}`)).body.standing_offers).toEqual([
    {
      rule: 'pay/new_payee',
      per: [
        { key: 'payload.vendor', value: 'Staples' },
        { key: 'session', value: 's1' },
      ],
      seconds: 8 * 3600,
      times: 3,
    },
  ]);
});

test('can be revoked only by its givers, the control owner or an admin', async () => {
  for (const by of ['ann', 'adminClient'] as const) {
    const world = await startStanding();
    const { ben, lea, paid } = world;
    const [{ id }] = (await ben.send('/v1/standing-approvals')).body.items;
    const revoke = (client: Client) => client.send(`/v1/standing-approvals/${id}/revoke`, { method: 'POST' });
    expect([(await revoke(ben)).status, (await revoke(lea)).status]).toEqual([403, 404]);
    expect(await paid()).toBe('ALLOW');
    expect((await revoke(world[by])).body).toMatchObject({ can_revoke: false });
    expect(await paid()).toBe('ESCALATE');
    const again = await revoke(world[by]);
    expect([again.status, again.body.ended]).toEqual([200, `${again.body.revoked_by} has revoked it`]);
    expect((await ben.send(`/v1/standing-approvals/${id}`)).body.revoked_at).not.toBeNull();
  }
});

test('64 concurrent clients use it exactly up to its count', { timeout: 60_000 }, async () => {
  const { service, ann, ben, pay, clock } = await start();
  await usePolicies(service, policies.replace('3 times', '10 times'));
  const { request_id: id } = await pay('Staples');
  await approveStanding(ann, id);
  clock.nowMs += 1;
  const views = await Promise.all(Array.from({ length: 64 }, () => pay('Staples')));
  expect(views.filter(({ decision }) => decision === 'ALLOW')).toHaveLength(10);
  expect((await ben.send('/v1/standing-approvals')).body.items[0].used).toBe(10);
});

test('after a revocation is acknowledged, no request is granted', { timeout: 60_000 }, async () => {
  const { service, ann, ben, pay } = await start();
  await usePolicies(service, policies.replace(' up to 3 times', ''));
  const { request_id: id } = await pay('Staples');
  await approveStanding(ann, id);
  const [{ id: standing }] = (await ben.send('/v1/standing-approvals')).body.items;
  let isAcknowledged = false;
  let late = 0;
  let granted = 0;
  const asking = Array.from({ length: 8 }, async () => {
    for (let count = 0; count < 12; count += 1) {
      const wasAcknowledged = isAcknowledged;
      const { decision } = await pay('Staples');
      if (decision === 'ALLOW') granted += 1;
      if (decision === 'ALLOW' && wasAcknowledged) late += 1;
    }
  });
  await expect.poll(() => granted).toBeGreaterThan(8);
  const answer = await ann.send(`/v1/standing-approvals/${standing}/revoke`, { method: 'POST' });
  isAcknowledged = true;
  await Promise.all(asking);
  expect([answer.status, late]).toEqual([200, 0]);
  expect((await pay('Staples')).decision).toBe('ESCALATE');
});

test('a grant that was not used still counts', async () => {
  const { service, pay, paid } = await startStanding({ times: 1 });
  const { request_id: id } = await pay('Staples');
  const reply = await fetch(`${service.url}/v1/requests/${id}/outcome`, {
    method: 'POST',
    headers: { 'x-agent-api-key': service.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ executed: false }),
  });
  expect(reply.status).toBe(200);
  expect(await paid()).toBe('ESCALATE');
});
