// POST /plants: ids over all 64 bits, and an error format of its own.

import { describe, expect, test } from 'vitest';
import { exchange, type Service, sandboxToken, shareService, startService } from './service.ts';

const shared = shareService();

interface SentPlant {
  readonly token?: string | null;
  readonly type?: string;
  readonly method?: string;
}

function send(
  service: Service,
  body: string | Uint8Array<ArrayBuffer>,
  sent: SentPlant = {},
): Promise<Response> {
  const { token = `Bearer ${sandboxToken}`, type = 'application/json', method = 'POST' } = sent;
  return fetch(`${service.url}/plants`, {
    method,
    headers: { 'content-type': type, ...(token === null ? {} : { authorization: token }) },
    ...(method === 'GET' ? {} : { body }),
  });
}

async function expectError(reply: Response, status: number): Promise<void> {
  expect(reply.status).toBe(status);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await reply.json()).toEqual({ error: status, message: expect.any(String) });
}

test.each([
  ['{"id":101,"name":"Fern","tag":"green"}', { name: 'Fern', tag: 'green' }, 101n],
  ['{"id":9223372036854775807,"name":"Max"}', { name: 'Max' }, 9223372036854775807n],
  ['{"id":-9223372036854775808,"name":"Min"}', { name: 'Min' }, -9223372036854775808n],
  [
    '{"id":9007199254740993,"name":"Beyond a double","tag":""}',
    { name: 'Beyond a double', tag: '' },
    9007199254740993n,
  ],
  ['{"id":-0,"name":"Zero"}', { name: 'Zero' }, 0n],
  ['{"name":"","id":7,"more":{"id":1.5}}', { name: '' }, 7n],
])('%s is stored', async (body, plant, id) => {
  const service = shared();
  const reply = await send(service, body);
  expect(reply.status).toBe(200);
  expect(await reply.json()).toEqual(plant);
  expect(await service.store.plants.find(id)).toMatchObject({ id, name: plant.name });
});

test('a used id: 400; its neighbour beyond 2^53 is another plant', async () => {
  const service = await startService();
  expect((await send(service, '{"id":9007199254740992,"name":"a"}')).status).toBe(200);
  expect((await send(service, '{"id":9007199254740993,"name":"b"}')).status).toBe(200);
  await expectError(await send(service, '{"id":9007199254740993,"name":"c"}'), 400);
  expect(await service.store.plants.find(9007199254740993n)).toMatchObject({ name: 'b' });
});

test.each([
  [''],
  ['{'],
  ['[]'],
  ['null'],
  ['7'],
  ['{"name":"x"}'],
  ['{"id":1}'],
  ['{"id":null,"name":"x"}'],
  ['{"id":"1","name":"x"}'],
  ['{"id":{"text":"1"},"name":"x"}'],
  ['{"id":1.5,"name":"x"}'],
  ['{"id":1e3,"name":"x"}'],
  ['{"id":9223372036854775808,"name":"x"}'],
  ['{"id":-9223372036854775809,"name":"x"}'],
  ['{"id":99999999999999999999999,"name":"x"}'],
  ['{"id":1,"name":7}'],
  ['{"id":1,"name":null}'],
  ['{"id":1,"name":"\\ud800"}'],
  ['{"id":1,"name":"x","tag":null}'],
  ['{"id":1,"name":"x","tag":3}'],
  ['{"id":1,"name":"x\\u0000"}'],
  [`{"id":1,"name":"x","deep":${'['.repeat(100_000)}`],
  [`{"id":1,"name":"${'x'.repeat(300_000)}"}`],
])('%.60s: 400', async (body) => {
  const service = shared();
  await expectError(await send(service, body), 400);
  expect(await service.store.plants.find(1n)).toBeNull();
});

test('bytes that are not UTF-8, and another content type: 400', async () => {
  const service = shared();
  await expectError(await send(service, Uint8Array.from([0x7b, 0xff, 0x7d])), 400);
  await expectError(await send(service, '{"id":1,"name":"x"}', { type: 'text/plain' }), 400);
  await expectError(await send(service, '{"id":1,"name":"x"}', { type: 'nonsense' }), 400);
});

describe('without a good token: 401, whatever the body', () => {
  test.each([
    null,
    '',
    'Bearer',
    'Bearer wrong',
    `Basic ${sandboxToken}`,
    sandboxToken,
    `Bearer ${sandboxToken} x`,
  ])('%j', async (token) => {
    const service = shared();
    const reply = await send(service, '{', { token });
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    await expectError(reply, 401);
  });
});

test('the scheme may be written in lower case', async () => {
  const service = shared();
  expect((await send(service, '{"id":102,"name":"x"}', { token: `bearer ${sandboxToken}` })).status).toBe(
    200,
  );
});

test.each(['GET', 'PUT', 'DELETE'])('%s: 405 with Allow', async (method) => {
  const service = shared();
  const reply = await send(service, '', { method });
  expect(reply.headers.get('allow')).toBe('POST');
  await expectError(reply, 405);
});

test('a request without a host: 400 in this shape', async () => {
  const service = shared();
  const sent = 'POST /plants HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
  const received = await exchange(service.port, sent);
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(received).toContain('{"error":400,"message":');
});

test('a store that fails: 500 without its words', async () => {
  const service = await startService();
  await service.store.close();
  const reply = await send(service, '{"id":1,"name":"x"}');
  expect(await reply.clone().text()).not.toMatch(/store is|closed|\//);
  await expectError(reply, 500);
});
