// Random requests, and bytes that barely resemble requests, against the service in a process of its own:
// `node test/e2e/acceptance/fuzz-http.ts --requests N --seed S`. Each case depends only on the seed. INVARIANT:
// no body that the strict reading refuses is ever allowed, no reply is 5xx, and the process goes on within
// its memory.

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import type { OpenApiDocument } from '../../../src/service/http/contract/openapi.ts';
import { type Case, createCases } from './fuzz-cases.ts';
import { addAgent, type Service, startService } from './service.ts';

export interface FuzzReport {
  readonly seed: number;
  readonly requests: number;
  /** Replies by status; `closed` counts connections that ended without a reply. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly allowed: number;
  /** Resident memory of the service in bytes, at the start and after each tenth of the run. */
  readonly memory: readonly number[];
  /** Each failure with the bytes that led to it. */
  readonly failures: readonly string[];
}

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  readonly onProgress?: (done: number, memory: number) => void;
}

const clients = 8;
const failuresMax = 20;

export async function fuzzHttp({ requests, seed, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const service = await startService({
    policies: 'policies/payments',
    env: {
      WRIT_LIMITS_BURST: '1000000000',
      WRIT_LIMITS_RATE_PER_MINUTE: '1000000000',
      WRIT_LOG_LEVEL: 'error',
    },
  });
  try {
    const key = await addAgent(service.data, 'fuzz');
    const other = await addAgent(service.data, 'other');
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
    const run = createRun(service, knownStatuses(document));
    const cases = createCases(seed, { apiKey: key, document });
    let done = 0;
    const client = async () => {
      for (let made = cases.next(done++); done <= requests; made = cases.next(done++)) {
        if (run.failures.length >= failuresMax || run.hasEnded()) return;
        await run.send(made);
        if (done % Math.ceil(requests / 10) === 0) onProgress?.(done, run.noteMemory());
      }
    };
    run.noteMemory();
    await Promise.all(Array.from({ length: clients }, client));
    if (run.hasEnded()) run.failures.push(`the service has ended:\n${service.output().slice(-2_000)}`);
    else if (!(await isAnswering(service, other)))
      run.failures.push('the service no longer allows a good request');
    if (/"level":(?:50|60)/.test(service.output()))
      run.failures.push(`it logged: ${service.output().slice(-2_000)}`);
    run.noteMemory();
    const { statuses, memory, failures } = run;
    return { seed, requests, statuses, allowed: run.allowed(), memory, failures };
  } finally {
    await service.end('SIGTERM');
  }
}

async function isAnswering({ url }: Service, key: string): Promise<boolean> {
  const reply = await fetch(`${url}/v1/authorize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
    body: JSON.stringify({
      // Another agent and vendor, since the random requests may have used up their daily budgets.
      action_key: 'payment.create',
      payload: { amount: 1, currency: 'USD', vendor: 'Uline', description: 'paper' },
    }),
  });
  return ((await reply.json()) as { decision: string }).decision === 'ALLOW';
}

function createRun(service: Service, known: ReadonlySet<string>) {
  const port = Number(new URL(service.url).port);
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  const memory: number[] = [];
  let allowed = 0;

  async function send(made: Case): Promise<void> {
    const received = await exchange(port, made);
    const replies = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => match[1] ?? '');
    for (const status of replies.length === 0 ? ['closed'] : replies) {
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    const grants = received.split('"decision":"ALLOW"').length - 1;
    allowed += grants;
    const fault =
      replies.find((status) => !known.has(status)) !== undefined
        ? `answered ${replies}`
        : grants > made.grantsMax
          ? `allowed ${grants} times, at most ${made.grantsMax} may be`
          : made.isWhole && replies.filter((status) => status !== '100').length !== 1
            ? `answered ${replies.length} times`
            : made.statuses !== null && !replies.every((status) => made.statuses?.has(status))
              ? `answered ${replies}, which the document does not know`
              : null;
    if (fault !== null)
      failures.push(`${fault}: ${JSON.stringify(made.bytes.toString('latin1').slice(0, 2_000))}`);
  }

  return {
    statuses,
    failures,
    memory,
    send,
    allowed: () => allowed,
    hasEnded: () => service.process.exitCode !== null || service.process.signalCode !== null,
    noteMemory: () => {
      const bytes = residentBytes(service.process.pid ?? 0);
      memory.push(bytes);
      return bytes;
    },
  };
}

/**
 * All statuses in the document except 5xx, plus 100, which asks for the body, and 405, which belongs to no
 * operation.
 */
function knownStatuses({ paths }: OpenApiDocument): ReadonlySet<string> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const announced = operations.flatMap(({ responses }) => Object.keys(responses));
  return new Set(['100', '404', '405', ...announced.filter((status) => !status.startsWith('5'))]);
}

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

/** How long to wait for a connection that is neither answered nor closed. */
const silenceMs = 250;

/** Sends a case in its pieces; returns what arrived until the connection ended or fell silent. */
function exchange(port: number, { bytes, cuts, isWhole, isEnded }: Case): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let received = '';
    const finish = () => {
      socket.destroy();
      resolve(received);
    };
    // A whole request asks to close the connection, so its end is awaited; other cases may have a body that
    // never ends.
    socket.setTimeout(isWhole ? 20_000 : silenceMs, finish);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    for (const event of ['end', 'close', 'error'] as const) socket.on(event, finish);
    void write(socket, bytes, cuts).then(() => {
      if (isEnded && socket.writable) socket.end();
    });
  });
}

async function write(socket: Socket, bytes: Buffer, cuts: readonly number[]): Promise<void> {
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    if (!socket.writable) return;
    socket.write(bytes.subarray(from, to));
    from = to;
    if (to < bytes.length) await new Promise((resolve) => setImmediate(resolve));
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { requests: { type: 'string' }, seed: { type: 'string' } } });
  const seed = Number(values.seed ?? Math.trunc(Math.random() * 2 ** 31));
  const start = performance.now();
  const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`;
  console.log(`seed ${seed}`);
  const report = await fuzzHttp({
    requests: Number(values.requests ?? 200_000),
    seed,
    onProgress: (done, memory) => console.log(`${done} requests, resident memory ${megabytes(memory)}`),
  });
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `${report.requests} requests in ${seconds.toFixed(0)} s, ${report.allowed} allowed`,
    report.statuses,
  );
  console.log(`resident memory: ${report.memory.map(megabytes).join(', ')}`);
  for (const failure of report.failures) console.log(`FAILED: ${failure}`);
  process.exitCode = report.failures.length === 0 ? 0 : 1;
}
