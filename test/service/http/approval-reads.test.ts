// How often the store is read to show one approval, and that the reply states what the reader may do.

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { firstAdmin, personWith } from './person-client.ts';
import { startService, temporaryDirectory } from './service.ts';
import { ask, give } from './written-policies.ts';

const policies = `
approvers finance "Finance"
action pay.small, pay.large, pay.guarded { ... }
policy pay on pay.* {
  allow all for 10m
  escalate small to finance within 1h when action.key == "pay.small"
  escalate large to finance needs 2 within 1h when action.key == "pay.large"
  reauth guarded when action.key == "pay.guarded"
}
`;

/** The same store, which notes the name of each of these methods when the method is called. */
function counted<T extends object>(part: T, names: readonly (keyof T & string)[], noted: string[]): T {
  return new Proxy(part, {
    get: (target, name, receiver) => {
      if (names.includes(name as keyof T & string)) noted.push(String(name));
      return Reflect.get(target, name, receiver);
    },
  });
}

async function start() {
  const opened = await openStore({ path: join(temporaryDirectory(), 'writ.db') });
  onTestFinished(() => opened.close());
  const reads: string[] = [];
  const waiting: Store['requests']['waiting'] = async (page) => {
    const found = await opened.requests.waiting(page);
    reads.push(...found.map(() => 'waiting'));
    return found;
  };
  const store: Store = {
    ...opened,
    requests: counted({ ...opened.requests, waiting }, ['history', 'find', 'events'], reads),
    agents: counted(opened.agents, ['find', 'findByKeyId'], reads),
  };
  const service = await startService({ store, startsWith: policies });
  const admin = await firstAdmin(service);
  const approver = (email: string) =>
    personWith(service, admin, { email, roles: ['approver'], groups: ['finance'] });
  return {
    service,
    admin,
    reads,
    ben: await approver('ben@example.com'),
    cleo: await approver('cleo@example.com'),
  };
}

test('an approval reads the request and its agent once, also if it decides', async () => {
  const { service, reads, ben, cleo } = await start();
  for (const [action, word] of [
    ['pay.small', 'approve'],
    ['pay.large', 'approve'],
    ['pay.small', 'reject'],
  ] as const) {
    const { request_id: id } = await ask(service, action);
    reads.length = 0;
    const { status, body } = await give(ben, id, word);
    expect(status).toBe(200);
    expect(reads.toSorted()).toEqual(['find', 'history']);
    // The reply to the vote equals what a reader finds afterwards.
    const { body: found } = await ben.send(`/v1/requests/${id}`);
    expect(body).toEqual(found);
  }
  const { request_id: id } = await ask(service, 'pay.large');
  await give(ben, id, 'approve');
  reads.length = 0;
  expect((await give(cleo, id, 'approve')).body).toMatchObject({ status: 'approved' });
  expect(reads.toSorted()).toEqual(['find', 'history']);
});

test('the inbox count does not read the requests', async () => {
  const { service, reads, ben } = await start();
  for (let asked = 0; asked < 15; asked += 1) await ask(service, 'pay.large');
  const count = async (): Promise<number> => (await ben.send('/v1/approvals?limit=1')).body.count;
  reads.length = 0;
  expect(await count()).toBe(15);
  expect(reads.filter((read) => read === 'waiting').length).toBeLessThan(10);
  const [first] = (await ben.send('/v1/approvals?limit=1')).body.items;
  await give(ben, first.request_id, 'approve');
  expect(await count()).toBe(14);
  await ben.send(`/v1/requests/${first.request_id}/revoke-approval`, { method: 'POST' });
  expect(await count()).toBe(15);
});

test('the reply says what each person may do with a request, and why not', async () => {
  const { service, admin, ben, cleo } = await start();
  const olga = await personWith(service, admin, { email: 'ops@example.com', roles: ['owner', 'auditor'] });
  const { name, riskTier, tags, ratePerMinute, burst, tellsChange } = service.agent;
  await service.store.agents.describe({
    agentId: service.agent.id,
    atMs: Date.now(),
    name,
    riskTier,
    tellsChange,
    tags,
    ratePerMinute,
    burst,
    controlOwner: 'ops@example.com',
  });
  const { request_id: id } = await ask(service, 'pay.large');
  const may = async (client: Pick<typeof ben, 'send'>) =>
    (await client.send(`/v1/requests/${id}`)).body.allowed_actions;
  const nothing = {
    approve: [],
    reject: false,
    revoke_approval: false,
    comment: false,
    step_up: false,
    report: false,
    stands_in_for: [],
  };
  // A person who may reject may comment, too.
  const rejects = { ...nothing, reject: true, comment: true };
  expect(await may(ben)).toEqual({ ...rejects, approve: ['finance'], reason: null });
  expect(await may(olga)).toEqual({
    ...rejects,
    reason: 'Neither you nor your groups are asked.',
  });
  const queue = (await ben.send('/v1/approvals')).body.items;
  expect(queue[0].allowed_actions).toEqual(await may(ben));
  await give(ben, id, 'approve');
  const waits = 'You have approved this; other approvals are missing.';
  expect(await may(ben)).toEqual({ ...rejects, revoke_approval: true, reason: waits });
  await service.store.agents.setStatus({ agentId: service.agent.id, status: 'disabled', atMs: Date.now() });
  expect(await may(cleo)).toEqual({ ...rejects, reason: 'The agent is disabled.' });
  await service.store.agents.setStatus({ agentId: service.agent.id, status: 'active', atMs: Date.now() });
  await give(cleo, id, 'approve');
  expect(await may(cleo)).toEqual({ ...nothing, reason: 'It is no longer pending.' });
  expect(await may(olga)).toMatchObject({ report: true });
  const guarded = await ask(service, 'pay.guarded');
  const { body } = await olga.send(`/v1/requests/${guarded.request_id}`);
  expect(body.allowed_actions).toMatchObject({ step_up: true, approve: [] });
  const asAgent = await fetch(`${service.url}/v1/requests/${id}`, {
    headers: { 'x-agent-api-key': service.apiKey },
  });
  expect(await asAgent.json()).toMatchObject({ allowed_actions: null });
});
