// Attempts to deliver to real receivers, and the addresses that are never called.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../src/service/webhooks/public-address.ts';
import { type Attempt, send } from '../../../src/service/webhooks/send.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function receiver(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return (server.address() as AddressInfo).port;
}

function attempt(url: string, more: Partial<Attempt> = {}): Attempt {
  return {
    url,
    headers: { 'webhook-id': 'm1' },
    body: '{"naïve":true}',
    timeoutMs: 2_000,
    arePrivateAddressesAllowed: true,
    ...more,
  };
}

describe('an attempt', () => {
  it('posts the bytes that were signed', async () => {
    const seen: { method: string | undefined; body: string; id: unknown }[] = [];
    const port = await receiver(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      seen.push({ method: request.method, body, id: request.headers['webhook-id'] });
      response.writeHead(204).end();
    });
    expect(await send(attempt(`http://127.0.0.1:${port}/hook`))).toEqual({ kind: 'delivered', status: 204 });
    expect(seen).toEqual([{ method: 'POST', body: '{"naïve":true}', id: 'm1' }]);
  });

  it('fails for any other answer, and follows no redirect', async () => {
    let calls = 0;
    const port = await receiver((_request, response) => {
      calls++;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await send(attempt(`http://127.0.0.1:${port}/`))).toMatchObject({ kind: 'failed', status: 302 });
    expect(calls).toBe(1);
  });

  it('waits no longer than it may, for headers that never come', async () => {
    const port = await receiver(() => undefined);
    const result = await send(attempt(`http://127.0.0.1:${port}/`, { timeoutMs: 50 }));
    expect(result).toEqual({ kind: 'failed', status: null, reason: 'no answer in time' });
  });

  it('does not read an answer without end', async () => {
    const port = await receiver((_request, response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write('x'.repeat(1_000)), 1);
      response.on('close', () => clearInterval(more));
    });
    expect(await send(attempt(`http://127.0.0.1:${port}/`))).toEqual({ kind: 'delivered', status: 200 });
  });

  it('fails if no server listens', async () => {
    const port = await receiver(() => undefined);
    for (const server of servers.splice(0)) await new Promise((closed) => server.close(closed));
    expect(await send(attempt(`http://127.0.0.1:${port}/`))).toMatchObject({ reason: 'ECONNREFUSED' });
  });

  it.each([
    'http://example.com/',
    'https://user@example.com/',
    'ftp://example.com/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/',
    'not a url',
  ])('is not made to %s', async (url) => {
    const result = await send(attempt(url, { arePrivateAddressesAllowed: false, timeoutMs: 500 }));
    expect(result).toMatchObject({ kind: 'failed', status: null });
    expect((result as { reason: string }).reason).not.toBe('ECONNREFUSED');
  });

  it('is not made to a name that resolves to this machine, although a server listens', async () => {
    let calls = 0;
    const port = await receiver((_request, response) => {
      calls++;
      response.end();
    });
    const result = await send(attempt(`https://localhost:${port}/`, { arePrivateAddressesAllowed: false }));
    expect(result).toEqual({
      kind: 'failed',
      status: null,
      reason: 'localhost is not an address of the public Internet',
    });
    expect(calls).toBe(0);
  });
});

describe('a public address', () => {
  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::1'])('is %s', (text) => {
    expect(isPublicAddress(text)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'ff02::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '4000::1',
    'localhost',
    '',
  ])('is not %j', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});
