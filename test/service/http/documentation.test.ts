// The documentation over HTTP: everybody reads it, with the headers of the dashboard's files.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { documentationRoutes } from '../../../src/service/http/resources/dashboard/documentation.ts';
import { problemOf, shareService, temporaryDirectory } from './service.ts';

const dist = join(import.meta.dirname, '../../../src/dashboard/dist/docs');
const shared = shareService();
const html = 'text/html; charset=utf-8';

const built = (file: string): string =>
  brotliDecompressSync(readFileSync(join(dist, `${file}.br`))).toString();

const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${shared().url}${path}`, init);

test.each([
  ['/docs', 'index.html'],
  ['/docs/', 'index.html'],
  ['/docs/language', 'language.html'],
  ['/docs/service', 'service.html'],
  ['/docs/service/authorize', 'service/authorize.html'],
  ['/docs/errors', 'errors/index.html'],
  ['/docs/diagnostics/never-true', 'diagnostics/never-true.html'],
])('%s is the page %s, without a session', async (address, file) => {
  const reply = await get(address);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, html]);
  expect(await reply.text()).toBe(built(file));
  expect(reply.headers.get('cache-control')).toBe('no-cache');
  const policy = reply.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toBe((await get('/')).headers.get('content-security-policy'));
});

test('the files with a digest in their name are kept, and the texts of the search are one', async () => {
  const page = await (await get('/docs')).text();
  const [, search = ''] = /data-search="([^"]+)"/.exec(page) ?? [];
  const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(page) ?? [];
  for (const address of [search, script]) {
    const reply = await get(address);
    expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  }
  const texts = (await (await get(search)).json()) as readonly { address: string }[];
  expect(texts.some(({ address }) => address === '/docs/language#meters')).toBe(true);
});

test('pictures are sent as they are', async () => {
  const reply = await get('/docs/pictures/overview-light.png');
  expect([reply.headers.get('content-type'), reply.headers.get('content-encoding')]).toEqual([
    'image/png',
    null,
  ]);
  expect(
    Buffer.from(await reply.arrayBuffer())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
});

test.each(['br', 'gzip', 'identity'])('a page is sent as %s', async (encoding) => {
  const reply = await get('/docs/language', { headers: { 'accept-encoding': encoding } });
  expect(reply.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
  expect(await reply.text()).toBe(built('language.html'));
});

test('a browser reads that a page is missing, and a program gets a problem', async () => {
  const missing = await get('/docs/nothing', { headers: { accept: 'text/html' } });
  expect([missing.status, await missing.text()]).toEqual([404, built('404.html')]);
  for (const address of ['/docs/nothing', '/docs/../index.html', '/docs/%2e%2e/index.html', '/docs/.built'])
    expect([address, (await problemOf(await get(address))).code]).toEqual([address, 'unknown_route']);
});

test('a service without the built documentation says how it is built', async () => {
  const app = Fastify();
  app.setErrorHandler((error: Error, _request, reply) => reply.code(404).send({ detail: error.message }));
  await app.register(documentationRoutes, { folder: join(temporaryDirectory(), 'none') });
  const reply = await app.inject('/docs/language');
  expect(reply.body).toContain('npm run build');
});
