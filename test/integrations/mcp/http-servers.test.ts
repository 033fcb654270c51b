// Servers over HTTP as they exist in practice: one that lists other tools in each era of the protocol, and
// bodies of several messages.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { openServer } from '../../../integrations/mcp/proxy.ts';
import { readServer } from '../../../integrations/mcp/review/live-server.ts';
import { connectServer } from '../../../integrations/mcp/servers/http-upstream.ts';
import { listening } from '../../service/http/listening.ts';
import { countingServer, listenForClients, proxySettings } from './rig.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages of any shape
type Got = any;
type Answer = (message: Got, headers: IncomingMessage['headers'], response: ServerResponse) => void;

const servers: ReturnType<typeof createServer>[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function serving(answer: Answer, resumed?: (response: ServerResponse) => void): Promise<URL> {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET' && resumed !== undefined) resumed(response);
    else if (request.method !== 'POST') response.writeHead(405).end();
    else answer(await json(request), request.headers, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
}

function tools(...names: readonly string[]) {
  return { tools: names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })) };
}

test.each([
  ['both', ['common', 'earlier', 'later']],
  ['sessions', ['common', 'earlier']],
  ['stateless', ['common', 'later']],
] as const)('tools are read in each era that a server speaks: %s', async (speaks, names) => {
  const seen: unknown[] = [];
  const url = await serving(({ id, method, params }, headers, response) => {
    const isLater = params?._meta !== undefined;
    if (headers['mcp-session-id'] !== undefined && isLater) seen.push('a session where there are none');
    const isSpoken = speaks === 'both' || (speaks === 'stateless') === isLater;
    const capabilities = { tools: {} };
    const results: Got = {
      initialize: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'two' } },
      'server/discover': { capabilities },
      'tools/list': isLater ? tools('common', 'later') : tools('common', 'earlier'),
    };
    if (id === undefined) return void response.writeHead(202).end();
    response.setHeader('content-type', 'application/json');
    if (method === 'initialize') response.setHeader('mcp-session-id', 's1');
    const refused = { error: { code: -32601, message: 'unknown' } };
    const said = isSpoken && method in results ? { result: results[method] } : refused;
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
  });
  const open = openServer({ kind: 'url', url, headers: {} }, () => undefined);
  const live = await readServer(open, []);
  expect(live.tools.map(({ name }) => name)).toEqual(names);
  expect(seen).toEqual([]);
});

const progress = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 1, progress: 1 },
};
const result = { jsonrpc: '2.0', id: 7, result: { content: [] } };

test.each([
  ['a line each', [`${JSON.stringify(progress)}\n`, `${JSON.stringify(result)}\n`], [progress, result]],
  ['no line end', [`${JSON.stringify(progress)}\n${JSON.stringify(result)}`], [progress, result]],
  ['cut anywhere', [...`${JSON.stringify(progress)}\n${JSON.stringify(result)}\n`], [progress, result]],
  ['one message over several lines', [JSON.stringify(result, null, 2)], [result]],
  ['what follows an answer', [`${JSON.stringify(result)}\n${JSON.stringify(result)}\n`], [result]],
])('a body of %s', async (_, parts, messages) => {
  const url = await serving((_message, _headers, response) => {
    response.setHeader('content-type', 'application/json');
    for (const part of parts) response.write(part);
    response.end();
  });
  const heard: Got[] = [];
  const line = connectServer(
    { url, headers: {}, schemaOf: () => null, silenceMsMax: 60_000 },
    { onMessage: (message) => void heard.push(message), onEnd: () => undefined },
  );
  line.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'a' } });
  await expect.poll(() => heard).toEqual(messages);
  line.close();
});

test.each([
  ['stops in the middle of a message', '{"jsonrpc":"2.0",'],
  ['is of lines without an answer', `${JSON.stringify(progress)}\n`],
])('a body that %s is told as no answer', async (_, text) => {
  const url = await serving((_message, _headers, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(text);
  });
  const answers: Got[] = [];
  const onMessage = (message: Got) => void (message.id === 7 && answers.push(message));
  const line = connectServer(
    { url, headers: {}, schemaOf: () => null, silenceMsMax: 60_000 },
    { onMessage, onEnd: () => undefined },
  );
  line.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'a' } });
  await expect
    .poll(() => answers)
    .toMatchObject([{ error: { message: 'the server answers with HTTP status 200' } }]);
  line.close();
});

const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: mcp\r\n\r\n';
const more = Buffer.alloc(1024 * 1024, ' ');

test.each<[string, (response: ServerResponse) => void, RegExp]>([
  [
    'goes on in another protocol',
    ({ socket }) => void socket?.write(`${switching}${JSON.stringify(result)}`),
    /another protocol/,
  ],
  [
    'has no end',
    (response) => {
      const write = () => {
        while (response.write(more));
      };
      response.setHeader('content-type', 'application/json');
      response.on('drain', write);
      write();
    },
    /more than 16777216 characters/,
  ],
  [
    'is cut',
    ({ socket }) => void socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"js'),
    /before its end/,
  ],
  ['is closed', (response) => void response.destroy(), /cannot be reached/],
])('a call whose answer %s is told as no answer, once', async (_, answer, why) => {
  const url = await serving((_message, _headers, response) => answer(response));
  const answers: Got[] = [];
  const onMessage = (message: Got) => void (message.id === 7 && answers.push(message));
  const line = connectServer(
    { url, headers: {}, schemaOf: () => null, silenceMsMax: 60_000 },
    { onMessage, onEnd: () => undefined },
  );
  line.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'a' } });
  const told = [{ error: { code: -32603, message: expect.stringMatching(why) } }];
  await expect.poll(() => answers).toMatchObject(told);
  line.close();
});

const plain = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));

test.each<[string, (response: ServerResponse) => void, RegExp, ((response: ServerResponse) => void)?]>([
  [
    'is a gzip bomb',
    (response) => void response.writeHead(200, { ...plain, 'content-encoding': 'gzip' }).end(bomb),
    /compressed its answer \(gzip\)/,
  ],
  [
    'is packed',
    (response) =>
      void response
        .writeHead(200, { ...plain, 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify(result))),
    /compressed its answer \(gzip\)/,
  ],
  [
    'is a packed stream',
    (response) => void response.writeHead(200, { ...events, 'content-encoding': 'deflate' }).end(bomb),
    /compressed its answer \(deflate\)/,
  ],
  [
    'is elsewhere',
    (response) => void response.writeHead(307, { location: 'http://elsewhere.example/mcp' }).end(),
    /status 307 and leads to another address \(http:\/\/elsewhere.example\/mcp\)/,
  ],
  ['does not begin', () => undefined, /has sent nothing for 0.3 s/],
  [
    'stalls within a body',
    (response) => void response.writeHead(200, plain).write('{"jsonrpc":"2.0","id":7,'),
    /has sent nothing for 0.3 s/,
  ],
  [
    'stalls within a stream',
    (response) => void response.writeHead(200, events).write(`data: ${JSON.stringify(progress)}\n\n`),
    /has sent nothing for 0.3 s/,
  ],
  [
    'stalls within a stream that is resumed',
    (response) => void response.writeHead(200, events).end('id: 1\nretry: 1\ndata:\n\n'),
    /has sent nothing for 0.3 s/,
    (response) => void response.writeHead(200, events).flushHeaders(),
  ],
  [
    'is a packed rest of a stream',
    (response) => void response.writeHead(200, events).end('id: 1\nretry: 1\ndata:\n\n'),
    /compressed its answer \(br\)/,
    (response) => void response.writeHead(200, { ...events, 'content-encoding': 'br' }).end(bomb),
  ],
  [
    'is an event without end',
    (response) => {
      const line = Buffer.from(`data: ${'x'.repeat(64 * 1024)}\n`);
      const write = () => {
        while (response.write(line));
      };
      response.writeHead(200, events).on('drain', write);
      write();
    },
    /stopped before its end/,
  ],
])('an answer that %s is given up, once, and the client hears why', async (_, answer, why, resumed) => {
  const url = await serving((_message, _headers, response) => answer(response), resumed);
  const answers: Got[] = [];
  const onMessage = (message: Got) => void (message.id === 7 && answers.push(message));
  const line = connectServer(
    { url, headers: {}, schemaOf: () => null, silenceMsMax: /0.3 s/.test(why.source) ? 300 : 60_000 },
    { onMessage, onEnd: () => undefined },
  );
  line.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'a' } });
  const told = [{ error: { code: -32603, message: expect.stringMatching(why) } }];
  await expect.poll(() => answers, { timeout: 20_000 }).toMatchObject(told);
  line.close();
});

test('a server that sends messages in between is not timed out', async () => {
  let stop: NodeJS.Timeout | undefined;
  const url = await serving((_message, _headers, response) => {
    let count = 0;
    response.writeHead(200, events);
    stop = setInterval(() => {
      count += 1;
      response.write(count < 8 ? ': alive\n\n' : `data: ${JSON.stringify(result)}\n\n`);
    }, 100);
  });
  const heard: Got[] = [];
  const line = connectServer(
    { url, headers: {}, schemaOf: () => null, silenceMsMax: 600 },
    { onMessage: (message) => void heard.push(message), onEnd: () => undefined },
  );
  line.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'a' } });
  await expect.poll(() => heard, { timeout: 20_000 }).toEqual([result]);
  clearInterval(stop);
  line.close();
});

test('a server that has lost its session ends once, and waiting calls get an error', async () => {
  const ended: string[] = [];
  const answers: Got[] = [];
  const url = await serving(({ id, method }, _headers, response) => {
    if (method !== 'initialize') return void response.writeHead(404).end();
    response.writeHead(200, { ...plain, 'mcp-session-id': 's1' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25' } }));
  });
  const line = connectServer(
    { url, headers: {}, schemaOf: () => null, silenceMsMax: 60_000 },
    { onMessage: (message) => void answers.push(message), onEnd: (why) => void ended.push(why) },
  );
  line.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
  await expect.poll(() => answers.length).toBe(1);
  for (const id of [2, 3]) line.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'a' } });
  await expect.poll(() => ended).toEqual(['the server has ended the session']);
  expect(answers).toHaveLength(1);
});

test('a client whose server has lost the session begins a new one', async () => {
  let isNew = true;
  const url = await serving(({ id, method }, _headers, response) => {
    if (id === undefined) return void response.writeHead(202).end();
    if (method !== 'initialize' && !isNew) return void response.writeHead(404).end();
    isNew ||= method === 'initialize';
    response.writeHead(200, { ...plain, 'mcp-session-id': 's1' });
    const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {} } : {};
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  const service = await listening(
    createServer((_request, response) => void response.writeHead(200, plain).end('{"items":[]}')),
  );
  const place = { kind: 'url' as const, url, headers: {} };
  const proxy = await listenForClients(proxySettings({ url: service }, countingServer(), { server: place }));
  const send = async (method: string, session: string | null) => {
    const reply = await fetch(proxy, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: 'Bearer writ_x',
        ...(session === null ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} }),
    });
    return {
      status: reply.status,
      id: reply.headers.get('mcp-session-id'),
      body: (await reply.json()) as Got,
    };
  };
  const { id } = await send('initialize', null);
  expect((await send('ping', id)).status).toBe(200);
  isNew = false;
  expect((await send('ping', id)).body.error.message).toMatch(/has ended the session/);
  expect((await send('ping', id)).status).toBe(404);
  const again = await send('initialize', null);
  expect((await send('ping', again.id)).body.result).toEqual({});
});
