// Calls that wait for people, for every kind of client: one approval leads to one execution, counted at the
// server, whatever is restarted in between.

import { describe, expect, test, vi } from 'vitest';
import type { ProxySettings } from '../../../integrations/mcp/proxy.ts';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { type Service, startService } from '../../service/http/service.ts';
import { give, look, usePolicies } from '../../service/http/written-policies.ts';
import {
  countingServer,
  type Got,
  initialize,
  modern,
  openWire,
  proxySettings,
  textOf,
  tool,
} from './rig.ts';

const policies =
  'approvers finance "F"\naction files.pay { n: number }\npolicy p on files.pay { allow one when payload.n > 0\nescalate each to finance within 1h when payload.n > 0 }';

async function opened(changes: Partial<ProxySettings> = {}) {
  const service = await startService();
  await usePolicies(service, policies);
  const admin = await firstAdmin(service);
  const ben = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const server = countingServer(tool('pay'));
  const settings = proxySettings(service, server, changes);
  const wire = () => openWire(settings, service.apiKey);
  return { service, ben, server, wire };
}

async function pending(service: Service): Promise<string> {
  return vi.waitFor(async () => {
    const [id] = await service.store.requests.openOf(service.agent.id, 1);
    expect(id).toBeDefined();
    return id ?? '';
  }, 60_000);
}

/**
 * Uses the client's connections. After an aborted request the client opens a new connection, which the
 * service would wait for on closing until a request arrives on it.
 */
async function useConnections(service: Service, id: string): Promise<void> {
  await Promise.all(Array.from({ length: 4 }, () => look(service, id)));
}

const pay = (n = 1, more: object = {}) => ({ name: 'pay', arguments: { n }, ...more });

describe('a client that can do nothing', () => {
  test('is told to call again, also after the proxy restarts; the approval serves one of two calls', async () => {
    const { service, ben, server, wire } = await opened();
    const first = wire();
    await initialize(first);
    const told = await first.ask('tools/call', pay());
    expect(textOf(told)).toMatch(/waits for people.*Make the same call again/);
    expect(told.result._meta['writ-decision']).toMatchObject({
      decision: 'ESCALATE',
      retry: 'after_approval',
    });
    const id = await pending(service);
    await first.ask('tools/call', pay());
    expect(await service.store.requests.openOf(service.agent.id, 9)).toEqual([id]);
    first.close();
    await give(ben, id, 'approve');
    const second = wire();
    await initialize(second);
    const both = await Promise.all([second.ask('tools/call', pay()), second.ask('tools/call', pay())]);
    expect(both.filter(({ result }) => result.isError !== true)).toHaveLength(1);
    expect(server.calls()).toHaveLength(1);
    expect((await second.ask('tools/call', pay())).result.isError).toBe(true);
    expect(server.calls()).toHaveLength(1);
  });

  test('is held until the decision; a cancelled call has carried out nothing', async () => {
    const { service, ben, server, wire } = await opened({ holdMs: 4_000 });
    const client = wire();
    await initialize(client);
    const held = client.ask('tools/call', { ...pay(2), _meta: { progressToken: 'p' } });
    expect((await client.next(({ method }) => method === 'notifications/progress')).params.message).toMatch(
      /finance/,
    );
    await give(ben, await pending(service), 'approve');
    expect((await held).result.isError).toBeUndefined();
    void client.ask('tools/call', { ...pay(3), _meta: { progressToken: 'q' } }, 77);
    await client.next(({ params }) => params?.progressToken === 'q');
    const id = await pending(service);
    await new Promise((resolve) => setTimeout(resolve, 100));
    client.notify('notifications/cancelled', { requestId: 77 });
    await client.ask('ping', {}, 78).catch(() => undefined);
    await give(ben, id, 'approve');
    expect((await look(service, id)).body.status).toBe('approved');
    expect(server.calls()).toHaveLength(1);
    expect(server.log().some(({ method }) => method === 'notifications/cancelled')).toBe(false);
    await useConnections(service, id);
  });

  test('hears of a rejection as a refusal', async () => {
    const { service, ben, server, wire } = await opened({ holdMs: 4_000 });
    const client = wire();
    await initialize(client);
    const held = client.ask('tools/call', pay(4));
    await give(ben, await pending(service), 'reject');
    expect(textOf(await held)).toMatch(/^Not permitted/);
    expect(server.calls()).toEqual([]);
  });
});

describe('a client of sessions that opens addresses', () => {
  const able = { elicitation: { form: {}, url: {} } };
  const asked = ({ method }: Got) => method === 'elicitation/create';

  test('shows where people decide; to accept says nothing', async () => {
    const { service, ben, server, wire } = await opened({ holdMs: 4_000 });
    const client = wire();
    await initialize(client, able);
    const held = client.ask('tools/call', pay());
    const { id, params } = await client.next(asked);
    expect(params).toMatchObject({ mode: 'url', url: `${service.url}/requests/${params.elicitationId}` });
    client.respond(id, { action: 'accept' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(server.calls()).toEqual([]);
    await give(ben, params.elicitationId, 'approve');
    expect((await held).result.isError).toBeUndefined();
    await client.next(({ method }) => method === 'notifications/elicitation/complete');
    expect(server.calls()).toHaveLength(1);
  });

  test('declines: the request is withdrawn', async () => {
    const { service, server, wire } = await opened({ holdMs: 4_000 });
    const client = wire();
    await initialize(client, able);
    const held = client.ask('tools/call', pay());
    const { id, params } = await client.next(asked);
    client.respond(id, { action: 'decline' });
    expect(textOf(await held)).toMatch(/given up/);
    expect((await look(service, params.elicitationId)).body.status).toBe('withdrawn');
    expect(server.calls()).toEqual([]);
    await useConnections(service, params.elicitationId);
  });
});

test('a client of the stateless protocol that opens addresses gets a question, and its retry continues', async () => {
  const { service, ben, server, wire } = await opened();
  const client = wire();
  const meta = modern({ elicitation: { url: {} } });
  const { result } = await client.ask('tools/call', pay(1, meta));
  expect(result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { decision: { params: { mode: 'url' } } },
  });
  const { requestState } = result;
  const again = pay(1, { ...meta, requestState, inputResponses: { decision: { action: 'accept' } } });
  expect((await client.ask('tools/call', again)).result.resultType).toBe('input_required');
  expect(server.calls()).toEqual([]);
  expect((await client.ask('tools/call', { ...again, arguments: { n: 2 } })).error.code).toBe(-32602);
  await give(ben, await pending(service), 'approve');
  expect((await client.ask('tools/call', again)).result.resultType).toBe('complete');
  expect((await client.ask('tools/call', again)).result.resultType).toBe('input_required');
  expect(server.calls()).toHaveLength(1);
  const decline = { ...again, inputResponses: { decision: { action: 'decline' } } };
  const waiting = await client.ask('tools/call', pay(1, meta));
  const declined = await client.ask('tools/call', { ...decline, requestState: waiting.result.requestState });
  expect(textOf(declined)).toMatch(/given up/);
  expect(await service.store.requests.openOf(service.agent.id, 9)).toEqual([]);
});

describe('a client that takes tasks', () => {
  const meta = modern({ extensions: { 'io.modelcontextprotocol/tasks': {} } });

  test('gets the result later, which is carried out once', async () => {
    const { service, ben, server, wire } = await opened();
    const client = wire();
    const { result } = await client.ask('tools/call', pay(1, meta));
    expect(result).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 5000 });
    const { taskId } = result;
    const task = async () => (await client.ask('tasks/get', { taskId, ...meta })).result;
    expect(await task()).toMatchObject({ resultType: 'complete', status: 'working' });
    expect((await client.ask('tools/call', pay(1, meta))).result.taskId).toBe(taskId);
    await give(ben, await pending(service), 'approve');
    await vi.waitFor(async () => expect((await task()).status).toBe('completed'), 60_000);
    expect((await task()).result.content[0].text).toContain('pay');
    expect(server.calls()).toHaveLength(1);
  });

  test('reads the status from another process, cancels, and gets a rejection as a result', async () => {
    const { service, ben, server, wire } = await opened();
    const [one, two] = [wire(), wire()];
    const began = async (n: number) => (await one.ask('tools/call', pay(n, meta))).result.taskId;
    const told = async (on: typeof one, taskId: string) =>
      (await on.ask('tasks/get', { taskId, ...meta })).result;
    const first = await began(1);
    expect((await told(two, first)).status).toBe('working');
    await two.ask('tasks/cancel', { taskId: first, ...meta });
    await vi.waitFor(async () => expect((await told(two, first)).result.isError).toBe(true));
    const second = await began(2);
    await give(ben, await pending(service), 'reject');
    await vi.waitFor(async () => expect((await told(one, second)).status).toBe('completed'), 60_000);
    expect((await told(one, second)).result.isError).toBe(true);
    expect(await told(two, 'writ-00000000-0000-7000-8000-000000000000')).toBeUndefined();
    expect(server.calls()).toEqual([]);
  });
});
