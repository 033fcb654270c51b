// Two agents at one proxy over HTTP: what each can do with what the server has given to the other. The server is at an
// address, and so sees both under one credential; only the proxy can tell them apart.

import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { listening } from '../../service/http/listening.ts';
import { type Service, shareService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { countingServer, type Got, listenForClients, modern, proxySettings } from './rig.ts';

const shared = shareService();
let service: Service;
let others = '';

beforeAll(async () => {
  service = shared();
  const added = await addAgent(service.store, {
    name: 'other',
    riskTier: 'low',
    controlOwner: 'ops',
    tags: [],
  });
  if (added.kind !== 'added') throw new Error('the agent could not be added');
  others = added.apiKey;
  await usePolicies(
    service,
    'approvers finance "F"\naction files.people { }\npolicy people on files.people { allow each when agent.name != "nobody"\nescalate asked to finance within 1h when agent.name != "nobody" }\naction files.work, files.ask { }\naction files.resources.read, files.resources.subscribe { uri: string }\naction files.completion.complete, files.prompts.get { ... }\npolicy p on files.work, files.ask, files.resources.*, files.completion.*, files.prompts.* { allow each when agent.name != "nobody" }',
  );
});

const related = 'io.modelcontextprotocol/related-task';
const capabilities = { elicitation: { form: {} }, tasks: { requests: { tools: { call: {} } } } };

/** A server with tasks of both eras, which tells them to whoever asks. It writes down what it gets. */
async function taskServer() {
  const got: Got[] = [];
  const streams = new Set<ServerResponse>();
  const tasks: string[] = [];
  const answers: Record<string, (params: Got, isModern: boolean) => object> = {
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities,
      serverInfo: { name: 't', version: '1' },
    }),
    'server/discover': () => ({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities }),
    'tools/list': () => ({ tools: [{ name: 'work', inputSchema: { type: 'object' } }] }),
    'tools/call': ({ name }, isModern) => {
      if (name === 'ask')
        return { resultType: 'input_required', inputRequests: {}, requestState: 'server state' };
      tasks.push(`task-${tasks.length + 1}`);
      const taskId = tasks.at(-1);
      return isModern
        ? { resultType: 'task', taskId, status: 'working' }
        : { task: { taskId, status: 'working' } };
    },
    'tasks/list': () => ({ tasks: tasks.map((taskId) => ({ taskId, status: 'working' })) }),
  };
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') {
      if (request.method === 'GET')
        streams.add(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      else response.end();
      return response.flushHeaders();
    }
    const message = (await json(request)) as Got;
    got.push({ ...message, headers: request.headers });
    if (message.id === undefined || message.method === undefined) return response.writeHead(202).end();
    response.setHeader('content-type', 'application/json');
    if (message.method === 'initialize') response.setHeader('mcp-session-id', `s${got.length}`);
    const isModern = message.params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
    const result = answers[message.method]?.(message.params, isModern) ?? { said: 'of the task' };
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
  });
  const url = await listening(server);
  onTestFinished(() => server.closeAllConnections());
  const say = (message: object) => {
    for (const stream of streams) stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  };
  return { url: new URL('/mcp', url), got, say, streams };
}

interface Client {
  send(message: object, headers?: Record<string, string>): Promise<Got>;
  ask(method: string, params?: object, headers?: Record<string, string>): Promise<Got>;
  readonly session: string | null;
}

const headersOf = (key: string): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  authorization: `Bearer ${key}`,
});

async function open(era: 'sessions' | 'stateless') {
  const server = await taskServer();
  const place = {
    kind: 'url' as const,
    url: server.url,
    headers: { authorization: 'Bearer of-the-operator' },
  };
  const url = await listenForClients(proxySettings(service, countingServer(), { server: place }));
  let id = 0;
  const client = async (key: string): Promise<Client> => {
    let session: string | null = null;
    const send = async (message: Got, headers: Record<string, string> = {}) => {
      const isModern = era === 'stateless' && message.method !== undefined;
      const named = {
        'tools/call': 'name',
        'tasks/get': 'taskId',
        'tasks/update': 'taskId',
        'tasks/cancel': 'taskId',
      };
      const name = message.params?.[named[message.method as keyof typeof named] ?? ''];
      const mirrored = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': message.method };
      const reply = await fetch(url, {
        method: 'POST',
        headers: {
          ...headersOf(key),
          ...(isModern ? mirrored : {}),
          ...(isModern && typeof name === 'string' ? { 'mcp-name': name } : {}),
          ...(session === null ? {} : { 'mcp-session-id': session }),
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      });
      session ??= reply.headers.get('mcp-session-id');
      const text = await reply.text();
      return { status: reply.status, ...(text.startsWith('{') ? JSON.parse(text) : { text }) };
    };
    const ask = (method: string, params: Got = {}, headers = {}) => {
      id += 1;
      const meta = era === 'stateless' ? { _meta: { ...modern()._meta, ...params._meta } } : {};
      return send({ id, method, params: { ...params, ...meta } }, headers);
    };
    if (era === 'sessions') {
      await ask('initialize', {
        protocolVersion: '2025-11-25',
        capabilities,
        clientInfo: { name: 't', version: '1' },
      });
      await send({ method: 'notifications/initialized' });
    }
    return {
      send,
      ask,
      get session() {
        return session;
      },
    };
  };
  const [ann, ben] = [await client(service.apiKey), await client(others)];
  const called = await ann.ask('tools/call', { name: 'work', arguments: {}, task: { ttl: 1_000 } });
  const taskId: string = called.result.taskId ?? called.result.task.taskId;
  expect(taskId).toBe('task-1');
  const forwarded = () => server.got.filter(({ method }) => method?.startsWith('tasks/') === true).length;
  return { server, ann, ben, taskId, url, forwarded };
}

describe.each(['sessions', 'stateless'] as const)('a task of one agent, in the era %s', (era) => {
  test.each(['tasks/get', 'tasks/result', 'tasks/update', 'tasks/cancel'])('%s', async (method) => {
    const { ann, ben, taskId, forwarded } = await open(era);
    for (const id of [taskId, 'task-99', 7, null]) {
      const refused = await ben.ask(method, { taskId: id });
      expect([id, refused.error?.message]).toEqual([id, 'there is no such task']);
    }
    expect(forwarded()).toBe(0);
    expect((await ann.ask(method, { taskId })).result).toEqual({ said: 'of the task' });
    expect(forwarded()).toBe(1);
  });

  test('tasks/list', async () => {
    const { ann, ben, taskId } = await open(era);
    expect((await ben.ask('tasks/list')).result.tasks).toEqual([]);
    const own = (await ben.ask('tools/call', { name: 'work', arguments: {} })).result;
    const ids = async (client: Client) =>
      (await client.ask('tasks/list')).result.tasks.map((one: Got) => one.taskId);
    expect(await ids(ben)).toEqual([own.taskId ?? own.task.taskId]);
    expect(await ids(ann)).toEqual([taskId]);
  });

  test.each([
    ['tools/call', { name: 'work', arguments: {} }],
    ['ping', {}],
    ['resources/list', {}],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'a' }, argument: { name: 'a', value: 'b' } }],
  ])('%s that says it belongs to the task', async (method, params) => {
    const { server, ben, taskId } = await open(era);
    const before = server.got.length;
    const refused = await ben.ask(method, { ...params, _meta: { [related]: { taskId } } });
    expect(refused.error.message).toBe('there is no such task');
    expect(server.got).toHaveLength(before);
  });
});

test.each([{ taskIds: ['task-1'] }, { tasks: 'task-1' }, { tasks: [{ taskId: 'task-1' }] }])(
  'subscriptions/listen to %j',
  async (notifications) => {
    const { server, ben } = await open('stateless');
    const before = server.got.length;
    expect((await ben.ask('subscriptions/listen', { notifications })).error.message).toBe(
      'there is no such task',
    );
    expect(server.got).toHaveLength(before);
  },
);

test.each(['initialize', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])(
  '%s changes the connection of others, and is no method of the stateless era',
  async (method) => {
    const { server, ben } = await open('stateless');
    const before = server.got.length;
    expect((await ben.ask(method, { uri: 'a:1', level: 'debug' })).error.code).toBe(-32601);
    expect(server.got).toHaveLength(before);
  },
);

test('the state of a call that the server asks back in', async () => {
  const { server, ann, ben } = await open('stateless');
  const { requestState } = (await ann.ask('tools/call', { name: 'ask', arguments: {} })).result;
  const again = { name: 'ask', arguments: {}, requestState, inputResponses: {} };
  const before = server.got.length;
  expect((await ben.ask('tools/call', again)).error.code).toBe(-32602);
  expect(server.got).toHaveLength(before);
  await ann.ask('tools/call', again);
  expect(server.got.at(-1).params.requestState).toBe('server state');
});

test('a task of the proxy, which waits for people', async () => {
  const { ann, ben } = await open('stateless');
  const able = {
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  };
  const call = { name: 'people', arguments: {}, _meta: able };
  const { taskId } = (await ann.ask('tools/call', call)).result;
  expect(taskId).toMatch(/^writ-/);
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/result', 'tasks/update'])
    expect([method, (await ben.ask(method, { taskId })).error?.message]).toEqual([
      method,
      'there is no such task',
    ]);
  expect((await ann.ask('tasks/get', { taskId })).result.status).toBe('working');
  await ann.ask('tasks/cancel', { taskId });
  expect((await ann.ask('tasks/get', { taskId })).result.status).toBe('cancelled');
});

describe('the session of one agent', () => {
  const uses: readonly [
    string,
    (url: URL, session: string, client: Client) => Promise<{ status: number }>,
  ][] = [
    [
      'a call',
      (_url, session, ben) =>
        ben.ask('tools/call', { name: 'work', arguments: {} }, { 'mcp-session-id': session }),
    ],
    [
      'notifications/cancelled',
      (_url, session, ben) =>
        ben.send(
          { method: 'notifications/cancelled', params: { requestId: 1 } },
          { 'mcp-session-id': session },
        ),
    ],
    [
      'notifications/progress',
      (_url, session, ben) =>
        ben.send(
          { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
          { 'mcp-session-id': session },
        ),
    ],
    [
      'an answer to the server',
      (_url, session, ben) =>
        ben.send({ id: 1, result: { action: 'accept' } }, { 'mcp-session-id': session }),
    ],
    [
      'the listening stream',
      (url, session) => fetch(url, { headers: { ...headersOf(others), 'mcp-session-id': session } }),
    ],
    [
      'the rest of a stream',
      (url, session) =>
        fetch(url, { headers: { ...headersOf(others), 'mcp-session-id': session, 'last-event-id': '1' } }),
    ],
    [
      'its end',
      (url, session) =>
        fetch(url, { method: 'DELETE', headers: { ...headersOf(others), 'mcp-session-id': session } }),
    ],
  ];
  test.each(uses)('%s', async (_what, use) => {
    const { server, ann, ben, url } = await open('sessions');
    const before = server.got.length;
    expect((await use(url, ann.session ?? '', ben)).status).toBe(404);
    expect(server.got).toHaveLength(before);
    expect((await ann.ask('ping')).status).toBe(200);
  });
});

test('messages about a task go to the agent that started it, and to no other', async () => {
  const { server, ann, ben, taskId, url } = await open('sessions');
  const texts = await Promise.all(
    [
      [service.apiKey, ann.session],
      [others, ben.session],
    ].map(async ([key, session]) => {
      const stop = new AbortController();
      onTestFinished(() => stop.abort());
      const { body } = await fetch(url, {
        headers: { ...headersOf(key ?? ''), 'mcp-session-id': session ?? '' },
        signal: stop.signal,
      });
      const text = { of: '' };
      void (async () => {
        for await (const part of body ?? []) text.of += Buffer.from(part).toString();
      })().catch(() => undefined);
      return text;
    }),
  );
  await expect.poll(() => server.streams.size).toBe(2);
  server.say({
    method: 'notifications/tasks/status',
    params: { taskId, status: 'working', statusMessage: 'secret' },
  });
  const asked = { message: 'secret', _meta: { [related]: { taskId } } };
  server.say({ id: 'q1', method: 'elicitation/create', params: asked });
  server.say({ method: 'notifications/tools/list_changed' });
  for (const text of texts) await expect.poll(() => text.of).toContain('list_changed');
  expect(texts[0]?.of.match(/secret/g)).toHaveLength(2);
  expect(texts[1]?.of).not.toContain('secret');
  await ben.send({ id: 'q1', result: { action: 'accept', _meta: { [related]: { taskId } } } });
  expect(server.got.filter(({ result }) => result?.action === 'accept')).toEqual([]);
});
