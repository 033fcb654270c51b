// What a header does that comes twice to the proxy: each header of which the proxy reads one value is refused,
// before anything is asked or begun.

import { beforeAll, expect, test } from 'vitest';
import { exchange, type Service, shareService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { type CountingServer, countingServer, listenForClients, modern, proxySettings, tool } from './rig.ts';

const shared = shareService();
let service: Service;
let server: CountingServer;
let url: URL;

beforeAll(async () => {
  service = shared();
  await usePolicies(
    service,
    'action files.read { path: string }\npolicy p on files.read { allow r when payload.path != "" }',
  );
});

const call = { name: 'read', arguments: { path: 'a' } };
const ofSession = (session: string) => ({
  message: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
  lines: { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': '2025-11-25' },
});
const alone = {
  message: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { ...call, ...modern() } },
  lines: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'read' },
};

/** Sends a message with one line for each header, and one more line; returns the whole reply. */
function send(
  message: object,
  lines: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<string> {
  const body = JSON.stringify(message);
  const head = Object.entries({
    Host: url.host,
    Authorization: `Bearer ${service.apiKey}`,
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    Accept: 'application/json, text/event-stream',
    Connection: 'close',
    ...lines,
  }).map(([name, value]) => `${name}: ${value}`);
  const text = `POST /mcp HTTP/1.1\r\n${[...head, ...more].join('\r\n')}\r\n\r\n${body}`;
  return exchange(Number(url.port), text);
}

async function begin(): Promise<string> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  };
  const reply = await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, {});
  return /mcp-session-id: (\S+)/i.exec(reply)?.[1] ?? '';
}

test('a repeated single-valued header is refused in both versions of the protocol', async () => {
  server = countingServer(tool('read'));
  url = await listenForClients(proxySettings(service, server));
  const session = await begin();
  const [inSession, stateless] = [ofSession(session), alone];
  expect(await send(inSession.message, inSession.lines)).toContain('200 OK');
  expect(await send(stateless.message, stateless.lines)).toContain('200 OK');
  const granted = server.calls().length;
  expect(granted).toBe(2);
  const cases: readonly (readonly [typeof inSession | typeof stateless, string, string])[] = [
    [inSession, 'Mcp-Session-Id', session],
    [inSession, 'MCP-Protocol-Version', '2025-11-25'],
    [stateless, 'MCP-Protocol-Version', '2026-07-28'],
    [stateless, 'Mcp-Method', 'tools/call'],
    [stateless, 'Mcp-Name', 'read'],
    ...[inSession, stateless].flatMap((era) =>
      [
        ['Authorization', `Bearer ${service.apiKey}`],
        ['Content-Type', 'application/json'],
        ['Host', url.host],
      ].map(([name = '', value = '']) => [era, name, value] as const),
    ),
  ];
  for (const [{ message, lines }, name, value] of cases)
    for (const second of [value, `${value}2`, ''])
      for (const spelling of [name, name.toLowerCase()]) {
        const reply = await send(message, lines, [`${spelling}: ${second}`]);
        expect(reply, `${name}: ${second}`).toContain('400 Bad Request');
        expect(reply).toContain(`\`${name.toLowerCase()}\` is given more than once`);
      }
  for (const name of ['Origin', 'X-On-Behalf-Of', 'Mcp-Param-Path']) {
    const value = name === 'Origin' ? 'http://localhost' : 'a.b.c';
    const reply = await send(stateless.message, stateless.lines, [`${name}: ${value}`, `${name}: ${value}`]);
    expect(reply).toContain(`\`${name.toLowerCase()}\` is given more than once`);
  }
  expect(server.calls()).toHaveLength(granted);
});

test('a list may be sent in several lines', async () => {
  server = countingServer(tool('read'));
  url = await listenForClients(proxySettings(service, server));
  const { message, lines } = alone;
  const reply = await send(message, { ...lines, Accept: 'application/json' }, ['Accept: text/event-stream']);
  expect(reply).toContain('200 OK');
  expect(server.calls()).toHaveLength(1);
});
