// The kill switch over HTTP: whatever is stopped is refused before any policy sees it, on every way to a
// decision. No approval or step-up overrides the switch.

import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { type Client, firstAdmin, personWith, tokenClient } from './person-client.ts';
import { allowBody, authorize, problemOf, type Service, startService } from './service.ts';
import { ask, codeOf, give } from './written-policies.ts';

async function turnOn(client: Client, scope: string): Promise<string> {
  const body = { scope, reason: 'the ledger is being checked' };
  const answer = await client.send('/v1/kill-switches', { method: 'POST', body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function outcomeOf(service: Service): Promise<string> {
  const reply = await authorize(service, { body: allowBody });
  return reply.status === 200 ? 'granted' : (await problemOf(reply)).code;
}

/** Renames the agent, because each service that is started registers an agent of the same name. */
async function makeRoom({ store, agent }: Service): Promise<void> {
  const { id: agentId } = agent;
  await store.agents.describe({ ...agent, agentId, name: 'first', atMs: Date.now() });
}

describe('a request for a decision', () => {
  test('is refused while a switch covers it, and recorded, until the switch is turned off', async () => {
    const service = await startService();
    const operator = await tokenClient(service, await firstAdmin(service));
    expect(await outcomeOf(service)).toBe('granted');
    for (const scope of ['all', 'tier:low', 'area:demo', `agent:${service.agent.id}`]) {
      const id = await turnOn(operator, scope);
      const problem = await problemOf(await authorize(service, { body: allowBody }));
      expect([scope, problem.status, problem.code]).toEqual([scope, 403, 'stopped']);
      expect(problem.body.detail).toBe('an operator has stopped this');
      // Only people see the reason of a switch: an agent could be talked into using it.
      expect(JSON.stringify(problem.body)).not.toContain('ledger');
      const [refusal] = await service.store.requests.refusals(service.agent.id, 1);
      expect(refusal).toMatchObject({ code: 'stopped', httpStatus: 403, id: problem.body.instance });
      expect(
        (
          await operator.send(`/v1/kill-switches/${id}/deactivate`, {
            method: 'POST',
            body: { reason: 'checked' },
          })
        ).status,
      ).toBe(204);
      expect(await outcomeOf(service)).toBe('granted');
    }
    for (const scope of ['tier:high', 'area:payment']) await turnOn(operator, scope);
    expect(await outcomeOf(service)).toBe('granted');
  });

  test('is matched by the name of its agent, too; a scope that covers nobody is refused or reported', async () => {
    const service = await startService();
    const operator = await tokenClient(service, await firstAdmin(service));
    const turn = (scope: string) =>
      operator.send('/v1/kill-switches', { method: 'POST', body: { scope, reason: 'look' } });
    for (const scope of ['area:pay\u202ement', 'area:pay\u200bment', 'area:payment ', 'area:', 'agent:'])
      expect([scope, (await turn(scope)).status]).toEqual([scope, 400]);
    const unknown = await turn('agent:nobody');
    expect([unknown.status, unknown.body.errors]).toEqual([
      400,
      [{ pointer: '/scope', detail: 'no agent has this id or name' }],
    ]);
    expect((await turn('area:demo')).body.warnings).toEqual([]);
    const warnings = ['no action of the active policies is in the area `demmo`'];
    expect((await turn('area:demmo')).body).toMatchObject({ scope: 'area:demmo', warnings });
    const [latest] = (await operator.send('/v1/kill-switches')).body.items.slice(1);
    await operator.send(`/v1/kill-switches/${latest.id}/deactivate`, {
      method: 'POST',
      body: { reason: 'checked' },
    });
    expect(await outcomeOf(service)).toBe('granted');
    const named = await turn(`agent:${service.agent.name}`);
    expect([named.status, named.body.scope]).toEqual([201, `agent:${service.agent.id}`]);
    expect(await outcomeOf(service)).toBe('stopped');
  });

  test('is refused if the switches cannot be looked up', async () => {
    const first = await startService();
    await makeRoom(first);
    const failing = { isOn: false };
    const documents = {
      ...first.store.documents,
      list: async (page: Parameters<typeof first.store.documents.list>[0]) => {
        if (failing.isOn) throw new StoreError('internal', 'not there');
        return await first.store.documents.list(page);
      },
    };
    const service = await startService({ store: { ...first.store, documents } });
    const sent = { key: first.apiKey, body: allowBody };
    expect((await authorize(service, sent)).status).toBe(200);
    failing.isOn = true;
    await new Promise((resolve) => setTimeout(resolve, 600));
    const problem = await problemOf(await authorize(service, sent));
    expect([problem.status, problem.code]).toEqual([500, 'record_failed']);
  });
});

test('takes effect within a second in every process of the store', async () => {
  const here = await startService();
  await makeRoom(here);
  const there = await startService({ store: here.store });
  const operator = await tokenClient(here, await firstAdmin(here));
  const asked = () => authorize(there, { key: here.apiKey, body: allowBody });
  expect((await asked()).status).toBe(200);
  await turnOn(operator, 'all');
  const end = performance.now() + 1_000;
  while (performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await asked()).status).toBe(403);
});

test('a stopped request cannot be approved or stepped up for, but can be rejected', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const operator = await tokenClient(service, admin);
  const ben = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const [first, second] = [await ask(service, 'demo.escalate'), await ask(service, 'demo.escalate')];
  const id = await turnOn(operator, 'area:demo');
  expect(codeOf(await give(ben, first.request_id, 'approve'))).toEqual([403, 'stopped']);
  expect(codeOf(await give(ben, first.request_id, 'reject'))).toEqual([200, 'rejected']);
  await operator.send(`/v1/kill-switches/${id}/deactivate`, { method: 'POST', body: { reason: 'checked' } });
  expect(codeOf(await give(ben, second.request_id, 'approve'))).toEqual([200, 'approved']);
});
