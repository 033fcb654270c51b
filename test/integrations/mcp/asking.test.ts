// How the proxy calls the service: it keeps its connections, sends reports a few at a time, and acts only on
// valid answers.

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createOutcomes, fetchOnKeptConnections } from '../../../integrations/mcp/calls/authority.ts';
import type { GrantOutcome } from '../../../integrations/typescript/client.ts';

async function listen(
  answer: (response: ServerResponse) => void,
): Promise<Server & { readonly url: string }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(server, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
}

const ask = (url: string, signal = new AbortController().signal) =>
  fetchOnKeptConnections(url, { method: 'POST', headers: {}, redirect: 'error', signal, body: '"ü"' });

test('many requests share one connection', async () => {
  const server = await listen((response) => response.setHeader('X-Told', 'yes').end('"ü"'));
  const connections = vi.fn();
  server.on('connection', connections);
  for (let count = 0; count < 5; count += 1) {
    const reply = await ask(server.url);
    expect([reply.status, await reply.text(), reply.headers.get('x-told')]).toEqual([200, '"ü"', 'yes']);
    expect(reply.headers.get('x-other')).toBeNull();
  }
  expect(connections).toHaveBeenCalledOnce();
});

test.each<readonly [string, (response: ServerResponse) => void]>([
  [
    'half a body',
    (response) =>
      void response.writeHead(200, { 'content-length': 9 }).write('{"a"', () => response.destroy()),
  ],
  ['half a stream', (response) => void response.writeHead(200).write('{"a"', () => response.destroy())],
  ['nothing', (response) => response.destroy()],
  ['another address', (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
])('%s is an error', async (_what, answer) => {
  const { url } = await listen(answer);
  await expect(ask(url)).rejects.toThrow();
});

test('an aborted request stops waiting', async () => {
  const stop = new AbortController();
  const { url } = await listen(() => stop.abort(new Error('enough')));
  await expect(ask(url, stop.signal)).rejects.toThrow();
});

test('reports are sent in batches: after a short time, or as soon as there are ten', async () => {
  const sent: (readonly GrantOutcome[])[] = [];
  const report = createOutcomes({ reportAll: async (outcomes) => void sent.push(outcomes) });
  const tell = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => report({ requestId: String(from + at), isExecuted: true }));
  const first = tell(0, 3);
  expect(sent).toEqual([]);
  await Promise.all(first);
  expect(sent.map((one) => one.map(({ requestId }) => requestId))).toEqual([['0', '1', '2']]);
  const later = tell(10, 12);
  expect(sent[1]).toHaveLength(10);
  await Promise.all(later);
  expect(sent[2]?.map(({ requestId }) => requestId)).toEqual(['20', '21']);
});
