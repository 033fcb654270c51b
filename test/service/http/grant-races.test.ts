// Grants against concurrent changes that forbid them, over HTTP and from another process on the same store.
// The recorded order is the truth, and no grant stands behind the record that forbids it.

import { expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { createKillSwitchBoard } from '../../../src/service/people/kill-switches.ts';
import type { Person } from '../../../src/service/people/person.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { tries } from '../../support/tries.ts';
import { walkRecord } from '../requests/record-order.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { authorize, type Service, startService } from './service.ts';
import { ask, give } from './written-policies.ts';

const policies = `
approvers finance "Finance"
action pay.free, pay.small, pay.large { ... }
policy pay on pay.* {
  allow all for 10m
  escalate small to finance within 1h when action.key == "pay.small"
  escalate large to finance needs 2 within 1h when action.key == "pay.large"
}
`;

interface World {
  readonly service: Service;
  /** The store as the command line opens it. */
  readonly other: Store;
  readonly ben: Client & { readonly person: Person };
  readonly cleo: Client;
  readonly adminClient: Client;
}

async function start(): Promise<World> {
  const service = await startService({ openRequestsMax: 10_000, startsWith: policies });
  const admin = await firstAdmin(service);
  const approver = (email: string) =>
    personWith(service, admin, { email, roles: ['approver'], groups: ['finance'] });
  const [ben, cleo] = [await approver('ben@example.com'), await approver('cleo@example.com')];
  const adminClient = await personWith(service, admin, { email: 'ada@example.com', roles: ['admin'] });
  const other = await openStore(service.place);
  onTestFinished(() => other.close());
  return { service, other, ben, cleo, adminClient };
}

/**
 * Starts both functions, one of them `lateMs` later: the second when `lateMs` is positive, the first when it
 * is negative.
 */
async function atOnce<A, B>(a: () => Promise<A>, b: () => Promise<B>, lateMs: number): Promise<[A, B]> {
  const late = async <T>(run: () => Promise<T>, ms: number): Promise<T> => {
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    return await run();
  };
  return await Promise.all([late(a, Math.max(0, -lateMs)), late(b, Math.max(0, lateMs))]);
}

test('150 approvals, while another process disables the agent', { timeout: 240_000 }, async () => {
  const { service, other, ben } = await start();
  const agentId = service.agent.id;
  const set = (status: 'active' | 'disabled') =>
    other.agents.setStatus({ agentId, status, atMs: Date.now() });
  const statuses = new Set<number>();
  for (let round = 0; round < tries(60); round += 1) {
    const { request_id: id } = await ask(service, 'pay.small');
    const [answer] = await atOnce(
      () => give(ben, id, 'approve'),
      () => set('disabled'),
      (round % 7) - 1,
    );
    statuses.add(answer.status);
    await set('active');
  }
  const { wrong } = await walkRecord(service.store);
  expect(wrong).toEqual([]);
  // Each of the two writes must win at times, or there was no race.
  expect([...statuses].toSorted()).toEqual([200, 409]);
  expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
});

test('a stream of requests, with 30 changes of status, tier and kill switches', {
  timeout: 240_000,
}, async () => {
  const { service, other, adminClient } = await start();
  const agentId = service.agent.id;
  let isOver = false;
  const statuses = new Map<number, number>();
  const stream = async () => {
    while (!isOver) {
      const { status } = await authorize(service, { body: '{"action_key":"pay.free","payload":{}}' });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const streams = Array.from({ length: 8 }, stream);
  const pause = () => new Promise((resolve) => setTimeout(resolve, 15));
  for (let round = 0; round < tries(15); round += 1) {
    // The change is made in turns by this process and by another one.
    const { agents } = round % 2 === 0 ? service.store : other;
    await agents.setStatus({ agentId, status: 'disabled', atMs: Date.now() });
    await pause();
    await agents.setStatus({ agentId, status: 'active', atMs: Date.now() });
    await pause();
    const { name, controlOwner, tags, ratePerMinute, burst, tellsChange } = service.agent;
    const riskTier = round % 2 === 0 ? 'high' : 'low';
    const described = { name, controlOwner, tags, ratePerMinute, burst, tellsChange, riskTier } as const;
    await agents.describe({ agentId, atMs: Date.now(), ...described });
    await pause();
    const on = await adminClient.send('/v1/kill-switches', {
      method: 'POST',
      body: { scope: 'area:pay', reason: 'a drill' },
    });
    await pause();
    await adminClient.send(`/v1/kill-switches/${on.body.id}/deactivate`, {
      method: 'POST',
      body: { reason: 'checked' },
    });
    await pause();
  }
  isOver = true;
  await Promise.all(streams);
  const { grants, wrong } = await walkRecord(service.store);
  expect(wrong).toEqual([]);
  expect(grants).toBeGreaterThan(50);
  // An agent that may no longer ask gets a 403, never a server error.
  expect([...statuses.keys()].toSorted()).toEqual([200, 403]);
});

test('an agent revoked while its request is processed is refused and recorded', async () => {
  const { service, other } = await start();
  const agentId = service.agent.id;
  await ask(service, 'pay.free');
  // Only another process sees the change; this process still caches the agent as active.
  await other.agents.setStatus({ agentId, status: 'revoked', atMs: Date.now() });
  const reply = await authorize(service, { body: '{"action_key":"pay.free","payload":{}}' });
  expect([reply.status, ((await reply.json()) as { type: string }).type]).toEqual([
    403,
    'urn:writ:error:agent_revoked',
  ]);
  expect(await service.store.requests.refusals(agentId, 10)).toMatchObject([
    { httpStatus: 403, code: 'agent_revoked' },
  ]);
});

test('a kill switch of another process holds from its record on', async () => {
  const { service, other, ben } = await start();
  await ask(service, 'pay.free');
  // The request before made the service read its switches a moment ago.
  const directory = createDirectory(other.documents, Date.now);
  const board = createKillSwitchBoard({ directory, steadyMs: () => performance.now() });
  const actor = { person: ben.person, roles: ben.person.roles };
  await board.turnOn(actor, { scope: { kind: 'all' }, reason: 'a drill' });
  const reply = await authorize(service, { body: '{"action_key":"pay.free","payload":{}}' });
  expect(reply.status).toBe(403);
});

test('an approval of a person who was disabled meanwhile does not count, and the inbox says so', async () => {
  const { service, ben, cleo, adminClient } = await start();
  const { request_id: id } = await ask(service, 'pay.large');
  expect((await give(ben, id, 'approve')).body).toMatchObject({ status: 'pending' });
  const change = (body: object) => adminClient.send(`/v1/people/${ben.person.id}`, { method: 'PATCH', body });
  for (const [body, why] of [
    [{ status: 'disabled' }, 'is disabled'],
    [{ status: 'active', groups: ['legal'] }, 'is no longer in the group `finance`'],
    [{ groups: [], roles: ['owner'] }, 'is no longer an approver'],
  ] as const) {
    expect((await change(body)).status).toBe(200);
    const { items } = (await cleo.send('/v1/approvals')).body;
    expect(items[0].requires).toMatchObject({
      approvals: [{ group: 'finance', needs: 2, given: 0 }],
      invalidated: [{ by: expect.stringContaining('ben@example.com'), group: 'finance', reason: why }],
    });
    const shown = await cleo.send(`/v1/requests/${id}`);
    expect(shown.body.approvals[0]).toMatchObject({ invalid_reason: why });
  }
  // The rule needs two approvals, and one of the two approvers no longer counts.
  expect((await give(cleo, id, 'approve')).body).toMatchObject({ status: 'pending' });
  expect((await change({ roles: ['approver'], groups: ['finance'] })).status).toBe(200);
  // When the approver regains the role, the earlier approval counts again and nobody else has to approve.
  const back = await cleo.send(`/v1/requests/${id}`);
  expect(back.body.requires).toMatchObject({ invalidated: [] });
  expect((await give(cleo, id, 'approve')).body).toMatchObject({ status: 'approved' });
  expect((await walkRecord(service.store)).wrong).toEqual([]);
});
