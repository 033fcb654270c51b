// What an agent does, over HTTP. Counts equal a look through all of its records, also when more records
// arrive. The payload profile is visible only to people who may see it.

import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { createDaysOf, daysShown } from '../../../src/service/http/resources/agents/agent-activity-view.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { activityAtOnce } from '../../../src/service/store/queries/agent-activity.ts';
import { agentRow, requestRow, startMs, temporaryFolder } from '../store/rows.ts';
import { firstAdmin, personWith, tokenClient } from './person-client.ts';
import { authorize, startService, wrongKey } from './service.ts';
import { ask, codeOf, give } from './written-policies.ts';

const dayMs = 24 * 60 * 60 * 1000;

test('counts requests by outcome for each day, and returns the limits', async () => {
  const service = await startService();
  const ann = await tokenClient(service, await firstAdmin(service));
  const path = `/v1/agents/${service.agent.id}/activity`;
  const look = async () => (await ann.send(path)).body;
  const unused = await look();
  expect(unused).toMatchObject({ last_used_at: null, open_requests: 0 });
  expect(unused.rate).toEqual({ per_minute: 60_000, burst: 10_000, is_own: false });
  expect(unused.days).toHaveLength(daysShown);
  for (const action of ['demo.allow', 'demo.allow', 'demo.deny', 'demo.escalate', 'demo.reauth'])
    await ask(service, action);
  await authorize(service, { body: 'no json' });
  const counts = { allow: 2, deny: 1, escalate: 1, reauth: 1, refused: 1 };
  // The minute of the last use is written a moment after the use.
  await vi.waitFor(async () => expect((await look()).last_used_at).toEqual(expect.any(String)), 60_000);
  const first = await look();
  expect(first).toMatchObject({ open_requests: 2 });
  expect(first.days.at(-1)).toEqual({ at: expect.stringMatching(/T00:00:00.000Z$/), ...counts });
  await ask(service, 'demo.allow');
  expect((await look()).days.at(-1)).toMatchObject({ ...counts, allow: 3 });
  await ann.send(`/v1/agents/${service.agent.id}`, { method: 'PATCH', body: { burst: 50 } });
  expect((await look()).rate).toEqual({ per_minute: 60_000, burst: 50, is_own: true });
  const tomorrow = await createDaysOf(service.store)(service.agent.id, Date.now() + dayMs);
  expect(tomorrow.at(-1)).toMatchObject({ allow: 0, deny: 0, refused: 0 });
  expect(tomorrow.at(-2)).toMatchObject({ ...counts, allow: 3 });
  expect(codeOf(await ann.send('/v1/agents/buyer/activity'))).toEqual([404, 'not_found']);
});

test('refusals are counted by code, also those without a record, for the agent and in the overview', async () => {
  const service = await startService({ openRequestsMax: 1 });
  const ann = await tokenClient(service, await firstAdmin(service));
  await ask(service, 'demo.escalate');
  const escalate = JSON.stringify({ action_key: 'demo.escalate', payload: {} });
  for (let times = 0; times < 3; times += 1)
    expect((await authorize(service, { body: escalate })).status).toBe(429);
  await authorize(service, { body: 'no json' });
  await authorize(service, { key: wrongKey(service.apiKey) });
  const { body } = await ann.send(`/v1/agents/${service.agent.id}/activity`);
  expect(body).toMatchObject({ open_requests: 1, open_requests_max: 1 });
  const own = [
    { code: 'too_many_open_requests', title: 'Too many pending requests', count: 3 },
    { code: 'invalid_json', title: 'The body is not strict JSON', count: 1 },
  ];
  expect(body.refusals).toEqual(own);
  const overview = (await ann.send('/v1/overview')).body;
  const stranger = { code: 'invalid_api_key', title: 'The API key is not valid', count: 1 };
  expect(overview.refusals).toEqual([own[0], stranger, own[1]]);
  expect(overview.total).toBe(6);
});

test('counts long histories in pages, and leaves out requests before the period', async () => {
  const store = await openStore({ path: join(temporaryFolder(), 'writ.db') });
  const agent = agentRow();
  const count = activityAtOnce + 50;
  const row = (atMs: number) => requestRow({ agentId: agent.id, createdAtMs: atMs });
  const rows = Array.from({ length: count }, (_, at) => row(startMs + (at % 2) * dayMs));
  await Promise.all(
    [row(startMs - 40 * dayMs), requestRow(), ...rows].map((one) =>
      store.requests.append(one, { openMax: 1 }),
    ),
  );
  const daysOf = createDaysOf(store);
  const allowed = async () => (await daysOf(agent.id, startMs + dayMs)).map(({ allow }) => allow);
  const nothing = Array.from({ length: daysShown - 2 }, () => 0);
  const both = await Promise.all([allowed(), allowed(), allowed()]);
  for (const days of both) expect(days).toEqual([...nothing, count / 2, count / 2]);
  await store.requests.append(row(startMs + dayMs), { openMax: 1 });
  expect(await allowed()).toEqual([...nothing, count / 2, count / 2 + 1]);
  await store.close();
});

test('returns the usual values of granted requests, only to people who may see those requests', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const ann = await tokenClient(service, admin);
  const finance = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const path = `/v1/agents/${service.agent.id}/payload-profile`;
  const nobody = await ann.send(`${path}?action=demo.allow`);
  expect(nobody.body).toEqual({ count: 0, from: null, to: null, fields: [] });
  for (const amount of [3, 1, 2]) await ask(service, 'demo.allow', { payload: { amount } });
  await ask(service, 'demo.deny', { payload: { amount: 99 } });
  const profile = (await ann.send(`${path}?action=demo.allow`)).body;
  expect(profile).toMatchObject({
    count: 3,
    fields: [{ path: 'amount', kind: 'number', min: 1, p50: 2, max: 3 }],
  });
  expect(Date.parse(profile.from)).toBeLessThanOrEqual(Date.parse(profile.to));
  expect((await ann.send(`${path}?action=demo.deny`)).body.count).toBe(0);
  expect(codeOf(await ann.send(path))).toEqual([400, 'invalid_query']);
  // An approver sees the profile only while a request for that action waits for the approver.
  const escalated = `${path}?action=demo.escalate`;
  expect(codeOf(await finance.send(escalated))).toEqual([404, 'not_found']);
  const { request_id: id } = await ask(service, 'demo.escalate', { payload: { amount: 8 } });
  expect((await finance.send(escalated)).body).toMatchObject({ count: 0 });
  expect(codeOf(await finance.send(`${path}?action=demo.allow`))).toEqual([404, 'not_found']);
  await give(finance, id, 'approve');
  expect(codeOf(await finance.send(escalated))).toEqual([404, 'not_found']);
  expect((await ann.send(escalated)).body).toMatchObject({ count: 1 });
  const draft = { name: 'of-ben', riskTier: 'low', controlOwner: 'ben@example.com', tags: [] };
  const added = await addAgent(service.store, draft);
  const own = added.kind === 'added' ? added.agent.id : '';
  expect((await finance.send(`/v1/agents/${own}/payload-profile?action=demo.allow`)).body).toMatchObject({
    count: 0,
  });
});
