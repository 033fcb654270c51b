// Clients that ask and never read: on every route, with and without credentials, the service's memory stays what it is,
// and others are served. `npm run flood` makes it last.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { OpenApiDocument } from '../../src/service/http/contract/openapi.ts';
import { password, send, signedIn } from './person-client.ts';
import { authorize, exchange, shareService, startService, temporaryDirectory } from './service.ts';

const seconds = Number(process.env.WRIT_FLOOD_SECONDS ?? 2);
vi.setConfig({ testTimeout: 60_000 + seconds * 10_000, hookTimeout: 60_000 });
const connectionsAtOnce = 30;
const heapMegabytes = 256;
/** Routes of the document that are flooded together, and how often memory is looked at meanwhile. */
const groupsOf = 15;
const samples = 12;

interface Running {
  readonly port: number;
  readonly apiKey: string;
  readonly sandboxToken: string;
  /** Of the link for the first admin. */
  readonly setUpToken: string;
  readonly megabytes: () => number;
  readonly isRunning: () => boolean;
}

/** `writ serve` in a process of its own with a small heap. */
async function serve(): Promise<Running> {
  const root = join(import.meta.dirname, '../..');
  const data = join(temporaryDirectory(), 'var');
  const args = ['serve', '--port', '0', '--policies', join(root, 'policies/payments'), '--data', data];
  const flags = [`--max-old-space-size=${heapMegabytes}`, join(root, 'src/tools/cli/writ.js'), ...args];
  // The service refuses a variable of its own name that it does not know.
  const { WRIT_FLOOD_SECONDS: _, ...env } = process.env;
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'pipe'], env });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const port = await vi.waitFor(() => {
    const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
    expect(found).toBeDefined();
    return Number(found);
  }, 30_000);
  return {
    port,
    apiKey: foundIn(printed, /writ_[0-9A-Za-z]{46}/),
    sandboxToken: foundIn(printed, /writs_[0-9A-Za-z]{40}/),
    setUpToken: foundIn(printed, /(?<=\/setup#token=)\S+/),
    megabytes: () => Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]) * 4096e-6,
    isRunning: () => child.exitCode === null && child.signalCode === null,
  };
}

function foundIn(printed: string, form: RegExp): string {
  const [found] = form.exec(printed) ?? [];
  if (found === undefined) throw new Error(`the welcome has no ${form}:\n${printed}`);
  return found;
}

/** What each kind of client sends with its requests; an admin has a new session each time, for some requests end it. */
async function headersOf(who: string, service: Running): Promise<readonly string[]> {
  switch (who) {
    case 'an agent':
      return [`X-Agent-API-Key: ${service.apiKey}`, 'Prefer: wait=50'];
    case 'the sandbox':
      return [`Authorization: Bearer ${service.sandboxToken}`];
    case 'an admin': {
      const { headers } = await signedIn({ url: `http://127.0.0.1:${service.port}` }, email);
      return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    }
    default:
      return [];
  }
}

const email = 'first.admin@example.org';

async function setUpAdmin({ port, setUpToken }: Running): Promise<void> {
  const body = { token: setUpToken, email, name: 'Ann', password };
  const { status } = await send({ url: `http://127.0.0.1:${port}` }, '/v1/setup', { method: 'POST', body });
  expect(status).toBe(201);
}

/** The last third of what was measured is hardly more than the third before: nothing grows with what is sent. */
function expectFlat(megabytes: readonly number[]): void {
  const third = Math.floor(megabytes.length / 3);
  const mean = (part: readonly number[]) => part.reduce((sum, one) => sum + one, 0) / part.length;
  const [before, late] = [mean(megabytes.slice(third, 2 * third)), mean(megabytes.slice(-third))];
  expect(late).toBeLessThan(before * 1.25 + 30);
  expect(Math.max(...megabytes)).toBeLessThan(2.5 * heapMegabytes);
}

/** Writes the same request without end and reads nothing; connects again where it is cut off. */
function flood(port: number, requests: readonly string[]): () => void {
  const sockets = new Set<Socket>();
  let isOver = false;
  const open = (text: string) => {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.add(socket);
    socket.pause();
    const push = () => {
      while (!isOver && socket.writable && socket.write(text));
    };
    socket
      .on('connect', push)
      .on('drain', push)
      .on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (!isOver) setTimeout(() => isOver || open(text), 20);
    });
  };
  for (const request of requests) {
    const text = request.repeat(Math.ceil(64_000 / request.length));
    for (let count = 0; count < connectionsAtOnce / requests.length; count += 1) open(text);
  }
  return () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
}

interface Route {
  readonly name: string;
  readonly text: string;
}

/** A request of each operation of the document, with these headers. */
function requestsOf({ paths }: OpenApiDocument, headers: readonly string[]): readonly Route[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]) => {
      const content = requestBody as {
        content?: Record<string, { examples?: Record<string, { value: unknown }> }>;
      };
      const [example] = Object.values(content?.content?.['application/json']?.examples ?? {});
      const body = example === undefined ? '' : JSON.stringify(example.value);
      const lines = [
        `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '0190a0a0-0000-7000-8000-000000000000')} HTTP/1.1`,
        'Host: x',
        ...headers,
        ...(body === ''
          ? []
          : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
      ];
      return { name: `${method} ${path}`, text: `${lines.join('\r\n')}\r\n\r\n${body}` };
    }),
  );
}

const shared = shareService();

async function documentOf(url: string): Promise<OpenApiDocument> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
}

async function expectServed(port: number): Promise<void> {
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
}

describe('who asks and never reads', () => {
  test.each(['/healthz', 'decisions'])('%s: memory stays flat, and others are served', async (what) => {
    const service = await serve();
    const body = '{"action_key":"payment.create","payload":{}}';
    const head = `X-Agent-API-Key: ${service.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    const request =
      what === 'decisions'
        ? `POST /v1/authorize HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${body}`
        : 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    await expectServed(service.port);
    const end = flood(service.port, [request]);
    const peaks: number[] = [];
    for (let second = 0; second < 2 * seconds && service.isRunning(); second += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      peaks.push(service.megabytes());
      await expectServed(service.port);
    }
    end();
    expect(service.isRunning()).toBe(true);
    expectFlat(peaks);
  });

  test.each(['nobody', 'an agent', 'an admin', 'the sandbox'])(
    '%s, on every route of the document',
    async (who) => {
      const document = await documentOf(shared().url);
      const service = await serve();
      if (who === 'an admin') await setUpAdmin(service);
      const count = requestsOf(document, []).length;
      expect(count).toBeGreaterThan(50);
      // Beforehand, for a flood of wrong passwords slows down who signs in from the same address.
      const groups: (readonly Route[])[] = [];
      for (let at = 0; at < count; at += groupsOf)
        groups.push(requestsOf(document, await headersOf(who, service)).slice(at, at + groupsOf));
      for (const routes of groups) {
        const megabytes: number[] = [];
        const end = flood(
          service.port,
          routes.map(({ text }) => text),
        );
        for (let sample = 0; sample < samples; sample += 1) {
          await new Promise((resolve) => setTimeout(resolve, (seconds * 1_000) / 4 / samples));
          megabytes.push(service.megabytes());
        }
        end();
        expect(service.isRunning()).toBe(true);
        expectFlat(megabytes);
      }
      await expectServed(service.port);
    },
  );
});

describe('a connection', () => {
  test('has every request answered in order, however many it sends at once, where it reads', async () => {
    const service = shared();
    const count = 3_000;
    const last = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const received = await exchange(
      service.port,
      'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count) + last,
    );
    expect(received.match(/HTTP\/1\.1 200 /g)).toHaveLength(count + 1);
  });

  test('of decisions and of others in turns, bodies in parts: each has its own answer', async () => {
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

  test('that reads nothing of its replies is cut off', async () => {
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

  test('too many are one too many: an idle one makes room, else 503', async () => {
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
    // All are at work now: each has sent a part of a body.
    const head = `POST /v1/authorize HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\nExpect: 100-continue\r\nX-Agent-API-Key: ${service.apiKey}\r\n\r\n{`;
    const busy = [idle[1]!, idle[2]!, connect({ port: service.port, host: '127.0.0.1' })];
    onTestFinished(() => void busy[2]?.destroy());
    // Each has been read once it is told to go on.
    await Promise.all(
      busy.map((socket) => {
        socket.on('error', () => undefined).write(head);
        return once(socket, 'data');
      }),
    );
    await vi.waitFor(async () => {
      const refused = await exchange(service.port, last);
      expect(refused).toMatch(/^HTTP\/1\.1 503 /);
      expect(refused).toContain('urn:writ:error:too_many_connections');
      expect(refused).toMatch(/retry-after: 1/i);
    }, 10_000);
    busy[0]?.destroy();
    await vi.waitFor(async () => expect((await authorize(service)).status).toBe(200), 10_000);
  });
});
