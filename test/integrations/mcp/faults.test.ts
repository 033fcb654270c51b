// Faults while a call is on its way through the proxy: no call is forwarded without a grant, and the record
// says what is known. Calls are counted at the server.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { shareService } from '../../service/http/service.ts';
import { give, look, usePolicies } from '../../service/http/written-policies.ts';
import { everything } from '../../service/store/rows.ts';
import { brokenService, type Fault, faults, grant, says } from '../adapters/faults.ts';
import { countingServer, type Got, initialize, modern, openWire, proxySettings, tool } from './rig.ts';

const policies = `
approvers finance "Finance"
action files.pay, files.die, files.mute { n: number }
policy p on files.* {
  allow all
  escalate large to finance within 1h when payload.n > 100
}
`;

const service = shareService();
let ready: Promise<void> | null = null;

async function open(url = service().url) {
  ready ??= usePolicies(service(), policies);
  await ready;
  const server = countingServer(tool('pay'), tool('die'), tool('mute'));
  const wire = () => openWire(proxySettings({ url }, server), service().apiKey);
  return { server, wire };
}

const call = (name: string, n: number, more: object = {}) => ({ name, arguments: { n }, ...more });

test('while the disk of the service is full, nothing is granted and nothing forwarded', async () => {
  const { server, wire } = await open();
  const client = wire();
  await initialize(client);
  const full = new StoreError('full', 'no space left');
  const spend = vi.spyOn(service().store.meters, 'spend').mockRejectedValue(full);
  onTestFinished(() => spend.mockRestore());
  expect((await client.ask('tools/call', call('pay', 1))).error.code).toBe(-32603);
  expect(server.calls()).toEqual([]);
});

test('a call that is cancelled while the service is slow is not forwarded, whatever the reply', async () => {
  let answer: () => void = () => undefined;
  const asked = Promise.withResolvers<void>();
  const slow = createServer((request, response) => {
    request.resume();
    answer = () => response.destroy();
    asked.resolve();
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    slow.closeAllConnections();
    slow.close();
  });
  const { server, wire } = await open(`http://127.0.0.1:${(slow.address() as AddressInfo).port}`);
  const client = wire();
  await initialize(client);
  void client.ask('tools/call', call('pay', 1), 70);
  await asked.promise;
  client.notify('notifications/cancelled', { requestId: 70 });
  answer();
  await client.ask('ping');
  expect(server.calls()).toEqual([]);
  expect(client.got.some(({ id }: Got) => id === 70)).toBe(false);
});

test('a service that never answers grants nothing, and the client gets an error after the time limit', async () => {
  const { url } = await brokenService(() => undefined);
  const { server, wire } = await open(url);
  const client = wire();
  await initialize(client);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const ends = Promise.race([
    client.ask('tools/call', call('pay', 1)),
    passTime(60).then(() => ({ error: { message: 'nothing in ten minutes' } })),
  ]);
  expect((await ends).error).toMatchObject({ code: -32603 });
  expect(server.calls()).toEqual([]);
});

const grants = { 'content-type': 'application/json' };
const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: writ\r\n\r\n';

test.each<[string, RegExp, Fault]>([
  [
    'goes on in another protocol',
    /ended before the reply/,
    (response) => void response.socket?.write(`${switching}${JSON.stringify(grant)}`),
  ],
  [
    'has no end',
    /no end/,
    (response) => {
      const more = Buffer.alloc(1024 * 1024, ' ');
      const write = () => {
        while (response.write(more));
      };
      response.writeHead(200, grants).on('drain', write);
      write();
    },
  ],
  [
    'ends before its length',
    /ended before the reply|ECONNRESET|aborted/,
    (response) => {
      response.writeHead(200, { ...grants, 'content-length': 10_000 });
      response.write(JSON.stringify(grant), () => response.destroy());
    },
  ],
  [
    'ends within a chunk',
    /ended before the reply|ECONNRESET|aborted/,
    (response) =>
      void response.socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n400\r\n{"dec'),
  ],
  ['leads elsewhere', /elsewhere \(307\)/, faults['a redirect']!],
  ['is a page', /unreadable/, says('<html><body>ALLOW</body></html>')],
])(
  'where a reply of the service %s nothing is forwarded, and the client hears why',
  async (_what, why, fault) => {
    const { url } = await brokenService(fault);
    const { server, wire } = await open(url);
    const client = wire();
    await initialize(client);
    const { error } = await client.ask('tools/call', call('pay', 1));
    expect(error).toMatchObject({ code: -32603, message: expect.stringMatching(why) });
    expect(server.calls()).toEqual([]);
  },
);

test('an unrequested message of the service is not the reply to the next call', async () => {
  const denied = JSON.stringify({ ...grant, decision: 'DENY', status: 'rejected' });
  const reply = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const { url } = await brokenService(({ socket }) => {
    socket?.write(reply(denied) + reply(JSON.stringify(grant)));
  });
  const { server, wire } = await open(url);
  const client = wire();
  await initialize(client);
  for (const n of [1, 2, 3])
    expect((await client.ask('tools/call', call('pay', n))).result.isError).toBe(true);
  expect(server.calls()).toEqual([]);
});

/** Advances the clock ten seconds at a time; messages in flight arrive meanwhile. */
async function passTime(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(10_000);
  }
}

test.each([
  ['dies', 'die', -32603],
  ['never answers', 'mute', null],
])(
  'of a server that %s while a call runs the record says that its grant was used',
  async (_what, name, code) => {
    const { server, wire } = await open();
    const client = wire();
    await initialize(client);
    const asked = client.ask('tools/call', call(name, 1), 90);
    if (code === null) {
      await vi.waitFor(() => expect(server.calls()).toHaveLength(1));
      client.notify('notifications/cancelled', { requestId: 90 });
      await vi.waitFor(() =>
        expect(server.log().at(-1)).toMatchObject({ method: 'notifications/cancelled' }),
      );
    } else expect((await asked).error).toMatchObject({ code, message: expect.stringMatching(/not known/) });
    expect(server.calls()).toHaveLength(1);
    const { items: found } = await service().store.requests.list({
      ...everything,
      nowMs: Date.now(),
      actionKey: `files.${name}`,
      countMax: 1,
      after: null,
    });
    const id = found[0]?.row.id ?? '';
    await vi.waitFor(async () => expect((await look(service(), id)).body.status).toBe('consumed'));
  },
);

test('a client continues with a restarted proxy by calling again, once', async () => {
  const { server, wire } = await open();
  const ben = await personWith(service(), await firstAdmin(service()), {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const meta = modern({ elicitation: { url: {} } });
  const first = wire();
  const { result } = await first.ask('tools/call', call('pay', 500, meta));
  expect(result.resultType).toBe('input_required');
  const [id = ''] = await service().store.requests.openOf(service().agent.id, 1);
  first.close();
  await give(ben, id, 'approve');
  const second = wire();
  const responses = { inputResponses: { decision: { action: 'accept' } } };
  const stale = { ...meta, ...responses, requestState: result.requestState };
  expect((await second.ask('tools/call', call('pay', 500, stale))).error.code).toBe(-32602);
  expect(server.calls()).toEqual([]);
  expect((await second.ask('tools/call', call('pay', 500, meta))).result.resultType).toBe('complete');
  expect((await second.ask('tools/call', call('pay', 500, meta))).result.resultType).toBe('input_required');
  expect(server.calls()).toHaveLength(1);
});
