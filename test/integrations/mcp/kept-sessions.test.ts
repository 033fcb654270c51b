// What a new connection of the same caller changes: nothing that a policy remembers, and no more than a few servers.

import { beforeAll, describe, expect, test } from 'vitest';
import { createSlotPool, NoSlotError, type Slot } from '../../../integrations/mcp/clients/slot-pool.ts';
import { addPoint } from '../../../src/service/agents/points/change-point.ts';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { type Service, shareService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import {
  countingServer,
  type Got,
  initialize,
  listenForClients,
  modern,
  openWire,
  proxySettings,
  textOf,
  tool,
} from './rig.ts';

const shared = shareService();
let service: Service;
let others = '';
let point = '';

beforeAll(async () => {
  service = shared();
  const { store, agent } = service;
  const added = await addAgent(store, { name: 'other', riskTier: 'low', controlOwner: 'ops', tags: [] });
  const made = await addPoint(
    { documents: store.documents, who: 'test', nowMs: Date.now() },
    { name: 'gateway', agents: [agent.id], mayRelease: false },
  );
  if (added.kind !== 'added' || made.kind !== 'made') throw new Error('not added');
  [others, point] = [added.apiKey, made.apiKey];
  await usePolicies(
    service,
    `action files.fetch, files.send { n?: number }
meter tainted = count() of files.fetch per session over 8h
policy p on files.* {
  allow each when agent.name != "nobody"
  deny after_fetch when action.key == "files.send" and tainted > 0 because "what was fetched may speak"
}`,
  );
  await service.takeMeters();
});

const tools = [tool('fetch'), tool('send')];
const call = (name: string) => ({ name, arguments: {} });

interface Proxy {
  readonly url: URL;
  readonly processes: () => number;
}

async function listening(
  changes = {},
  sharedKey: string | null = null,
  limits?: { ofCallerMax: number; max: number },
): Promise<Proxy> {
  const server = countingServer(...tools);
  const url = await listenForClients(proxySettings(service, server, changes), sharedKey, limits);
  return { url, processes: () => server.log().filter(({ method }) => method === 'initialize').length };
}

interface HttpSession {
  readonly status: number;
  readonly id: string | null;
  ask(method: string, params?: object): Promise<Got>;
}

/** Begins a session over HTTP. */
async function begin({ url }: Proxy, key: string | null): Promise<HttpSession> {
  const post = (message: object, more: Record<string, string>) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...more,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const begun = await post({ method: 'initialize', params }, {});
  const id = begun.headers.get('mcp-session-id');
  await begun.text();
  return {
    status: begun.status,
    id,
    async ask(method, given = {}) {
      const reply = await post({ method, params: given }, { 'mcp-session-id': id ?? '' });
      return { status: reply.status, ...((await reply.json()) as object) };
    },
  };
}

/** A call of the stateless era. */
async function alone({ url }: Proxy, key: string | null, name: string): Promise<Got> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { ...call(name), ...modern() },
    }),
  });
  return { status: reply.status, ...((await reply.json()) as object) };
}

const isDenied = (answer: Got): boolean => /what was fetched may speak/.test(textOf(answer));

describe('a session that has fetched may not send, and is not left', () => {
  test('by connecting again over standard streams', async () => {
    for (const [key, agent] of [
      [service.apiKey, null],
      [point, service.agent.name],
    ] as const) {
      const wire = async () => {
        const opened = openWire(proxySettings(service, countingServer(...tools), { agent }), key);
        await initialize(opened);
        return opened;
      };
      const first = await wire();
      expect(isDenied(await first.ask('tools/call', call('send')))).toBe(false);
      await first.ask('tools/call', call('fetch'));
      const answers = [await first.ask('tools/call', call('send'))];
      await initialize(first);
      answers.push(await first.ask('tools/call', call('send')));
      first.close();
      answers.push(await (await wire()).ask('tools/call', call('send')));
      expect(answers.map(isDenied)).toEqual([true, true, true]);
    }
  });

  test.each([
    ['with a shared key of a point', true],
    ['with a key of its own', false],
  ])('over HTTP, %s', async (_what, isShared) => {
    const proxy = isShared ? await listening({ agent: service.agent.name }, point) : await listening();
    const key = isShared ? null : others;
    const one = await begin(proxy, key);
    const later = await begin(proxy, key);
    await one.ask('tools/call', call('fetch'));
    const again = await begin(proxy, key);
    const answers = await Promise.all(
      [one, later, again].map((session) => session.ask('tools/call', call('send'))),
    );
    answers.push(await alone(proxy, key, 'send'));
    expect(answers.map(isDenied)).toEqual([true, true, true, true]);
  });

  test('except for a session that the operator names', async () => {
    const named = await listening({ session: 'another task' });
    expect(isDenied(await (await begin(named, service.apiKey)).ask('tools/call', call('send')))).toBe(false);
  });
});

describe('servers', () => {
  test('are limited for each caller: the session that was idle for longest ends', async () => {
    const proxy = await listening({}, null, { ofCallerMax: 2, max: 10 });
    const sessions: HttpSession[] = [];
    for (let n = 0; n < 5; n += 1) sessions.push(await begin(proxy, service.apiKey));
    expect(sessions.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const stands = await Promise.all(sessions.map(async (one) => (await one.ask('ping')).status));
    expect(stands).toEqual([404, 404, 404, 200, 200]);
    const other = await begin(proxy, others);
    expect((await other.ask('ping')).status).toBe(200);
    expect((await sessions[4]?.ask('ping'))?.status).toBe(200);
  });

  test('are not started for a key that the service does not know', async () => {
    const proxy = await listening();
    const wrong = `${service.apiKey.slice(0, -1)}${service.apiKey.endsWith('0') ? '1' : '0'}`;
    for (const key of ['writ_made_up', wrong]) {
      expect((await begin(proxy, key)).status).toBe(401);
      expect((await alone(proxy, key, 'send')).status).toBe(401);
    }
    expect(proxy.processes()).toBe(0);
  });

  test('and are not started while the service cannot check the key', async () => {
    const proxy = await listening({ service: 'http://127.0.0.1:1' });
    expect((await begin(proxy, service.apiKey)).status).toBe(503);
    expect((await alone(proxy, service.apiKey, 'send')).status).toBe(503);
    expect(proxy.processes()).toBe(0);
  }, 60_000);
});

describe('slot pool', () => {
  const slotOf = (caller: string, sinceMs: number | null, ended: string[] = []): Slot => ({
    caller,
    idleSinceMs: () => sinceMs,
    end: () => void ended.push(`${caller} ${sinceMs}`),
  });

  test('a full share ends the session that was idle for longest, and never one with a request in progress', () => {
    const ended: string[] = [];
    const slots = createSlotPool({ ofCallerMax: 2, max: 4 });
    for (const sinceMs of [5, null]) slots.take(slotOf('a', sinceMs, ended));
    slots.take(slotOf('a', 9, ended));
    expect(ended).toEqual(['a 5']);
    slots.take(slotOf('b', 1, ended));
    slots.take(slotOf('c', 2, ended));
    // All four are taken: `d` has none, so it gets a slot of the caller that has most, if one is idle.
    slots.take(slotOf('d', 3, ended));
    expect(ended).toEqual(['a 5', 'b 1']);
    // `d` has one now, and takes none from those who have no more than one.
    slots.take(slotOf('d', 4, ended));
    expect(ended).toEqual(['a 5', 'b 1', 'd 3']);
  });

  test('a caller without an idle session is refused', () => {
    const slots = createSlotPool({ ofCallerMax: 1, max: 2 });
    slots.take(slotOf('a', null));
    expect(() => slots.take(slotOf('a', null))).toThrow(/sessions of this key/);
    slots.take(slotOf('b', null));
    expect(() => slots.take(slotOf('c', 1))).toThrow(NoSlotError);
  });

  test('a session that is idle for long ends', () => {
    const ended: string[] = [];
    const slots = createSlotPool({ ofCallerMax: 9, max: 9 });
    for (const sinceMs of [1, 5, null]) slots.take(slotOf('a', sinceMs, ended));
    slots.endIdle(5);
    expect(ended).toEqual(['a 1']);
  });
});
