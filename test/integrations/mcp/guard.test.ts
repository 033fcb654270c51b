// What reaches a server through the proxy, and what does not, counted at the server. After every fault of the
// service, of the message and of the server, the counter is 0 or the reply says that the outcome is unknown.

import { createServer } from 'node:http';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createReceiptCheck, requireReceipt } from '../../../integrations/typescript/receipt.ts';
import { addPoint } from '../../../src/service/agents/points/change-point.ts';
import { shareService, startService } from '../../service/http/service.ts';
import { keepTraces } from '../../service/http/told-traces.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { everything } from '../../service/store/rows.ts';
import { keptReceipts } from '../used-receipts.ts';
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
action files.read, files.write, files.die { path: path, edits?: [{ old: string, new: string }], n?: number }
action files.resources.read { uri: string }
action files.hidden { }
action files.ask { ... }
policy asking on files.ask { allow each when agent.name != "nobody" }
policy workspace on files.* {
  allow within_it when payload.path inside "/workspace"
}
policy reading on files.resources.read { allow one when payload.uri == "a:1" }
policy hidden on files.hidden { deny everything }
`.replace('on files.* {', 'on files.read, files.write, files.die {');

const service = shareService();
const tools = [tool('read'), tool('write'), tool('hidden'), tool('die'), tool('undeclared'), tool('ask')];

let kept: Promise<Opened> | null = null;
afterAll(async () => (await kept)?.wire.close());

type Opened = Awaited<ReturnType<typeof open>>;

async function open(changes = {}, isKept = false) {
  await usePolicies(service(), policies);
  const server = countingServer(...tools);
  const wire = openWire(proxySettings(service(), server, changes), service().apiKey, isKept);
  await initialize(wire);
  return { wire, server };
}

/** One conversation for all tests that leave it unchanged; counts the calls from now on. */
async function opened() {
  kept ??= open({}, true);
  const { wire, server } = await kept;
  const before = server.log().length;
  const log = () => server.log().slice(before);
  return { wire, server: { log, calls: () => log().filter(({ method }) => method === 'tools/call') } };
}

const call = (name: string, args: object) => ({ name, arguments: args });

test('an enforcement point asks only for its configured agent', async () => {
  const { store, agent } = service();
  const by = { documents: store.documents, who: 'test', nowMs: Date.now() };
  const made = await addPoint(by, { name: 'gateway', agents: [agent.id], mayRelease: false });
  if (made.kind !== 'made') throw new Error('the point could not be added');
  await usePolicies(service(), policies);
  const server = countingServer(...tools);
  for (const [name, count] of [
    [agent.name, 1],
    ['somebody-else', 1],
    [null, 1],
  ] as const) {
    const wire = openWire(proxySettings(service(), server, { agent: name }), made.apiKey);
    await initialize(wire);
    await wire.ask('tools/call', call('write', { path: '/workspace/a' }));
    expect([name, server.calls().length]).toEqual([name, count]);
  }
});

test('the span of a call is the parent of the span of its decision', async () => {
  const { tracing, parents } = keepTraces();
  const traced = await startService({ tracing });
  await usePolicies(traced, policies);
  const server = countingServer(...tools);
  const wire = openWire(proxySettings(traced, server), traced.apiKey);
  await initialize(wire);
  const span = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const before = parents.length;
  for (const traceparent of [span, 'none', 7])
    await wire.ask('tools/call', { ...call('write', { path: '/workspace/a' }), _meta: { traceparent } });
  expect(parents.slice(before)).toEqual([span, undefined, undefined]);
  // The server, too, gets the span of the client.
  expect(server.calls()[0]?.params).toMatchObject({ _meta: { traceparent: span } });
});

describe('a call', () => {
  test('reaches the server with the decided arguments, once, and its grant is used', async () => {
    const { wire, server } = await opened();
    const answer = await wire.ask('tools/call', call('write', { path: '/workspace/a', n: 1.5 }));
    expect(JSON.parse(textOf(answer))).toEqual({ name: 'write', args: { path: '/workspace/a', n: 1.5 } });
    expect(answer.result.big).toBe('12345678901234567890');
    expect(server.calls()).toHaveLength(1);
    await vi.waitFor(async () => {
      const wanted = { ...everything, agentId: service().agent.id, status: 'consumed' as const };
      const { items: found } = await service().store.requests.list({
        ...wanted,
        nowMs: Date.now(),
        after: null,
        countMax: 10,
      });
      expect(found).toHaveLength(1);
    });
  });

  test.each([
    ['outside', 'write', { path: '/etc/passwd' }],
    ['outside by dots', 'write', { path: '/workspace/../etc/passwd' }],
    ['with a key that is not declared', 'write', { path: '/workspace/a', mode: 'x' }],
    [
      'with a nested key that is not declared',
      'write',
      { path: '/workspace/a', edits: [{ old: '', new: '', x: 1 }] },
    ],
    ['of another type', 'write', { path: 7 }],
    ['of no declared action', 'undeclared', {}],
    ['of an action that is denied', 'hidden', {}],
  ])('%s is a refusal that models do not repeat, and reaches nobody', async (_what, name, args) => {
    const { wire, server } = await opened();
    const { result } = await wire.ask('tools/call', call(name, args));
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toMatch(/^Not permitted/);
    expect(result._meta['writ-decision'].decision).toBe('DENY');
    expect(server.calls()).toEqual([]);
  });

  test.each([
    [
      'a member twice',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write","arguments":{"path":"/workspace/a","path":"/etc/x"}}}',
      -32600,
    ],
    [
      'the method twice',
      '{"jsonrpc":"2.0","id":9,"method":"ping","method":"tools/call","params":{"name":"write","arguments":{"path":"/workspace/a"}}}',
      -32600,
    ],
    [
      'a number that a double would change',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write","arguments":{"path":"/workspace/a","n":1.0000000000000001}}}',
      -32600,
    ],
    [
      'half a surrogate pair',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write","arguments":{"path":"/workspace/\\ud800"}}}',
      -32600,
    ],
    [
      '`__proto__`',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write","arguments":{"path":"/workspace/a","__proto__":{"path":"/etc"}}}}',
      null,
    ],
    [
      'a batch',
      '[{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write","arguments":{"path":"/workspace/a"}}}]',
      -32600,
    ],
    [
      'a request that is a response, too',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","result":{},"params":{"name":"write","arguments":{"path":"/workspace/a"}}}',
      -32600,
    ],
    [
      'arguments that are a list',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write","arguments":["/workspace/a"]}}',
      -32602,
    ],
    ['no JSON', '{"jsonrpc":"2.0","id":9,"method":"tools/call"', -32700],
    [
      'an unknown method',
      '{"jsonrpc":"2.0","id":9,"method":"tools/run","params":{"name":"write","arguments":{"path":"/workspace/a"}}}',
      -32601,
    ],
    [
      'a state of nobody',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"write","arguments":{"path":"/workspace/a"},"requestState":"writ1.e30.AAAA"}}',
      -32602,
    ],
  ])('with %s reaches nobody', async (_what, line, code) => {
    const { wire, server } = await opened();
    const seen = wire.got.length;
    wire.sendText(line);
    const answer = await wire.next((message) => wire.got.indexOf(message) >= seen);
    if (code === null) expect(answer.result._meta['writ-decision'].matched_policy).toBe('invalid_payload');
    else expect(answer.error.code).toBe(code);
    expect(server.calls()).toEqual([]);
  });

  test('of another kind is decided, too', async () => {
    const { wire, server } = await opened();
    expect((await wire.ask('resources/read', { uri: 'a:1' })).result.contents).toHaveLength(1);
    expect((await wire.ask('resources/read', { uri: 'a:2' })).error.code).toBe(403);
    expect((await wire.ask('prompts/get', { name: 'greet' })).error.code).toBe(403);
    expect((await wire.ask('prompts/list')).result.prompts).toEqual([]);
    expect(server.log().filter(({ method }) => /read|get/.test(method ?? ''))).toHaveLength(1);
  });

  test('for which the server asks for input continues under its grant, once', async () => {
    const { wire, server } = await opened();
    const params = { ...call('ask', { x: 1 }), ...modern({ elicitation: { url: {} } }) };
    const { result } = await wire.ask('tools/call', params);
    expect(result.resultType).toBe('input_required');
    const again = {
      ...params,
      inputResponses: { who: { action: 'accept' } },
      requestState: result.requestState,
    };
    const other = { ...again, arguments: { x: 2 } };
    expect((await wire.ask('tools/call', other)).error.code).toBe(-32602);
    const done = await wire.ask('tools/call', again);
    expect(JSON.parse(textOf(done)).requestState).toBe('state of the server');
    expect((await wire.ask('tools/call', again)).error.code).toBe(-32602);
    expect(server.calls()).toHaveLength(2);
  });

  test('has its receipt, which the server verifies; a call that bypasses the proxy has none', async () => {
    const { wire, server } = await open({ areReceiptsSent: true });
    await wire.ask('tools/call', call('write', { path: '/workspace/r' }));
    const { params } = server.calls()[0];
    const keys = (await import('jose')).createLocalJWKSet(
      await (await fetch(`${service().url}/.well-known/jwks.json`)).json(),
    );
    const options = { issuer: 'http://localhost', audience: 'files', keys, used: keptReceipts() };
    const ran = vi.fn(() => ({ content: [] }));
    const handler = requireReceipt(options, ran as Got);
    const { _meta: meta, ...around } = params;
    expect(await handler({ params: around } as Got)).toMatchObject({ isError: true });
    expect(ran).toHaveBeenCalledTimes(0);
    await handler({ params } as Got);
    await handler({ params } as Got);
    expect(ran).toHaveBeenCalledTimes(1);
    expect(createReceiptCheck(options)).toBeDefined();
  });
});

test('the list contains the possible tools, and marks those that ask people', async () => {
  const { wire } = await open();
  const names = async () => (await wire.ask('tools/list')).result.tools.map(({ name }: Got) => name);
  expect(await names()).toEqual(['read', 'write', 'die', 'ask']);
  await usePolicies(
    service(),
    'approvers finance "F"\naction files.write { ... }\npolicy p on files.write { allow one when agent.name != "nobody"\nescalate each to finance within 1h }',
  );
  const { result } = await wire.ask('tools/list');
  expect(result.tools).toMatchObject([
    { name: 'write', _meta: { 'writ-decision': { grant: 'after_approval' } } },
  ]);
});

test('if a server ends during a call, it is unknown whether the call was carried out', async () => {
  const { wire, server } = await open();
  const { error } = await wire.ask('tools/call', call('die', { path: '/workspace/a' }));
  expect(error.message).toMatch(/not known/);
  expect((await wire.ask('tools/call', call('write', { path: '/workspace/a' }))).error.message).toMatch(
    /has ended/,
  );
  expect(server.calls()).toHaveLength(1);
});

describe('where the service breaks', () => {
  type Answer = (response: Got) => void;
  const view = (changes: object) =>
    JSON.stringify({
      request_id: 'a',
      decision: 'ALLOW',
      reason: '',
      matched_policy: 'p',
      risk_score: 0,
      status: 'auto_approved',
      message: '',
      expires_at: '2099-01-01T00:00:00.000Z',
      ...changes,
    });
  const answers: readonly (readonly [string, Answer])[] = [
    ['answers 500', (response) => response.writeHead(500).end('{}')],
    ['cuts the connection', (response) => response.destroy()],
    [
      'sends half a body',
      (response) => {
        response.writeHead(200, { 'content-length': '500' });
        response.write(view({}).slice(0, 80));
        setTimeout(() => response.destroy(), 5);
      },
    ],
    ['says an unknown word', (response) => response.writeHead(200).end(view({ decision: 'PERMIT' }))],
    ['says ALLOW of what waits', (response) => response.writeHead(200).end(view({ status: 'pending' }))],
    ['says nothing', (response) => response.writeHead(200).end('')],
    [
      'sends the client elsewhere',
      (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    [
      'knows another key',
      (response) =>
        response
          .writeHead(401, { 'content-type': 'application/problem+json' })
          .end('{"type":"urn:writ:error:invalid_api_key","detail":"no"}'),
    ],
  ];

  test.each(answers)('it %s: nothing is forwarded, nothing is listed', async (_what, answer) => {
    const stand = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
    onTestFinished(() => void stand.close());
    await new Promise((resolve) => stand.once('listening', resolve));
    const { port } = stand.address() as Got;
    const server = countingServer(...tools);
    const wire = openWire(proxySettings({ url: `http://127.0.0.1:${port}` }, server), 'writ_x');
    await initialize(wire);
    const [called, listed] = await Promise.all([
      wire.ask('tools/call', call('write', { path: '/workspace/a' })),
      wire.ask('tools/list'),
    ]);
    expect(called.error.code).toBe(-32603);
    expect(listed.error?.code ?? listed.result.tools).toEqual(listed.error === undefined ? [] : -32603);
    expect(server.calls()).toEqual([]);
  });
});
