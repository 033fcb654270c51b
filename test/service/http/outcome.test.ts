// The outcome of a grant: the agent itself or a person reports it once, and the report ends the grant.

import { describe, expect, test } from 'vitest';
import { addPoint } from '../../../src/service/agents/points/change-point.ts';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { metricsOf } from './exposition.ts';
import { type Answer, firstAdmin, personWith, send, signedIn } from './person-client.ts';
import { type Service, startService } from './service.ts';
import { ask, codeOf, give, look } from './written-policies.ts';

function report(
  service: Service,
  id: string,
  executed: boolean,
  headers: Readonly<Record<string, string>> = { 'x-agent-api-key': service.apiKey },
): Promise<Answer> {
  return send(service, `/v1/requests/${id}/outcome`, { method: 'POST', body: { executed }, headers });
}

test('by the agent ends the grant, and a repeated report changes nothing', async () => {
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

test('of two different concurrent reports, one is recorded', async () => {
  const service = await startService();
  const { request_id: id } = await ask(service, 'demo.allow');
  const answers = await Promise.all([report(service, id, true), report(service, id, false)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});

test('that a grant was not used must come in time, that it was used may come late', async () => {
  const time = { aheadMs: 0 };
  const service = await startService({ clock: () => Date.now() + time.aheadMs });
  const [early, late] = [await ask(service, 'demo.allow'), await ask(service, 'demo.allow')];
  expect((await report(service, early.request_id, false)).body.status).toBe('consumed');
  time.aheadMs = 10 * 60_000 + 1;
  expect(codeOf(await report(service, late.request_id, false))).toEqual([409, 'conflict']);
  expect((await report(service, late.request_id, true)).body.status).toBe('consumed');
});

test('contains what the call returned, as its action declares it', async () => {
  const service = await startService({
    startsWith: `action web.fetch { ... } result { labels: [string] }
      action mail.send { ... }
      meter tainted = count() of web.fetch when "untrusted" in result.labels per agent over 1h
      policy p on web.fetch { allow all }
      policy q on mail.send { allow all  deny tainted when tainted > 0 }`,
  });
  const tell = (id: string, body: object) =>
    send(service, `/v1/requests/${id}/outcome`, {
      method: 'POST',
      body,
      headers: { 'x-agent-api-key': service.apiKey },
    });
  const mail = async () => (await ask(service, 'mail.send')).decision;
  const { request_id: id } = await ask(service, 'web.fetch');
  expect(await mail()).toBe('DENY');
  const wrong = await tell(id, { executed: true, result: { labels: 'untrusted' } });
  expect(codeOf(wrong)).toEqual([400, 'invalid_body']);
  expect(wrong.body.errors).toMatchObject([{ pointer: '/result/labels' }]);
  expect(codeOf(await tell(id, { executed: true, result: [] }))).toEqual([400, 'invalid_body']);
  expect(codeOf(await tell(id, { executed: false, result: { labels: [] } }))).toEqual([400, 'invalid_body']);
  expect(await mail()).toBe('DENY');
  expect((await tell(id, { executed: true, result: { labels: [] } })).status).toBe(200);
  expect(codeOf(await tell(id, { executed: true, result: { labels: ['x'] } }))).toEqual([409, 'conflict']);
  expect(await mail()).toBe('ALLOW');
  const [one, two] = [await ask(service, 'web.fetch'), await ask(service, 'web.fetch')];
  const outcomes = [
    { request_id: one.request_id, executed: true, result: { labels: ['untrusted'] } },
    { request_id: two.request_id, executed: true, result: { labels: [], more: 1 } },
  ];
  const many = await send(service, '/v1/outcomes', {
    method: 'POST',
    body: { outcomes },
    headers: { 'x-agent-api-key': service.apiKey },
  });
  expect(many.body.items).toMatchObject([{ result: 'reported' }, { result: 'invalid_result' }]);
  expect(await mail()).toBe('DENY');
});

test('of a request that was not granted is a conflict', async () => {
  const service = await startService();
  for (const action of ['demo.deny', 'demo.escalate', 'demo.reauth']) {
    const { request_id: id } = await ask(service, action);
    expect(codeOf(await report(service, id, true))).toEqual([409, 'conflict']);
  }
});

test('is accepted from the agent that asked, and from people by their roles', async () => {
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
    const service = await startService({ areAgentReportsTrusted: isTrusted, clock, startsWith: metered });
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

const reportAll = (
  service: Service,
  outcomes: readonly object[],
  headers: Readonly<Record<string, string>>,
) => send(service, '/v1/outcomes', { method: 'POST', body: { outcomes }, headers });

test('of several grants is judged for each grant separately', async () => {
  const service = await startService();
  const own = { 'x-agent-api-key': service.apiKey };
  const used = await Promise.all([1, 2, 3].map(() => ask(service, 'demo.allow')));
  const denied = await ask(service, 'demo.deny');
  const ids = [...used, denied].map(({ request_id }) => request_id);
  const told = [...ids, 'none'].map((request_id) => ({ request_id, executed: true }));
  const { body } = await reportAll(service, told, own);
  const results = body.items.map(({ result }: { readonly result: string }) => result);
  expect(results).toEqual(['reported', 'reported', 'reported', 'conflict', 'request_not_found']);
  for (const { request_id: id } of used) expect((await look(service, id)).body.status).toBe('consumed');
  const many = Array.from({ length: 101 }, () => ({ request_id: ids[0], executed: true }));
  for (const outcomes of [[], many]) expect((await reportAll(service, outcomes, own)).status).toBe(400);
  expect((await reportAll(service, told, {})).status).toBe(401);
});

test('that a grant was not used releases its amounts only from an enforcement point that may release', async () => {
  const service = await startService({ startsWith: metered });
  const admin = await firstAdmin(service);
  const operator = await personWith(service, admin, { email: 'olga@example.com', roles: ['operator'] });
  const body = { name: 'proxy', agents: ['buyer'] };
  const { api_key: key, point } = (
    await send(service, '/v1/enforcement-points', { method: 'POST', body, headers: operator.headers })
  ).body;
  expect(point.may_release).toBe(false);
  const byPoint = { 'x-agent-api-key': key, 'x-writ-agent': 'buyer' };
  const pay = () => ask(service, 'pay.send', { headers: byPoint });
  const { request_id } = await pay();
  expect((await pay()).decision).toBe('DENY');
  const told = [{ request_id, executed: false }];
  const byAgent = await reportAll(service, told, { 'x-agent-api-key': service.apiKey });
  expect(byAgent.body.items).toEqual([{ request_id, result: 'request_not_found' }]);
  expect((await pay()).decision).toBe('DENY');
  const byItself = await reportAll(service, told, byPoint);
  expect(byItself.body.items).toEqual([{ request_id, result: 'reported' }]);
  expect((await pay()).decision).toBe('DENY');
  const one = { method: 'POST', body: { executed: false }, headers: byPoint } as const;
  expect((await send(service, `/v1/requests/${request_id}/outcome`, one)).status).toBe(200);
  expect((await pay()).decision).toBe('DENY');
  const allowed = { method: 'PATCH', body: { may_release: true }, headers: operator.headers } as const;
  expect((await send(service, `/v1/enforcement-points/${point.id}`, allowed)).body.may_release).toBe(true);
  expect((await reportAll(service, told, byPoint)).body.items).toEqual([{ request_id, result: 'reported' }]);
  expect((await pay()).decision).toBe('ALLOW');
});

describe('of a call that is named by what was called', () => {
  const policies = `action web.fetch { url: string }  result { trusted: boolean }
    action mail.send { }
    approvers security "Security"
    meter untrusted = count() of web.fetch when not result.trusted per session over 1h
    policy web on web.fetch { allow all  escalate admin to security when payload.url == "admin" }
    policy mail on mail.send { allow all  deny tainted when untrusted > 0 }`;
  const fetched = (url: string, more: object = {}) => ({
    call: { action_key: 'web.fetch', payload: { url }, ...more },
  });
  const trusting = { executed: true, result: { trusted: true } };

  async function rig() {
    const service = await startService({ startsWith: policies });
    const inSession = (session: string, more: Readonly<Record<string, string>> = {}) => ({
      'x-agent-api-key': service.apiKey,
      'x-agent-session': session,
      ...more,
    });
    const fetchPage = (url: string, headers = inSession('s1')) =>
      ask(service, 'web.fetch', { payload: { url }, headers });
    const tell = async (report: object, headers: Readonly<Record<string, string>> = inSession('s1')) =>
      (await reportAll(service, [report], headers)).body.items?.[0];
    const mail = async () =>
      (await ask(service, 'mail.send', { payload: {}, headers: inSession('s1') })).decision;
    return { service, inSession, fetchPage, tell, mail };
  }

  test('reports on the latest unreported grant of the session, one grant for each report', async () => {
    const { service, inSession, fetchPage, tell, mail } = await rig();
    const [first, second] = [await fetchPage('a'), await fetchPage('a')];
    await fetchPage('a', inSession('s2'));
    expect(await mail()).toBe('DENY');
    const told = await Promise.all([1, 2].map(() => tell({ ...fetched('a'), ...trusting })));
    expect(told.map(({ result }) => result)).toEqual(['reported', 'reported']);
    expect(told.map(({ request_id }) => request_id).toSorted()).toEqual(
      [first.request_id, second.request_id].toSorted(),
    );
    expect(await mail()).toBe('ALLOW');
    expect(await tell({ ...fetched('a'), ...trusting })).toEqual({ result: 'request_not_found' });
    expect((await look(service, first.request_id)).body.status).toBe('consumed');
  });

  test('is not matched with another payload, action, session, agent or point', async () => {
    const { service, inSession, fetchPage, tell, mail } = await rig();
    await fetchPage('a');
    const other = await addAgent(service.store, {
      name: 'other',
      riskTier: 'low',
      controlOwner: 'ops',
      tags: [],
    });
    const otherKey = { ...inSession('s1'), 'x-agent-api-key': other.kind === 'added' ? other.apiKey : '' };
    const point = await addPoint(
      { documents: service.store.documents, who: 'test', nowMs: Date.now() },
      { name: 'hooks', agents: [service.agent.id], mayRelease: true },
    );
    const byPoint = {
      ...inSession('s1'),
      'x-agent-api-key': point.kind === 'made' ? point.apiKey : '',
      'x-writ-agent': service.agent.name,
    };
    const none = { result: 'request_not_found' };
    const sessionless = { 'x-agent-api-key': service.apiKey };
    for (const headers of [inSession('s2'), sessionless, otherKey, byPoint])
      expect(await tell({ ...fetched('a'), ...trusting }, headers)).toEqual(none);
    expect(await tell({ ...fetched('b'), ...trusting })).toEqual(none);
    expect(await tell({ call: { action_key: 'mail.send', payload: { url: 'a' } }, ...trusting })).toEqual(
      none,
    );
    expect(await mail()).toBe('DENY');
  });

  test('repeated with its id does not report on another grant', async () => {
    const { fetchPage, tell } = await rig();
    const report = { ...fetched('a'), ...trusting, report_id: 'r1' };
    const [one, two] = [await fetchPage('a'), await fetchPage('a')];
    const told = [
      await tell(report),
      await tell(report),
      await tell({ ...report, result: { trusted: false } }),
    ];
    expect(told).toEqual([
      { request_id: two.request_id, result: 'reported' },
      { request_id: two.request_id, result: 'reported' },
      { result: 'conflict' },
    ]);
    expect(await tell({ ...report, report_id: 'r2' })).toEqual({
      request_id: one.request_id,
      result: 'reported',
    });
  });

  test('is matched by the key of its request, or of the call that used the approval', async () => {
    const { service, inSession, fetchPage, tell } = await rig();
    const own = await fetchPage('a', inSession('s1', { 'idempotency-key': 'k1' }));
    await fetchPage('a');
    const byKey = { ...fetched('other', { idempotency_key: 'k1' }), ...trusting };
    for (let times = 0; times < 2; times += 1)
      expect(await tell(byKey)).toEqual({ request_id: own.request_id, result: 'reported' });
    expect(await tell({ ...fetched('a', { idempotency_key: 'none' }), ...trusting })).toEqual({
      result: 'request_not_found',
    });
    expect(await tell({ call: { ...byKey.call, action_key: 'mail.send' }, ...trusting })).toEqual({
      result: 'request_not_found',
    });
    const { request_id: waiting } = await fetchPage('admin', inSession('s1', { 'idempotency-key': 'k2' }));
    expect(await tell({ ...fetched('admin', { idempotency_key: 'k2' }), ...trusting })).toEqual({
      result: 'request_not_found',
    });
    const admin = await firstAdmin(service);
    await personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups: ['security'] });
    const ben = await signedIn(service, 'ben@example.com');
    expect(codeOf(await give(ben, waiting, 'approve'))).toEqual([200, 'approved']);
    const again = await fetchPage('admin', inSession('s1', { 'idempotency-key': 'k3', prefer: 'attach' }));
    expect([again.request_id, again.decision]).toEqual([waiting, 'ALLOW']);
    const taken = { ...fetched('admin', { idempotency_key: 'k3' }), ...trusting };
    expect(await tell(taken)).toEqual({ request_id: waiting, result: 'reported' });
  });

  test('needs exactly one name, and a result of the declared type', async () => {
    const { service, inSession, fetchPage, tell } = await rig();
    const { request_id } = await fetchPage('a');
    for (const report of [
      trusting,
      { ...fetched('a'), request_id, ...trusting },
      { ...fetched('a', { idempotency_key: 'point:x/k' }), ...trusting },
    ])
      expect(codeOf(await reportAll(service, [report], inSession('s1')))).toEqual([400, 'invalid_body']);
    expect(await tell({ ...fetched('a'), executed: true, result: { trusted: 1 } })).toEqual({
      result: 'invalid_result',
    });
    expect(await tell({ ...fetched('a'), executed: true })).toEqual({ request_id, result: 'reported' });
    const text = await metricsOf(service);
    expect(text).toContain('writ_unknown_results_total{reason="mistyped"} 1\n');
    expect(text).toContain('writ_unknown_results_total{reason="missing"} 1\n');
    const lines = service.log.filter((line) =>
      line.includes('meters on the result of `web.fetch` are unknown'),
    );
    expect(lines).toHaveLength(1);
  });
});
