// What a header does that comes twice: each header that the service reads is refused, or has a defined meaning.

import { expect, test } from 'vitest';
import { repeatedHeader } from '../../../src/service/http/connection/repeated-headers.ts';
import { firstAdmin, signedIn } from './person-client.ts';
import { exchange, type Service, startService } from './service.ts';

const body = '{"action_key":"demo.allow","payload":{}}';

const portOf = ({ url }: Service) => Number(new URL(url).port);

/** Sends one request with the given lines beside those that it needs; returns status, headers and body. */
async function sent(
  service: Service,
  lines: readonly string[],
  { path = '/v1/authorize', method = 'POST' } = {},
) {
  const own: readonly string[] = [
    'Host: localhost',
    ...(method === 'POST' ? [`X-Agent-API-Key: ${service.apiKey}`] : []),
    'Content-Type: application/json',
    `Content-Length: ${method === 'POST' ? body.length : 0}`,
    'Connection: close',
  ];
  const names = new Set(lines.map(nameOf));
  const head = [...own.filter((line) => !names.has(nameOf(line))), ...lines];
  const text = `${method} ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${method === 'POST' ? body : ''}`;
  const reply = await exchange(portOf(service), text);
  return { status: Number(reply.slice(9, 12)), reply, body: JSON.parse(reply.slice(reply.indexOf('{'))) };
}

const nameOf = (line: string) => line.slice(0, line.indexOf(':')).toLowerCase();

const good: Readonly<Record<string, (service: Service) => string>> = {
  'X-Agent-API-Key': ({ apiKey }) => apiKey,
  'X-Service-Signature': () => 't=1,n=abcdefgh,v1=00',
  'Idempotency-Key': () => 'k1',
  'X-Agent-Session': () => 's1',
  'X-Writ-Agent': ({ agent }) => agent.name,
  'X-On-Behalf-Of': () => 'a.b.c',
  Authorization: ({ apiKey }) => `Bearer ${apiKey}`,
  'Content-Type': () => 'application/json',
  'Content-Encoding': () => 'identity',
  'Content-Length': () => String(body.length),
  Host: () => 'localhost',
  Origin: () => 'http://localhost',
  'X-CSRF-Token': () => 'token',
};

test.each(Object.keys(good))('%s is refused, with the same value and with another', async (name) => {
  const service = await startService();
  const value = good[name]!(service);
  for (const second of [value, `${value}2`, '']) {
    for (const spelling of [name, name.toLowerCase()]) {
      const { status, reply } = await sent(service, [`${name}: ${value}`, `${spelling}: ${second}`]);
      expect(status, second).toBe(400);
      expect(reply).not.toContain('ALLOW');
      if (name !== 'Content-Length')
        expect(reply).toContain(`\`${name.toLowerCase()}\` is given more than once`);
    }
  }
  const { store, agent } = service;
  expect(await store.requests.countOpen(agent.id, Date.now())).toBe(0);
});

test('a list may be sent in several lines, and is read in their order', async () => {
  const service = await startService();
  const first = await sent(service, ['Prefer: wait=0', 'Prefer: receipt=one', 'Prefer: receipt=two']);
  expect(first.body.decision).toBe('ALLOW');
  const receipt = /writ-receipt: (\S+)/i.exec(first.reply)?.[1] ?? '';
  expect(JSON.parse(Buffer.from(receipt.split('.')[1]!, 'base64url').toString()).aud).toBe('one');
});

test('a repeated id or trace header is ignored', async () => {
  const service = await startService();
  const trace = `traceparent: 00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const { reply, body: view } = await sent(service, ['X-Request-ID: one', 'X-Request-ID: two', trace, trace]);
  expect(view.decision).toBe('ALLOW');
  expect(/x-request-id: (\S+)/i.exec(reply)?.[1]).toBe(view.request_id);
});

test('X-Forwarded-For in two lines is one list, in which only trusted proxies count', async () => {
  const lines = ['X-Forwarded-For: 203.0.113.9', 'X-Forwarded-For: 198.51.100.7'];
  const addressIn = async (service: Service) => {
    const { request_id: id } = (await sent(service, lines)).body;
    return JSON.parse((await service.store.requests.find(id))!.recordJson).clientAddress;
  };
  expect(await addressIn(await startService())).toBe('127.0.0.1');
  const proxied = await startService({ trustedProxies: ['127.0.0.1/32'] });
  expect(await addressIn(proxied)).toBe('198.51.100.7');
});

test('cookies in two lines are one list, and a repeated session cookie is ignored', async () => {
  const service = await startService();
  await firstAdmin(service);
  const ann = await signedIn(service, 'ann@example.com');
  expect((await ann.send('/v1/requests')).status).toBe(200);
  const { cookie = '' } = ann.headers;
  const look = { path: '/v1/requests', method: 'GET' };
  const status = async (lines: readonly string[]) => (await sent(service, lines, look)).status;
  expect(await status([`Cookie: ${cookie}`, 'Cookie: theme=dark'])).toBe(200);
  expect(await status([`Cookie: ${cookie}`, `Cookie: ${cookie}`])).toBe(401);
});

test('a repeated header that nothing reads is accepted', () => {
  const found = (...names: readonly string[]) =>
    repeatedHeader({
      rawHeaders: names.flatMap((name) => [name, 'x']),
      headers: Object.fromEntries(names.map((name) => [name.toLowerCase(), 'x'])),
    });
  expect(found('Accept', 'accept', 'Via', 'Via')).toBeNull();
  expect(found('Via', 'Idempotency-Key', 'IDEMPOTENCY-KEY')).toBe('idempotency-key');
  expect(found('__proto__', '__proto__', 'Host')).toBeNull();
});
