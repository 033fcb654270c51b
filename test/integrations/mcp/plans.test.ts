// The tool `writ_plan` of the proxy: it is offered where it is switched on, asks people once for several calls, reaches
// no server, and grants nothing.

import { expect, test } from 'vitest';
import type { ProxySettings } from '../../../integrations/mcp/proxy.ts';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { startService } from '../../service/http/service.ts';
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

const policies = `
approvers finance "Finance"
action files.read, files.write { path: path }
action files.hidden { }
policy files on files.read, files.write {
  allow inside when payload.path inside "/workspace"
  escalate writing to finance within 1h when action.key == "files.write"
}
policy hidden on files.hidden { deny everything }
`;

async function open(changes: Partial<ProxySettings> = { arePlansOffered: true }) {
  const service = await startService({ startsWith: policies, openRequestsMax: 50 });
  const ben = await personWith(service, await firstAdmin(service), {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const server = countingServer(tool('read'), tool('write'), tool('hidden'), tool('writ_plan'));
  const wire = openWire(proxySettings(service, server, changes), service.apiKey);
  await initialize(wire);
  const plan = (args: object, more: object = {}) =>
    wire.ask('tools/call', { name: 'writ_plan', arguments: args, ...more });
  return { service, ben, server, wire, plan };
}

const write = (path: string) => ({ tool: 'write', arguments: { path } });

test('the tool is listed if it is switched on, and replaces a tool of that name', async () => {
  const on = await open();
  const listed = (await on.wire.ask('tools/list')).result.tools as readonly Got[];
  expect(listed.map(({ name }) => name)).toEqual(['read', 'write', 'writ_plan']);
  expect(listed[2].description).toContain('asks people once');
  const off = await open({});
  const others = (await off.wire.ask('tools/list')).result.tools as readonly Got[];
  expect(others.map(({ name }) => name)).toEqual(['read', 'write']);
  expect(textOf(await off.plan({ steps: [write('/workspace/a')] }))).toContain('Not permitted');
});

test('several calls are planned, approved once, and made one by one', async () => {
  const { service, ben, server, wire, plan } = await open();
  const steps = [
    write('/workspace/a'),
    write('/workspace/b'),
    { tool: 'read', arguments: { path: '/workspace/c' } },
  ];
  const { result } = await plan({ goal: 'tidy up', steps });
  expect(result.isError).toBeUndefined();
  expect(result.content[0].text).toContain('1. write: waits for people');
  expect(result.content[0].text).toContain('3. read: would be allowed');
  const { plan_id: id, pending, url } = result.structuredContent;
  expect([pending, url]).toEqual([2, `${service.url}/plans/${id}`]);
  expect(server.calls()).toEqual([]);
  const seen = (await ben.send(`/v1/plans/${id}`)).body;
  expect(seen).toMatchObject({ goal: 'tidy up', submitted: true });
  // Before the approval a call waits, on the request of the plan.
  const early = await wire.ask('tools/call', { name: 'write', arguments: { path: '/workspace/a' } });
  expect(early.result._meta['writ-decision'].request_id).toBe(seen.steps[0].request_id);
  await ben.send(`/v1/plans/${id}/votes`, { method: 'POST', body: { vote: 'approve', comment: '' } });
  for (const { tool: name, arguments: args } of steps)
    expect((await wire.ask('tools/call', { name, arguments: args })).result.isError).not.toBe(true);
  expect(server.calls()).toHaveLength(3);
  const other = await wire.ask('tools/call', { name: 'write', arguments: { path: '/workspace/a.' } });
  expect(other.result.isError).toBe(true);
  expect(server.calls()).toHaveLength(3);
});

test('a preview asks nobody, also in the stateless protocol', async () => {
  const { service, plan } = await open();
  const steps = [write('/workspace/a'), write('/etc/passwd')];
  const { result } = await plan({ steps, preview: true }, modern());
  expect(result.resultType).toBe('complete');
  expect(result.content[0].text).toContain('would need an approval');
  expect(result.content[0].text).toContain('2. write: would be refused');
  expect(await service.store.requests.countOpen(service.agent.id, Date.now())).toBe(0);
});

test.each<readonly [string, object, string]>([
  ['no steps', {}, '`steps` is a list'],
  ['a plan in a plan', { steps: [{ tool: 'writ_plan', arguments: {} }] }, 'a plan cannot be a step'],
  ['an argument that is none', { steps: [write('/workspace/a')], sumbit: true }, 'unknown argument: sumbit'],
  ['a step without arguments', { steps: [{ tool: 'write' }] }, 'step 1'],
  ['a goal that is no text', { goal: 5, steps: [write('/workspace/a')] }, '`goal` is a text'],
])('%s is an error of the call', async (_, args, words) => {
  const { plan, service } = await open();
  expect((await plan(args)).error.message).toContain(words);
  expect(await service.store.requests.countOpen(service.agent.id, Date.now())).toBe(0);
});

test('the model reads why the service refuses a plan, and nobody was asked', async () => {
  const { plan, service } = await open();
  const { result } = await plan({ steps: [write('/workspace/a'), { tool: 'other', arguments: {} }] });
  expect([result.isError, result.content[0].text]).toEqual([
    true,
    expect.stringContaining('/steps/1/action_key'),
  ]);
  expect(await service.store.requests.countOpen(service.agent.id, Date.now())).toBe(0);
});

test('without the service no plan is made', async () => {
  const { service, plan } = await open();
  await service.close();
  const reply = await plan({ steps: [write('/workspace/a')] });
  expect(reply.error.message).toContain('authorization service unavailable');
});
