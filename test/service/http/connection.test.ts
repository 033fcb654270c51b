// What raw connections may do to the service: stop halfway, send rubbish, send rubbish behind a good request.
// Also the replies for unknown addresses and methods.

import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  allowBody,
  authorize,
  exchange,
  problemOf,
  type Service,
  shareService,
  startService,
} from './service.ts';

const shared = shareService();
const head = (service: Service, length: number, more = '') =>
  `POST /v1/authorize HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
  `X-Agent-API-Key: ${service.apiKey}\r\nContent-Length: ${length}\r\n${more}\r\n`;

const problemIn = (text: string) =>
  JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4)) as Record<string, unknown>;

test('half a body, then the end: 400', async () => {
  const service = await startService();
  const received = await exchange(service.port, head(service, 100) + allowBody, { isEnded: true });
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(problemIn(received)).toMatchObject({ type: 'urn:writ:error:incomplete_body', status: 400 });
  expect((await authorize(service)).status).toBe(200);
});

test('half a body, then silence: 408', async () => {
  const service = await startService({ requestTimeoutMs: 300 });
  const received = await exchange(service.port, head(service, 100) + allowBody);
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
  expect(problemIn(received)).toMatchObject({ type: 'urn:writ:error:request_timeout' });
});

test('half a body and a broken connection leave the service in order', async () => {
  const service = await startService();
  await new Promise<void>((resolve) => {
    const socket = connect(service.port, '127.0.0.1', () => {
      socket.write(head(service, 100) + allowBody, () =>
        setTimeout(() => resolve(void socket.resetAndDestroy()), 50),
      );
    });
  });
  expect((await authorize(service)).status).toBe(200);
  expect(service.log.filter((line) => line.includes('"level":50'))).toEqual([]);
});

test('garbage after a request does not overtake its reply', async () => {
  const service = shared();
  const received = await exchange(
    service.port,
    `${head(service, allowBody.length)}${allowBody}\0\0rubbish\r\n\r\n`,
  );
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
  expect(statuses).toEqual(['200', '400']);
  expect(received).toContain('"decision":"ALLOW"');
  expect(problemIn(received)).toMatchObject({ type: 'urn:writ:error:malformed_request' });
});

test('pipelined requests are answered in order', async () => {
  const service = shared();
  const one = `${head(service, allowBody.length)}${allowBody}`;
  const last = `${head(service, allowBody.length, 'Connection: close\r\n')}${allowBody}`;
  const received = await exchange(service.port, one + one + last);
  expect(received.match(/"decision":"ALLOW"/g)).toHaveLength(3);
});

test.each([
  ['not http at all\r\n\r\n', 400, 'malformed_request'],
  [
    'POST /v1/authorize HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
    'malformed_request',
  ],
  [`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
])('%.40j: an error reply', async (bytes, status, code) => {
  const service = shared();
  const received = await exchange(service.port, bytes);
  expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(received).toContain('content-type: application/problem+json');
  expect(problemIn(received)).toMatchObject({ type: `urn:writ:error:${code}`, status });
});

test('a request without a host is refused with a problem, except in HTTP/1.0', async () => {
  const service = shared();
  const refused = await exchange(service.port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(refused).toMatch(/^HTTP\/1\.1 400 /);
  expect(problemIn(refused)).toMatchObject({ type: 'urn:writ:error:malformed_request' });
  expect(await exchange(service.port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

test('an unknown Expect header is ignored', async () => {
  const service = shared();
  const sent = `${head(service, allowBody.length, 'Expect: more\r\nConnection: close\r\n')}${allowBody}`;
  expect(await exchange(service.port, sent)).toContain('"decision":"ALLOW"');
});

test('two keys are refused', async () => {
  const service = shared();
  const twice = `X-Agent-API-Key: ${service.apiKey}\r\nConnection: close\r\n`;
  const received = await exchange(service.port, head(service, allowBody.length, twice) + allowBody);
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(received).toContain('the header `x-agent-api-key` is given more than once');
});

describe('addresses and methods', () => {
  test.each([
    ['GET', '/nothing', 404, 'unknown_route', null],
    ['POST', '/v1/authorize/', 404, 'unknown_route', null],
    ['POST', '/V1/authorize', 404, 'unknown_route', null],
    ['GET', '/%', 400, 'malformed_request', null],
    ['GET', '/v1/authorize', 405, 'method_not_allowed', 'POST'],
    ['PUT', '/v1/authorize?x=1', 405, 'method_not_allowed', 'POST'],
    ['OPTIONS', '/v1/authorize', 405, 'method_not_allowed', 'POST'],
    ['DELETE', '/v1/requests/abc', 405, 'method_not_allowed', 'GET, HEAD'],
    ['POST', '/healthz', 405, 'method_not_allowed', 'GET, HEAD'],
    ['PROPFIND', '/healthz', 405, 'method_not_allowed', 'GET, HEAD'],
  ])('%s %s: %i %s', async (method, path, status, code, allow) => {
    const service = shared();
    const reply = await fetch(`${service.url}${path}`, {
      method,
      ...(method === 'PUT' ? { body: 'x' } : {}),
    });
    const problem = await problemOf(reply);
    expect(problem).toMatchObject({ status, code });
    expect(reply.headers.get('allow')).toBe(allow);
    expect(reply.headers.get('x-request-id')).toBe(problem.body.instance);
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });

  test('every problem has the fields of RFC 9457 and no others', async () => {
    const service = shared();
    const { body } = await problemOf(await fetch(`${service.url}/nowhere`));
    expect(body).toEqual({
      type: 'urn:writ:error:unknown_route',
      title: 'Unknown address',
      status: 404,
      detail: expect.any(String),
      instance: expect.any(String),
    });
  });
});
