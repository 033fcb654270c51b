// Real clients and servers with the proxy between them: results with the proxy equal those without it, and
// over HTTP each client is an agent of its own.

import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Connection, MultiServerMCPClient } from '@langchain/mcp-adapters';
import {
  Client as LaterClient,
  StreamableHTTPClientTransport as LaterHttp,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as LaterStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { openServer, type ProxySettings } from '../../../integrations/mcp/proxy.ts';
import { declareTools } from '../../../integrations/mcp/review/declarations.ts';
import { readServer } from '../../../integrations/mcp/review/live-server.ts';
import { shareService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { third } from '../../support/tries.ts';
import { type RealServer, realCalls, realServer, resetState, taskTools, timeless } from './real-servers.ts';
import { countingServer, type Got, listenForClients, modern, proxySettings, tool } from './rig.ts';

const service = shareService();
const info = { name: 'test', version: '1' };
/** Policies that grant everything the server can do. */
async function allowAll(as: string, server: ProxySettings['server']): Promise<void> {
  const live = await readServer(
    openServer(server, () => undefined),
    [],
  );
  const { text } = declareTools(live.tools, { as, isOpen: true });
  const keys = live.tools.map(({ name }) => JSON.stringify(`${as}.${String(name)}`));
  const others = ['resources.read', 'prompts.get', 'completion.complete'].map((key) => `${as}.${key}`);
  const rule = 'allow any_of_it when agent.name != "nobody"';
  await usePolicies(
    service(),
    `${text}\naction ${others.join(', ')} { ... }\npolicy p on ${[...keys, ...others].join(', ')} { ${rule} }`,
  );
}

const withServer = (server: ProxySettings['server'], changes: Partial<ProxySettings> = {}) =>
  proxySettings(service(), countingServer(), { as: 'it', server, ...changes });

const bearer = () => ({ requestInit: { headers: { authorization: `Bearer ${service().apiKey}` } } });

describe.each(third(['filesystem', 'memory', 'everything']))('%s', (name) => {
  test('sends each client the same messages through the proxy as without it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
    const place = realServer(name, folder);
    const calls = realCalls(name, folder);
    await allowAll('it', place);
    const url = await listenForClients(withServer(place));
    const [command = '', ...args] = place.command;
    const env = place.environment as Record<string, string>;
    const direct = { command, args, env, stderr: 'ignore' as const };
    const proxied = { ...direct, args: proxyArgs(place), env: { ...env, WRIT_API_KEY: service().apiKey } };
    const later = (mode: Got) => new LaterClient(info, mode === null ? {} : { versionNegotiation: { mode } });
    const clients: readonly (readonly [Got, Got])[] = [
      [new Client(info), new StdioClientTransport(direct)],
      ...(name === 'everything' ? [[new Client(info), new StdioClientTransport(proxied)] as const] : []),
      [new Client(info), new StreamableHTTPClientTransport(url, bearer())],
      [later(null), new LaterHttp(url, bearer())],
      [later('auto'), new LaterHttp(url, bearer())],
    ];
    const said: string[] = [];
    for (const [client, transport] of clients) {
      resetState(folder);
      await client.connect(transport);
      const names = (await client.listTools()).tools.map(({ name: one }: Got) => one);
      const called = new Set(calls.map(([one]) => one));
      expect(names.filter((one: string) => !called.has(one) && !taskTools.has(one))).toEqual([]);
      const results = [];
      for (const [one, given] of calls) {
        results.push(await client.callTool({ name: one, arguments: given }));
      }
      said.push(timeless(JSON.stringify([names, results], null, 1)));
      await client.close();
    }
    for (const one of said) expect(one).toBe(said[0]);

    const { headers } = bearer().requestInit;
    const frameworks: readonly Connection[] = [
      { transport: 'stdio', command, args, env, stderr: 'ignore' },
      { transport: 'http', url: String(url), headers },
    ];
    const told: string[] = [];
    for (const connection of frameworks) {
      resetState(folder);
      const client = new MultiServerMCPClient({ mcpServers: { it: connection } });
      const tools = await client.getTools();
      const results = [];
      for (const [one, given] of calls) {
        const tool = tools.find(({ name: known }) => known === one);
        results.push(await tool?.invoke(given).catch(({ message }: Error) => ({ message })));
      }
      told.push(timeless(JSON.stringify([tools.map(({ name: one }) => one), results])));
      await client.close();
    }
    expect(told[1]).toBe(told[0]);
  });
});

test('the inspector reports the same about a call through the proxy as without it', async () => {
  const place = realServer('everything', mkdtempSync(join(tmpdir(), 'mcp-')));
  await allowAll('it', place);
  const url = await listenForClients(withServer(place));
  const call = [
    '--method',
    'tools/call',
    '--tool-name',
    'get-structured-content',
    '--tool-arg',
    'location=Chicago',
  ];
  const inspect = async (...target: readonly string[]) => {
    const file = join(
      import.meta.dirname,
      '../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    );
    const { stdout } = await promisify(execFile)(process.execPath, [file, '--cli', ...target, ...call], {
      env: { ...process.env, HOME: mkdtempSync(join(tmpdir(), 'inspector-')) },
    });
    return stdout.slice(stdout.indexOf('{'));
  };
  const direct = await inspect(...place.command);
  expect(direct).toContain('structuredContent');
  const { authorization } = bearer().requestInit.headers;
  expect(
    await inspect(String(url), '--transport', 'http', '--header', `Authorization: ${authorization}`),
  ).toBe(direct);
});

/** Arguments of the proxy command in front of a server. */
function proxyArgs({ command }: RealServer): string[] {
  return ['src/cli/writ.js', 'mcp', '--as', 'it', '--service', service().url, '--', ...command];
}

test('a client that supports only the stateless protocol reaches such a server over both transports', async () => {
  const fixture = resolve('test/integrations/mcp/later-server.ts');
  const place: RealServer = {
    kind: 'command',
    command: [process.execPath, fixture],
    environment: process.env,
  };
  await allowAll('it', place);
  const url = await listenForClients(withServer(place));
  const env = { ...(process.env as Record<string, string>), WRIT_API_KEY: service().apiKey };
  const pinned = () => new LaterClient(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  for (const transport of [
    new LaterHttp(url, bearer()),
    new LaterStdio({ command: process.execPath, args: proxyArgs(place), env, stderr: 'ignore' }),
  ]) {
    const client = pinned();
    await client.connect(transport);
    expect(client.getProtocolEra()).toBe('modern');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['forecast']);
    const { content } = await client.callTool({ name: 'forecast', arguments: { city: 'Bonn' } });
    expect(content).toEqual([{ type: 'text', text: 'Bonn: sunny' }]);
    await client.close();
  }
});

describe('over HTTP', () => {
  const policies =
    'action files.read { path: path }\npolicy p on files.read { allow within_it when payload.path inside "/a" }';
  const headers = (more: object = {}) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${service().apiKey}`,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'read',
    ...more,
  });
  const schema = { type: 'object', properties: { path: { type: 'string', 'x-mcp-header': 'Path' } } };
  const body = (name = 'read', path = '/a/b') =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: { path }, ...modern() },
    });

  /** The service reads changed policies only after a quiet moment, which takes a while. */
  let ready: Promise<void> | null = null;

  async function opened(sharedKey: string | null = null) {
    ready ??= usePolicies(service(), policies);
    await ready;
    const server = countingServer(tool('read', { inputSchema: schema }));
    const url = await listenForClients(proxySettings(service(), server), sharedKey);
    const post = async (sent: object, text = body()) => {
      const reply = await fetch(url, {
        method: 'POST',
        headers: headers(sent) as Record<string, string>,
        body: text,
      });
      return { status: reply.status, body: (await reply.json()) as Got };
    };
    return { server, url, post };
  }

  test('a message is accepted if its headers match it', async () => {
    const { server, post } = await opened();
    expect(await post({})).toMatchObject({ status: 200, body: { result: { resultType: 'complete' } } });
    expect(await post({}, body('read', '/b'))).toMatchObject({
      status: 200,
      body: { result: { isError: true } },
    });
    expect(server.calls()).toHaveLength(1);
    const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: modern() });
    expect((await post({ 'mcp-method': 'tools/list', 'mcp-name': undefined }, list)).status).toBe(400);
  });

  test.each([
    ['another tool', { 'mcp-name': 'write' }, -32020],
    ['another method', { 'mcp-method': 'tools/list' }, -32020],
    ['another version', { 'mcp-protocol-version': '2027-01-01' }, -32020],
    ['a page elsewhere', { origin: 'https://evil.example' }, -32600],
    ['no key', { authorization: 'Bearer x' }, -32600],
    ['no JSON', { 'content-type': 'text/plain' }, -32600],
  ])('%s in a header reaches nobody', async (_what, sent, code) => {
    const { server, post } = await opened();
    const reply = await post(sent);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.body.error.code).toBe(code);
    expect(server.calls()).toEqual([]);
  });

  test('a session accepts only the key that began it', async () => {
    const { url } = await opened('writ_shared');
    const send = (key: string | null, message: object, session: string | null = null) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(session === null ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info };
    const begun = await send(service().apiKey, { method: 'initialize', params });
    const session = begun.headers.get('mcp-session-id');
    expect((await send(service().apiKey, { method: 'ping' }, session)).status).toBe(200);
    expect((await send('writ_other', { method: 'ping' }, session)).status).toBe(404);
    expect((await send(null, { method: 'ping' }, session)).status).toBe(404);
    expect((await send(service().apiKey, { method: 'ping' })).status).toBe(400);
  });

  test('a server over HTTP is reached through the proxy of both transports', async () => {
    const { url } = await opened();
    const { authorization } = headers();
    const place = { kind: 'url' as const, url, headers: { authorization } };
    const twice = await listenForClients(proxySettings(service(), countingServer(), { server: place }));
    for (const [client, transport] of [
      [new Client(info), new StreamableHTTPClientTransport(twice, bearer())],
      [new LaterClient(info, { versionNegotiation: { mode: 'auto' } }), new LaterHttp(twice, bearer())],
    ] as readonly (readonly [Got, Got])[]) {
      await client.connect(transport);
      expect((await client.listTools()).tools).toHaveLength(1);
      const { content } = await client.callTool({ name: 'read', arguments: { path: '/a/ü' } });
      expect(JSON.parse(content[0].text).args).toEqual({ path: '/a/ü' });
      expect((await client.callTool({ name: 'read', arguments: { path: '/b' } })).isError).toBe(true);
      await client.close();
    }
  });
});
