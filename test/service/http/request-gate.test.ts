// A connection and its requests: they are answered in order and take turns, no more of them are read than
// fit, and a connection that reads nothing is cut.

import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { authorize, exchange, shareService, startService } from './service.ts';

const shared = shareService();

describe('a connection', () => {
  test('gets its replies in order, however many requests are pipelined', async () => {
    const service = shared();
    const count = 3_000;
    const last = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const received = await exchange(
      service.port,
      'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count) + last,
    );
    expect(received.match(/HTTP\/1\.1 200 /g)).toHaveLength(count + 1);
  });

  test('with decisions and other requests in turns gets the reply of each', async () => {
    const service = shared();
    const body = (text: string) => `{"action_key":"demo.${text}","payload":{"note":"${'x'.repeat(3_000)}"}}`;
    const decision = (verb: string) =>
      `POST /v1/authorize HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Agent-API-Key: ${service.apiKey}\r\n` +
      `Content-Length: ${body(verb).length}\r\n\r\n${body(verb)}`;
    const verbs = Array.from({ length: 120 }, (_, at) => (at % 3 === 0 ? 'deny' : 'allow'));
    const text = verbs.map(
      (verb, at) => (at % 7 === 0 ? 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n' : '') + decision(verb),
    );
    const received = await exchange(
      service.port,
      `${text.join('')}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    const decisions = [...received.matchAll(/"decision":"(\w+)"/g)].map(([, decision]) =>
      decision?.toLowerCase(),
    );
    expect(decisions).toEqual(verbs);
    expect(received.match(/"status":"ok"/g)).toHaveLength(Math.ceil(120 / 7) + 1);
  });

  test('that does not read its replies is closed', async () => {
    const service = await startService({ requestTimeoutMs: 400 });
    const socket = connect({ port: service.port, host: '127.0.0.1' });
    onTestFinished(() => void socket.destroy());
    socket.pause();
    const closed = new Promise((resolve) => socket.once('error', resolve).once('close', resolve));
    const text = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200);
    const push = () => void socket.write(text, () => setTimeout(push, 50));
    push();
    await closed;
  });

  test('over the limit takes the place of an idle one, else gets 503', async () => {
    const service = await startService({ connectionsMax: 3 });
    const idle = await Promise.all(
      [1, 2, 3].map(async () => {
        const socket = connect({ port: service.port, host: '127.0.0.1' });
        onTestFinished(() => void socket.destroy());
        await once(socket, 'connect');
        return socket.on('error', () => undefined).resume();
      }),
    );
    const closed = once(idle[0]!, 'close');
    const last = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect(await exchange(service.port, last)).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
    // All connections are busy: each has asked for something that people have to decide.
    const body = '{"action_key":"demo.escalate","payload":{}}';
    const head = `POST /v1/authorize HTTP/1.1\r\nHost: x\r\nPrefer: wait=50\r\nExpect: 100-continue\r\nX-Agent-API-Key: ${service.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const busy = [idle[1]!, idle[2]!, connect({ port: service.port, host: '127.0.0.1' })];
    onTestFinished(() => void busy[2]?.destroy());
    // The service has read the headers once it answers `100 Continue`.
    await Promise.all(
      busy.map(async (socket) => {
        socket.on('error', () => undefined).write(head);
        await once(socket, 'data');
        socket.write(body);
      }),
    );
    await vi.waitFor(async () => {
      const refused = await exchange(service.port, last);
      expect(refused).toMatch(/^HTTP\/1\.1 503 /);
      expect(refused).toContain('urn:writ:error:too_many_connections');
      expect(refused).toMatch(/retry-after: 1/i);
    }, 60_000);
    busy[0]?.destroy();
    await vi.waitFor(async () => expect((await authorize(service)).status).toBe(200), 60_000);
  });

  test.each([
    [
      'sends a part of a request',
      () => 'POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n{',
    ],
    [
      'is refused, and sends a part of a body',
      () => 'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n{',
    ],
    ['reads no reply', () => 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100)],
  ])('whose client %s makes room for others when all are taken', async (_, text) => {
    const service = await startService({ connectionsMax: 3 });
    const sockets = [1, 2, 3].map(() => {
      const socket = connect({ port: service.port, host: '127.0.0.1' });
      onTestFinished(() => void socket.destroy());
      socket
        .pause()
        .on('error', () => undefined)
        .write(text());
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const last = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    // The service frees a connection after a second or two, which is how long a client may be slow.
    await vi.waitFor(
      async () => expect(await exchange(service.port, last)).toMatch(/^HTTP\/1\.1 200 /),
      10_000,
    );
  });
});
