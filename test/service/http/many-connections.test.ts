// More connections than work: thousands that send nothing, and a process that runs out of file descriptors. A
// client with a good request is still answered, or is answered as soon as there is room.

import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { addAgent, ask, type Service, startService } from '../../e2e/acceptance/service.ts';
import { isOnPostgres } from '../store/place.ts';

/** As many connections as the limits of this process and of the service's process allow. */
const idleConnections = Math.min(10_000, openFilesMax() - 1_000);

const good = {
  action_key: 'payment.create',
  payload: { amount: 1, currency: 'USD', vendor: 'Staples', description: 'paper' },
};

async function start(): Promise<{ readonly service: Service; readonly key: string }> {
  const service = await startService({ policies: 'policies/payments' });
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return { service, key: await addAgent(service.data, 'buyer') };
}

function openFilesMax(): number {
  return Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })) || 1_024;
}

/** Changes a resource limit of the running service, as `prlimit` of util-linux does. */
function setLimit({ process: { pid } }: Service, name: 'nofile' | 'fsize', soft: string): void {
  execFileSync('sh', ['-c', 'prlimit --pid "$1" "--$2=$3:"', 'sh', String(pid), name, soft]);
}

/** Opens connections that stay open until they are destroyed or refused. */
async function openMany(url: string, count: number): Promise<readonly Socket[]> {
  const { port, hostname } = new URL(url);
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(200, count - sockets.length) }, () =>
      connect({ port: Number(port), host: hostname }),
    );
    await Promise.all(
      batch.map((socket) => new Promise((resolve) => socket.once('connect', resolve).once('error', resolve))),
    );
    for (const socket of batch) socket.on('error', () => undefined);
    sockets.push(...batch);
  }
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}

test('with thousands of idle connections, a request is answered', async () => {
  expect(idleConnections).toBeGreaterThan(0);
  const { service, key } = await start();
  await openMany(service.url, idleConnections);
  const { status, body } = await ask(service.url, key, good);
  expect({ status, decision: body.decision }).toEqual({ status: 200, decision: 'ALLOW' });
});

test('without free file descriptors nothing is granted in error, and service resumes when there are some', async () => {
  const { service, key } = await start();
  expect((await ask(service.url, key, good)).body.decision).toBe('ALLOW');
  setLimit(service, 'nofile', '120');
  const sockets = await openMany(service.url, 400);
  const strained = await Promise.race([
    ask(service.url, key, good).then(
      ({ status }) => status,
      () => 'no connection' as const,
    ),
    new Promise<'no answer'>((resolve) => setTimeout(() => resolve('no answer'), 2_000)),
  ]);
  expect([200, 500, 'no connection', 'no answer']).toContain(strained);
  for (const socket of sockets) socket.destroy();
  const deadline = performance.now() + 10_000;
  let answer: unknown = null;
  while (answer !== 'ALLOW' && performance.now() < deadline) {
    answer = await ask(service.url, key, good).then(
      ({ body }) => body.decision,
      () => null,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(answer).toBe('ALLOW');
});

// On PostgreSQL the database server's process uses the disk, so the limit does not apply.
test.skipIf(isOnPostgres)(
  'a disk that takes no more: 500 and nothing granted, then service again',
  async () => {
    const { service, key } = await start();
    expect((await ask(service.url, key, good)).body.decision).toBe('ALLOW');
    setLimit(service, 'fsize', '1');
    const refused = await ask(service.url, key, good);
    expect(refused).toMatchObject({ status: 500, body: { type: 'urn:writ:error:record_failed' } });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    setLimit(service, 'fsize', 'unlimited');
    expect((await ask(service.url, key, good)).body.decision).toBe('ALLOW');
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  },
);
