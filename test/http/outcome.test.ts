// What became of a grant: said once, by the agent itself or a person, and it ends the grant.

import { expect, test } from 'vitest';
import { addAgent } from '../../src/service/agents/registry.ts';
import { type Answer, firstAdmin, personWith, send } from './person-client.ts';
import { type Service, startService } from './service.ts';
import { ask, codeOf, look, usePolicies } from './written-policies.ts';

function report(
  service: Service,
  id: string,
  executed: boolean,
  headers: Readonly<Record<string, string>> = { 'x-agent-api-key': service.apiKey },
): Promise<Answer> {
  return send(service, `/v1/requests/${id}/outcome`, { method: 'POST', body: { executed }, headers });
}

test('by the agent ends the grant, and the same word again changes nothing', async () => {
  const service = await startService();
  const headers = { 'idempotency-key': 'k1' };
  const { request_id: id } = await ask(service, 'demo.allow', { headers });
  const first = await report(service, id, true);
  expect(first.body).toMatchObject({ status: 'consumed', decision: 'ALLOW' });
  expect(first.headers.get('ratelimit')).toContain('"agent"');
  expect((await report(service, id, true)).body).toEqual(first.body);
  expect(codeOf(await report(service, id, false))).toEqual([409, 'conflict']);
  expect((await look(service, id)).body).toEqual(first.body);
  expect(await ask(service, 'demo.allow', { headers })).toMatchObject({
    request_id: id,
    decision: 'DENY',
    status: 'rejected',
  });
});

test('of two at once that differ one is taken', async () => {
  const service = await startService();
  const { request_id: id } = await ask(service, 'demo.allow');
  const answers = await Promise.all([report(service, id, true), report(service, id, false)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});

test('that it will not be used is said in time, that it was used also late', async () => {
  const time = { aheadMs: 0 };
  const service = await startService({ clock: () => Date.now() + time.aheadMs });
  const [early, late] = [await ask(service, 'demo.allow'), await ask(service, 'demo.allow')];
  expect((await report(service, early.request_id, false)).body.status).toBe('consumed');
  time.aheadMs = 10 * 60_000 + 1;
  expect(codeOf(await report(service, late.request_id, false))).toEqual([409, 'conflict']);
  expect((await report(service, late.request_id, true)).body.status).toBe('consumed');
});

test('of what was never granted is a conflict', async () => {
  const service = await startService();
  for (const action of ['demo.deny', 'demo.escalate', 'demo.reauth']) {
    const { request_id: id } = await ask(service, action);
    expect(codeOf(await report(service, id, true))).toEqual([409, 'conflict']);
  }
});

test('is for the agent that asked, and for people by their roles', async () => {
  const service = await startService();
  const { request_id: id } = await ask(service, 'demo.allow');
  const other = await addAgent(service.store, {
    name: 'other',
    riskTier: 'low',
    controlOwner: 'ops',
    tags: [],
  });
  const key = other.kind === 'added' ? other.apiKey : '';
  expect(codeOf(await report(service, id, true, { 'x-agent-api-key': key }))).toEqual([
    404,
    'request_not_found',
  ]);
  expect((await report(service, id, true, {})).status).toBe(401);
  const admin = await firstAdmin(service);
  const operator = await personWith(service, admin, { email: 'olga@example.com', roles: ['operator'] });
  expect((await report(service, id, true, operator.headers)).body.status).toBe('consumed');
});

const metered = `
action pay.send { ... }
meter sent = count() of pay.send per agent over 1h
policy pay on pay.send {
  allow one for 10m
  deny second when sent > 1
}
`;

test.each([false, true])(
  'that a grant is not used frees what it took; agents trusted: %s',
  async (isTrusted) => {
    const time = { aheadMs: 0 };
    const clock = () => Date.now() + time.aheadMs;
    const service = await startService({ areAgentReportsTrusted: isTrusted, clock });
    await usePolicies(service, metered);
    const admin = await firstAdmin(service);
    const operator = await personWith(service, admin, { email: 'olga@example.com', roles: ['operator'] });
    const owner = await personWith(service, admin, { email: 'otto@example.com', roles: ['owner'] });
    const decision = async () => (await ask(service, 'pay.send')).decision;
    const { request_id: id } = await ask(service, 'pay.send');
    expect(await decision()).toBe('DENY');
    expect((await report(service, id, false)).body.status).toBe('consumed');
    expect(await decision()).toBe(isTrusted ? 'ALLOW' : 'DENY');
    if (isTrusted) return;
    expect(codeOf(await report(service, id, false, owner.headers))).toEqual([404, 'request_not_found']);
    expect((await report(service, id, false, operator.headers)).body.status).toBe('consumed');
    const { request_id: late } = await ask(service, 'pay.send');
    time.aheadMs = 10 * 60_000 + 1;
    expect(codeOf(await report(service, late, false, operator.headers))).toEqual([409, 'conflict']);
    expect(await decision()).toBe('DENY');
    time.aheadMs = 60 * 60_000 + 1;
    expect(await decision()).toBe('ALLOW');
  },
);
