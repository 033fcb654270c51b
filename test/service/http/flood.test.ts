// Clients that send requests and never read: on every route of the document, with every kind of credential.
// The memory of a service with a small heap does not grow, and others are served. `npm run flood` makes each
// flood last a minute, and prints the measurements.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { OpenApiDocument } from '../../../src/service/http/contract/openapi.ts';
import { cookieOf, send } from './person-client.ts';

const seconds = Number(process.env.WRIT_FLOOD_SECONDS ?? 1.5);
const isLong = process.env.WRIT_FLOOD_SECONDS !== undefined;
vi.setConfig({ testTimeout: 60_000 + seconds * 10_000, hookTimeout: 60_000 });
const heapMegabytes = 256;
const samples = Math.max(12, seconds);
/**
 * Connections per route when all routes are flooded together; `connectionsOfOne` is for a flood of one route.
 */
const connectionsOfEach = 2;
const connectionsOfOne = 30;
/**
 * Differs from the password of the examples, because signing in with the right password would change what is
 * flooded.
 */
const password = 'a password of the flood';

interface Running {
  readonly port: number;
  readonly apiKey: string;
  readonly sandboxToken: string;
  readonly document: OpenApiDocument;
  readonly megabytes: () => number;
  readonly isRunning: () => boolean;
  readonly end: () => Promise<void>;
}

/** Starts `writ serve` in a process of its own with a small heap, and makes its first admin. */
async function serve(): Promise<Running & { readonly admin: Admin }> {
  const root = join(import.meta.dirname, '../../..');
  const directory = mkdtempSync(join(tmpdir(), 'writ-flood-'));
  const data = join(directory, 'var');
  const args = ['serve', '--port', '0', '--policies', join(root, 'policies/payments'), '--data', data];
  const flags = [`--max-old-space-size=${heapMegabytes}`, join(root, 'src/cli/writ.js'), ...args];
  // The service refuses an unknown variable whose name begins with its own prefix.
  const { WRIT_FLOOD_SECONDS: _, ...env } = process.env;
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const port = await vi.waitFor(() => {
    const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
    expect(found).toBeDefined();
    return Number(found);
  }, 60_000);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    apiKey: foundIn(printed, /writ_[0-9A-Za-z]{46}/),
    sandboxToken: foundIn(printed, /writs_[0-9A-Za-z]{40}/),
    document: (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument,
    admin: await setUpAdmin(url, foundIn(printed, /(?<=\/setup#token=)\S+/)),
    megabytes: () => Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]) * 4096e-6,
    isRunning,
    async end() {
      child.kill('SIGKILL');
      if (isRunning()) await once(child, 'exit');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function foundIn(printed: string, form: RegExp): string {
  const [found] = form.exec(printed) ?? [];
  if (found === undefined) throw new Error(`the welcome has no ${form}:\n${printed}`);
  return found;
}

type Headers = readonly string[];

interface Admin {
  /** A session, a second session for the request that ends its own session, and a personal token. */
  readonly session: Headers;
  readonly endedSession: Headers;
  readonly token: Headers;
}

/** Runs before the floods, because a flood of wrong passwords slows down sign-ins from the same address. */
async function setUpAdmin(url: string, setUpToken: string): Promise<Admin> {
  const email = 'first.admin@example.org';
  const body = { token: setUpToken, email, name: 'Ann', password };
  expect((await send({ url }, '/v1/setup', { method: 'POST', body })).status).toBe(201);
  const signIn = async () => {
    const answer = await send({ url }, '/v1/session', { method: 'POST', body: { email, password } });
    expect(answer.status).toBe(200);
    return { cookie: cookieOf(answer), 'x-csrf-token': String(answer.body.csrf_token) };
  };
  const [session, ended] = [await signIn(), await signIn()];
  const draft = { name: 'flood', roles: ['admin'], days: 1, password };
  const made = await send({ url }, '/v1/tokens', { method: 'POST', body: draft, headers: session });
  expect(made.status).toBe(201);
  const lines = (headers: Readonly<Record<string, string>>) =>
    Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const token = lines({ authorization: `Bearer ${made.body.token}` });
  return { session: lines(session), endedSession: lines(ended), token };
}

let service: Running & { readonly admin: Admin };
const printed: string[] = [];

beforeAll(async () => {
  service = await serve();
});

afterAll(async () => {
  await service.end();
  const head =
    '| who | requests | cut and opened anew | MB before | middle third | last third | most | others wait, ms |';
  if (isLong) console.log([head, '|---|---|---|---|---|---|---|---|', ...printed].join('\n'));
});

const headersOf: Readonly<Record<string, (running: typeof service) => Headers>> = {
  nobody: () => [],
  'a wrong key': () => [`X-Agent-API-Key: writ_${'0'.repeat(46)}`],
  'an agent': ({ apiKey }) => [`X-Agent-API-Key: ${apiKey}`, 'Prefer: wait=50'],
  'the sandbox': ({ sandboxToken }) => [`Authorization: Bearer ${sandboxToken}`],
  'an admin in a session': ({ admin }) => admin.session,
  'an admin with a token': ({ admin }) => admin.token,
};

test.each(Object.keys(headersOf))('%s, on every route of the document', async (who) => {
  const headers = headersOf[who]?.(service) ?? [];
  const requests = requestsOf(service.document, (route) =>
    route === 'DELETE /v1/session' && headers === service.admin.session
      ? service.admin.endedSession
      : headers,
  );
  expect(requests.length).toBeGreaterThan(80);
  await floodAndMeasure(who, requests, connectionsOfEach);
});

test('callers without a key, on /healthz only', async () => {
  const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
  await floodAndMeasure('nobody, /healthz alone', [request], connectionsOfOne);
});

test('an agent, on decisions only', async () => {
  const body = '{"action_key":"payment.create","payload":{}}';
  const head = `X-Agent-API-Key: ${service.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const request = `POST /v1/authorize HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${body}`;
  await floodAndMeasure('an agent, decisions alone', [request], connectionsOfOne);
});

async function floodAndMeasure(who: string, requests: readonly string[], connections: number): Promise<void> {
  const before = service.megabytes();
  const flood = startFlood(service.port, requests, connections);
  const megabytes: number[] = [];
  const waits: number[] = [];
  for (let sample = 0; sample < samples && service.isRunning(); sample += 1) {
    await sleep((seconds * 1_000) / samples);
    megabytes.push(service.megabytes());
    waits.push(await msUntilServed(service.port));
  }
  flood.end();
  expect(service.isRunning()).toBe(true);
  const { middle, last, most } = thirds(megabytes);
  const figures = [before, middle, last, most, Math.max(...waits)].map((figure) => figure.toFixed(0));
  printed.push(`| ${[who, requests.length, flood.reopened(), ...figures].join(' | ')} |`);
  // Memory does not grow with the amount that is sent.
  expect(last).toBeLessThan(middle * 1.25 + 30);
  // Threads have heaps of their own: the writer, the compiler, the playground, and two replays.
  expect(most).toBeLessThan(3 * heapMegabytes);
}

async function msUntilServed(port: number): Promise<number> {
  const startMs = performance.now();
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  return performance.now() - startMs;
}

function thirds(megabytes: readonly number[]) {
  const third = Math.floor(megabytes.length / 3);
  const mean = (part: readonly number[]) => part.reduce((sum, one) => sum + one, 0) / part.length;
  return {
    middle: mean(megabytes.slice(third, 2 * third)),
    last: mean(megabytes.slice(-third)),
    most: Math.max(...megabytes),
  };
}

interface Flood {
  /** The number of connections that were cut and opened again. */
  readonly reopened: () => number;
  readonly end: () => void;
}

/**
 * Each connection writes one request without end and reads nothing. A connection that is cut is opened again.
 */
function startFlood(port: number, requests: readonly string[], connections: number): Flood {
  const sockets = new Set<Socket>();
  let [isOver, reopened] = [false, 0];
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
      if (isOver) return;
      reopened += 1;
      setTimeout(() => isOver || open(text), 20);
    });
  };
  for (const request of requests) {
    const text = request.repeat(Math.ceil(64_000 / request.length));
    for (let count = 0; count < connections; count += 1) open(text);
  }
  return {
    reopened: () => reopened,
    end() {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** One request for each operation of the document, with the headers that its route needs. */
function requestsOf(
  { paths }: OpenApiDocument,
  headersOfRoute: (route: string) => Headers,
): readonly string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]) => {
      const content = requestBody as {
        content?: Record<string, { examples?: Record<string, { value: unknown }> }>;
      };
      const [example] = Object.values(content?.content?.['application/json']?.examples ?? {});
      const body = example === undefined ? '' : JSON.stringify(example.value);
      const verb = method.toUpperCase();
      const lines = [
        `${verb} ${path.replaceAll(/\{\w+\}/g, '0190a0a0-0000-7000-8000-000000000000')} HTTP/1.1`,
        'Host: x',
        ...headersOfRoute(`${verb} ${path}`),
        ...(body === ''
          ? []
          : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
      ];
      return `${lines.join('\r\n')}\r\n\r\n${body}`;
    }),
  );
}
