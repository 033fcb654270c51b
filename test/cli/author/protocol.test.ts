// The author server on the wire: both eras of the protocol, malformed messages, cancelled and slow calls, and a
// thread that hangs or dies.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../../integrations/mcp/protocol/messages.ts';
import { createAuthorServer } from '../../../src/cli/author/server.ts';
import { startToolThread, type ToolThread } from '../../../src/cli/author/tool-thread.ts';
import { emptyFolder, type Got, put, startPlain } from './server.ts';

const hello = {
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};

const stateless = (version = '2026-07-28') => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  },
});

test('a session begins with the wanted version, or with the latest that has sessions', async () => {
  const server = startPlain(emptyFolder());
  server.write(hello);
  const { result } = await server.answer('hello');
  expect(result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'writ' } });
  expect(Object.keys(result.capabilities)).toEqual(['tools', 'resources', 'prompts']);
  const wanted = (protocolVersion: string) => ({
    ...hello,
    id: protocolVersion,
    params: { protocolVersion },
  });
  server.write(wanted('2024-11-05'), wanted('1999-01-01'));
  expect((await server.answer('2024-11-05')).result.protocolVersion).toBe('2024-11-05');
  expect((await server.answer('1999-01-01')).result.protocolVersion).toBe('2025-11-25');
  server.write({ id: 1, method: 'ping' }, { method: 'notifications/initialized' });
  expect((await server.answer(1)).result).toEqual({});
  expect(await server.end()).toBe(0);
});

test('the stateless era has complete results, and no sessions', async () => {
  const server = startPlain(emptyFolder());
  server.write(
    { id: 1, method: 'server/discover', params: stateless() },
    { id: 2, method: 'tools/list', params: stateless() },
    {
      id: 3,
      method: 'tools/call',
      params: { name: 'reference', arguments: { topic: 'rules' }, ...stateless() },
    },
    { id: 4, method: 'tools/list', params: stateless('2031-01-01') },
    { id: 5, method: 'ping', params: stateless() },
  );
  expect((await server.answer(1)).result).toMatchObject({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    ttlMs: expect.any(Number),
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'writ' } },
  });
  expect((await server.answer(2)).result).toMatchObject({ resultType: 'complete', cacheScope: 'public' });
  expect((await server.answer(3)).result).toMatchObject({
    resultType: 'complete',
    structuredContent: { topic: 'language/rules' },
  });
  expect((await server.answer(4)).error).toMatchObject({ code: -32022, data: { supported: ['2026-07-28'] } });
  expect((await server.answer(5)).error.code).toBe(-32601);
});

test('malformed messages get errors, and the next message its answer', async () => {
  const server = startPlain(emptyFolder());
  server.write('{"jsonrpc": "2.0", "id": 1, "method"');
  expect((await server.answer(null)).error.code).toBe(-32700);
  server.write(
    '',
    '{"id": 2, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": [1]}',
    '{"jsonrpc": "2.0", "id": 4, "id": 4, "method": "ping"}',
    { id: 5, method: 'tools/destroy' },
    { id: 6, method: 'tools/call', params: { name: 'destroy' } },
    { id: 7, method: 'tools/call', params: { name: 'check', arguments: [] } },
    { id: 8, method: 'resources/read', params: { uri: 'file:///etc/passwd' } },
    { id: 9, method: 'resources/read', params: { uri: 'writ://packs/../../package.json' } },
    { id: 10, method: 'prompts/get', params: { name: 'policy-from-requirements' } },
    { id: 11, method: 'resources/list', params: { cursor: 'x' } },
    { id: 12, result: {} },
    { method: 'notifications/cancelled', params: { requestId: 99 } },
    { id: 13, method: 'ping' },
  );
  expect((await server.answer(13)).result).toEqual({});
  const codes = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(async (id) => (await server.answer(id)).error.code);
  expect(await Promise.all(codes)).toEqual([
    -32600, -32600, -32600, -32601, -32602, -32602, -32002, -32002, -32602, -32602,
  ]);
  expect(server.messages.filter(({ id }) => id === 12)).toEqual([]);
  expect(await server.end()).toBe(0);
});

test('a call before the end of the input is answered', async () => {
  const folder = emptyFolder();
  put(folder, 'a.policy', 'action a.read {}\npolicy p on a.read { allow all }\n');
  const server = startPlain(folder);
  server.write({ id: 1, method: 'tools/call', params: { name: 'check', arguments: {} } });
  expect(await server.end()).toBe(0);
  expect((await server.answer(1)).result.structuredContent).toMatchObject({ errors: 0 });
});

/** A server whose thread runs `body` for each call, as messages to its parent. */
function serverOn(body: string, timeoutMs = 20_000) {
  const script = join(mkdtempSync(join(tmpdir(), 'writ-thread-')), 'thread.mjs');
  const ready = "{ kind: 'ready', tools: [{ name: 'slow' }] }";
  writeFileSync(
    script,
    `import { parentPort as port } from 'node:worker_threads';\nport.on('message', ({ args }) => { ${body} });\nport.postMessage(${ready});`,
  );
  const tools: ToolThread = startToolThread({ timeoutMs, script: pathToFileURL(script) });
  onTestFinished(() => tools.close());
  const sent: Got[] = [];
  const server = createAuthorServer({
    tools,
    send: (message: Message) => sent.push(message),
    progressMs: 20,
  });
  const tell = (message: object) =>
    server.receive(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })));
  const call = (id: number, args: object, meta: object = {}) =>
    tell({ id, method: 'tools/call', params: { name: 'slow', arguments: args, _meta: meta } });
  return { sent, tell, call, answers: () => sent.filter(({ id }) => id !== undefined) };
}

const waitsOrAnswers =
  "if (args.ms === undefined) { port.postMessage({ kind: 'stage', stage: 'half' }); for (;;); } setTimeout(() => port.postMessage({ kind: 'result', result: { ms: args.ms } }), args.ms);";

test('a cancelled call has no answer, and the calls behind it run', async () => {
  const { call, tell, sent, answers } = serverOn(waitsOrAnswers);
  const [stuck, queued, next] = [call(1, {}), call(2, { ms: 1 }), call(3, { ms: 2 })];
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(sent).toEqual([]);
  await tell({ method: 'notifications/cancelled', params: { requestId: 2 } });
  await tell({ method: 'notifications/cancelled', params: { requestId: 1 } });
  await Promise.all([stuck, queued, next]);
  expect(answers()).toEqual([{ jsonrpc: '2.0', id: 3, result: { ms: 2 } }]);
});

test('a call that takes too long is stopped and says so; the next one runs', async () => {
  const { call, answers } = serverOn(waitsOrAnswers, 500);
  await call(1, {});
  await call(2, { ms: 3 });
  expect(answers()).toMatchObject([
    { id: 1, result: { isError: true, content: [{ text: expect.stringContaining('within 0.5 seconds') }] } },
    { id: 2, result: { ms: 3 } },
  ]);
});

test('a slow call reports its progress to a client that asks for it', async () => {
  const { call, sent } = serverOn(waitsOrAnswers);
  await Promise.all([call(1, { ms: 200 }, { progressToken: 'p' }), call(2, { ms: 100 })]);
  const reports = sent.filter(({ method }) => method === 'notifications/progress');
  expect(reports.length).toBeGreaterThan(2);
  const values = reports.map(({ params }) => params.progress);
  expect(values).toEqual(values.toSorted((a, b) => a - b));
  expect(new Set(values).size).toBe(values.length);
  expect(reports.every(({ params }) => params.progressToken === 'p')).toBe(true);
  // None after the answer.
  expect(sent.findLastIndex(({ method }) => method !== undefined)).toBeLessThan(
    sent.findIndex(({ id }) => id === 1),
  );
});

test('a thread that dies loses its call only', async () => {
  const { call, answers } = serverOn(
    "if (args.die) process.exit(3); port.postMessage({ kind: 'result', result: { ok: true } });",
  );
  await Promise.all([call(1, { die: true }), call(2, {}), call(3, { die: true }), call(4, {})]);
  expect(answers().toSorted((a, b) => a.id - b.id)).toMatchObject([
    { id: 1, result: { isError: true } },
    { id: 2, result: { ok: true } },
    { id: 3, result: { isError: true } },
    { id: 4, result: { ok: true } },
  ]);
});

test('a thread that cannot start fails each request, and the server continues', async () => {
  const tools = startToolThread({ timeoutMs: 1_000, script: new URL('file:///nowhere/thread.mjs') });
  onTestFinished(() => tools.close());
  const sent: Got[] = [];
  const server = createAuthorServer({ tools, send: (message) => sent.push(message), progressMs: 20 });
  for (const id of [1, 2])
    await server.receive(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })));
  await server.receive(Buffer.from('{"jsonrpc":"2.0","id":3,"method":"ping"}'));
  expect(sent).toMatchObject([
    { id: 1, error: { code: -32603, message: expect.stringContaining('could not be loaded') } },
    { id: 2, error: { code: -32603 } },
    { id: 3, result: {} },
  ]);
});
