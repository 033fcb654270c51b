// The dashboard's files over HTTP: which files there are, how they may be cached and compressed, and what the
// page may do.

import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { dashboardRoutes } from '../../../src/service/http/resources/dashboard/dashboard.ts';
import { exchange, problemOf, shareService, temporaryDirectory } from './service.ts';

const dist = join(import.meta.dirname, '../../../src/dashboard/dist');
const shared = shareService();
const index = readFileSync(join(dist, 'index.html'), 'utf8');
const assets = readdirSync(join(dist, 'assets')).filter((name) => !name.endsWith('.br'));
const script = assets.find((name) => /^main-.*\.js$/.test(name)) ?? 'there is none';

const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${shared().url}${path}`, init);

describe('the page', () => {
  test.each([
    '/',
    '/overview',
    '/requests',
    '/requests/01a2',
    '/approvals',
    '/approvals/01a2',
    '/agents',
    '/agents/new',
    '/policies',
    '/policies/file?path=a.policy',
    '/diff',
    '/playground',
    '/proposals',
    '/proposals/:id',
    '/enforcement-points',
    '/alerts',
    '/access',
    '/audit',
    '/account',
    '/welcome',
    '/setup',
    '/invitation',
    '/reset',
    '/apply',
  ])('stands at %s', async (address) => {
    const reply = await get(address);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await reply.text()).toBe(index);
  });

  test('is served at each address of the dashboard', () => {
    const known = readFileSync(join(dist, '../pages.ts'), 'utf8').matchAll(/pattern: '(.*?)'/g);
    const served = readFileSync(
      join(import.meta.dirname, '../../../src/service/http/resources/dashboard/dashboard.ts'),
      'utf8',
    );
    const missing = [...known]
      .map(([, pattern = '']) => pattern)
      // The pattern of a single agent also covers `/agents/new`.
      .filter((pattern) => !served.includes(`'${pattern}'`) && pattern !== '/agents/new');
    expect(missing).toEqual([]);
  });

  test('an unknown address is a page for browsers, and a problem for programs', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await get('/approvalz', { headers });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect([page.headers.get('cache-control'), await page.text()]).toEqual(['no-cache', index]);
    for (const reply of [
      get('/approvalz'),
      get('/v1/approvalz', { headers }),
      get('/assets/none.js', { headers }),
      get('/approvalz', { method: 'POST', headers }),
    ]) {
      expect((await problemOf(await reply)).code).toBe('unknown_route');
    }
    expect((await problemOf(await get('/v1/authorize', { headers }))).code).toBe('method_not_allowed');
  });

  test('runs only scripts of the service, and cannot be framed', async () => {
    const { headers } = await get('/');
    const policy = new Map(
      (headers.get('content-security-policy') ?? '').split('; ').map((part) => {
        const [name = '', ...values] = part.split(' ');
        return [name, values.join(' ')];
      }),
    );
    expect(Object.fromEntries(policy)).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'frame-ancestors': "'none'",
      'form-action': "'self'",
      'require-trusted-types-for': "'script'",
    });
    expect([...policy.values()].join(' ')).not.toMatch(/unsafe|\*|https?:/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });

  test('contains nothing that its content security policy blocks', () => {
    expect(index).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
    expect(
      [...index.matchAll(/<script([^>]*)>([^<]*)</g)].every(
        ([, given = '', text]) => /src="\//.test(given) && text === '',
      ),
    ).toBe(true);
    expect(index).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });
});

describe('a file', () => {
  test('with a digest in its name is cached for good, and others are revalidated each time', async () => {
    for (const name of assets) {
      const { status, headers } = await get(`/assets/${name}`);
      expect([name, status, headers.get('cache-control')]).toEqual([
        name,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    }
    for (const name of ['/', '/theme-early.js', '/icon.svg']) {
      expect((await get(name)).headers.get('cache-control')).toBe('no-cache');
    }
  });

  test.each([
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
    ['br;q=0.0', null],
    ['brotli', null],
    ['', null],
  ])('is packed as the client takes it: %s', async (accepted, expected) => {
    const raw = await exchange(
      shared().port,
      `GET /assets/${script} HTTP/1.1\r\nhost: a\r\nconnection: close\r\naccept-encoding: ${accepted}\r\n\r\n`,
    );
    const [head = '', ...rest] = raw.split('\r\n\r\n');
    const body = Buffer.from(rest.join('\r\n\r\n'), 'latin1');
    const bytes = readFileSync(join(dist, 'assets', script));
    expect(/content-encoding: (\S+)/i.exec(head)?.[1] ?? null).toBe(expected);
    expect(head).toMatch(/vary: accept-encoding/i);
    expect(Number(/content-length: (\d+)/i.exec(head)?.[1])).toBe(body.length);
    const unpacked =
      expected === 'br' ? brotliDecompressSync(body) : expected === 'gzip' ? gunzipSync(body) : body;
    expect(unpacked.equals(bytes)).toBe(true);
    expect(body.length <= bytes.length).toBe(true);
  });

  test('answers HEAD as GET, without a body', async () => {
    const { status, headers, body } = await get(`/assets/${script}`, { method: 'HEAD' });
    expect([status, headers.get('content-type'), body]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      null,
    ]);
    expect((await get('/overview', { method: 'HEAD' })).status).toBe(200);
  });

  test('that the build did not make is not served, nor build files that browsers do not need', async () => {
    for (const path of [
      '/assets/other.js',
      '/assets/',
      '/index.html.br',
      '/manifest.json',
      '/.built',
      `/assets/${script}.br`,
    ]) {
      expect([path, (await problemOf(await get(path))).code]).toEqual([path, 'unknown_route']);
    }
    expect((await get('/overview', { method: 'POST' })).status).toBe(405);
  });

  test.each([
    '/assets/../../package.json',
    '/../package.json',
    '/assets/..%2f..%2fbuild.ts',
    '/assets/%2e%2e/%2e%2e/build.ts',
    '/assets/..\\..\\build.ts',
    '//etc/passwd',
    '/assets/%00',
  ])('outside of the build is reached by no path: %s', async (path) => {
    const reply = await exchange(
      shared().port,
      `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    );
    expect(reply).toMatch(/^HTTP\/1\.1 (400|404) /);
    expect(reply).not.toMatch(/devDependencies|node:fs|root:/);
  });
});

test.each([
  ['has not been built', []],
  ['is there in part', ['index.html']],
])('where the dashboard %s its addresses say what to do, and the service runs', async (_, names) => {
  const folder = temporaryDirectory();
  for (const name of names) copyFileSync(join(dist, name), join(folder, name));
  const app = Fastify();
  app.setErrorHandler<Error>((error, _, reply) => reply.code(404).send(error.message));
  await app.register(dashboardRoutes, { folder: names.length === 0 ? join(folder, 'none') : folder });
  const reply = await app.inject('/overview');
  expect([reply.statusCode, reply.body]).toEqual([404, expect.stringContaining('npm run build')]);
  await app.close();
});

test('while the dashboard is being built, its addresses say so', async () => {
  const folder = join(temporaryDirectory(), 'dist');
  const building = join(folder, `../.dist-${process.pid}`);
  mkdirSync(building);
  const app = Fastify();
  await app.register(dashboardRoutes, { folder });
  const page = () => app.inject({ url: '/overview', headers: { accept: 'text/html' } });
  const waiting = await page();
  expect([waiting.statusCode, waiting.headers['retry-after'], waiting.headers['cache-control']]).toEqual([
    503,
    '1',
    'no-store',
  ]);
  expect(waiting.body).toContain('The dashboard is being built');
  expect(waiting.body).toContain('<meta http-equiv="refresh" content="1">');
  cpSync(dist, folder, { recursive: true });
  const built = await page();
  expect([built.statusCode, built.body]).toEqual([200, index]);
  expect((await app.inject(`/assets/${script}`)).statusCode).toBe(200);
  await app.close();
});
