// `node bench/service/neighbours.ts [--seconds 3] [--rounds 5] [--only NAME]`: measures how a misbehaving
// neighbour affects an agent. One service runs with its default limits. The agent asks at a steady pace,
// alternately alone and beside each kind of misbehaviour; each ratio is of two successive periods. The
// service, the agent and the neighbour are processes of their own; the neighbour writes prepared bytes and
// does not look at the replies. Prints Markdown.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { addAgent, setSigning } from '../../src/service/agents/registry.ts';
import { openStore } from '../../src/service/store/open.ts';

export interface Target {
  readonly port: number;
  /** The key of the agent that is measured. */
  readonly apiKey: string;
  /** The key of the agent that misbehaves. */
  readonly neighbourKey: string;
}

const body = JSON.stringify({
  action_key: 'payment.create',
  payload: { amount: 0.01, currency: 'USD', vendor: 'Staples', description: 'paper' },
});

const post = (path: string, headers: readonly string[], text: string, bytes = Buffer.byteLength(text)) =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    ...headers,
    `Content-Length: ${bytes}`,
    '',
    text,
  ].join('\r\n');
const asNeighbour = ({ neighbourKey }: Target, ...more: string[]) => [
  `X-Agent-API-Key: ${neighbourKey}`,
  ...more,
];
const authorizeBy = (target: Target, text = body, ...more: string[]) =>
  post('/v1/authorize', asNeighbour(target, ...more), text);

interface Flood {
  /** The text that each connection writes again and again. */
  readonly text: (target: Target) => string;
  readonly connections: number;
  readonly isReading?: boolean;
  /** Milliseconds between two writes; when absent, the next write follows as soon as the socket takes it. */
  readonly everyMs?: number;
}

/** Kinds of misbehaviour of an agent, or of somebody without a key, by name. */
export const misbehaviours: Readonly<Record<string, Flood>> = {
  'burst of 10,000': {
    text: (target) => authorizeBy(target).repeat(1_250),
    connections: 8,
    isReading: true,
    everyMs: 500,
  },
  '8,000 waits pipelined': {
    text: (target) =>
      `GET /v1/requests/0190a0a0-0000-7000-8000-000000000000 HTTP/1.1\r\nHost: x\r\nX-Agent-API-Key: ${target.neighbourKey}\r\nPrefer: wait=50\r\n\r\n`.repeat(
        1_000,
      ),
    connections: 8,
    isReading: true,
    everyMs: 500,
  },
  'slow bodies': {
    text: (target) => post('/v1/authorize', asNeighbour(target), body.slice(0, 5), body.length),
    connections: 200,
    everyMs: 60_000,
  },
  'oversized bodies': {
    text: (target) => authorizeBy(target, 'x'.repeat(900_000)),
    connections: 4,
    isReading: true,
    everyMs: 50,
  },
  'unread replies': { text: (target) => authorizeBy(target).repeat(200), connections: 20 },
  'unread replies, without a key': {
    text: () => 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000),
    connections: 30,
  },
  'asks on after 429': {
    text: (target) => authorizeBy(target),
    connections: 200,
    isReading: true,
    everyMs: 20,
  },
  'bad signatures': {
    text: (target) => authorizeBy(target, body, `X-Service-Signature: sha256=${'0'.repeat(64)}`).repeat(100),
    connections: 4,
    isReading: true,
    everyMs: 100,
  },
  'garbage JSON': {
    text: (target) => authorizeBy(target, '{"action_key"').repeat(100),
    connections: 4,
    isReading: true,
    everyMs: 100,
  },
  'sign-in storm': {
    text: () =>
      post(
        '/v1/session',
        [],
        JSON.stringify({ email: 'ann@example.com', password: 'a wrong password of nobody' }),
      ),
    connections: 100,
    isReading: true,
    everyMs: 1_000,
  },
};

/** Starts a process that misbehaves. Returns a function that ends the process. */
export function misbehave(target: Target, name: string): () => void {
  const args = [import.meta.filename, '--misbehave', name, '--target', JSON.stringify(target)];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  return () => void child.kill('SIGKILL');
}

function misbehaveHere(target: Target, { text, connections, isReading = false, everyMs = 0 }: Flood): void {
  const bytes = Buffer.from(text(target));
  const open = () => {
    const socket = connect({ port: target.port, host: '127.0.0.1' });
    if (isReading) socket.resume();
    else socket.pause();
    const push = () => {
      if (!socket.writable) return;
      const isTaken = socket.write(bytes);
      if (isTaken || everyMs > 0) setTimeout(push, Math.max(everyMs, 5));
      else socket.once('drain', push);
    };
    socket.once('connect', push).on('error', () => undefined);
    socket.once('close', () => setTimeout(open, 100));
  };
  for (let count = 0; count < connections; count += 1) open();
}

/**
 * Asks at a steady pace over one connection. Returns the milliseconds that each answer took, in ascending
 * order. Rejects when a reply is not 200.
 */
export async function measure({ port, apiKey }: Target, ms: number): Promise<readonly number[]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const request = post('/v1/authorize', [`X-Agent-API-Key: ${apiKey}`], body);
  const took: number[] = [];
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const sentAt = performance.now();
    socket.write(request);
    const reply = await new Promise<string>((resolve, reject) => {
      socket.once('data', (chunk) => resolve(chunk.toString('latin1')));
      socket.once('error', reject).once('close', () => reject(new Error('the connection was cut')));
    });
    socket.removeAllListeners('error').removeAllListeners('close');
    if (!reply.startsWith('HTTP/1.1 200')) throw new Error(reply);
    took.push(performance.now() - sentAt);
    await sleep(8);
  }
  socket.destroy();
  return took.sort((a, b) => a - b);
}

export const at = (sorted: readonly number[], share: number) =>
  sorted[Math.floor(sorted.length * share)] ?? Number.NaN;

/** Starts `writ serve` with its default limits; only the measured agent has a rate limit of its own. */
export async function startTarget(): Promise<Target & { readonly end: () => void }> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-neighbours-'));
  const data = join(directory, 'var');
  const store = await openStore({ path: join(data, 'writ.db') });
  const draft = { riskTier: 'low', controlOwner: 'bench', tags: [] } as const;
  const measured = await addAgent(store, {
    ...draft,
    name: 'measured',
    ratePerMinute: 1_000_000,
    burst: 1_000_000,
  });
  const neighbour = await addAgent(store, { ...draft, name: 'neighbour' });
  if (measured.kind !== 'added' || neighbour.kind !== 'added')
    throw new Error('the agents could not be added');
  await setSigning(store, { agentId: neighbour.agent.id, signing: 'optional', nowMs: Date.now() });
  await store.close();
  const root = join(import.meta.dirname, '../..');
  const flags = [
    join(root, 'src/cli/writ.js'),
    'serve',
    '--port',
    '0',
    '--policies',
    join(root, 'policies/payments'),
  ];
  const child = spawn(process.execPath, [...flags, '--data', data], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = () => {
    child.kill('SIGKILL');
    child.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  };
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
    if (port !== undefined) {
      return { port: Number(port), apiKey: measured.apiKey, neighbourKey: neighbour.apiKey, end };
    }
  }
  throw new Error(`the service did not start:\n${printed}`);
}

interface Period {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
}

async function measureBeside(target: Target, name: string, ms: number): Promise<Period> {
  const alone = await measure(target, ms);
  const end = misbehave(target, name);
  // Waits until the misbehaviour is in full swing.
  await sleep(700);
  const beside = await measure(target, ms);
  end();
  await sleep(500);
  return { alone, beside };
}

function row(name: string, periods: readonly Period[]): string {
  const ms = (pick: (period: Period) => readonly number[], share: number) =>
    at(sorted(periods.flatMap(pick)), share).toFixed(2);
  const p99s = sorted(periods.map(({ alone, beside }) => at(beside, 0.99) / at(alone, 0.99)));
  const [alone, beside] = [(period: Period) => period.alone, (period: Period) => period.beside];
  return `| ${name} | ${ms(alone, 0.5)} | ${ms(beside, 0.5)} | ${ms(alone, 0.99)} | ${ms(beside, 0.99)} | ${at(p99s, 0.5).toFixed(1)} |`;
}

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);

async function main(ms: number, rounds: number, names: readonly string[]): Promise<void> {
  const target = await startTarget();
  await measure(target, ms);
  const all = new Map<string, Period[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, periods] of all) periods.push(await measureBeside(target, name, ms));
  }
  target.end();
  console.log(
    '| beside | p50 alone, ms | p50, ms | p99 alone, ms | p99, ms | p99 to alone, median of the rounds |',
  );
  console.log('|---|---|---|---|---|---|');
  for (const [name, periods] of all) console.log(row(name, periods));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '5' },
      only: { type: 'string' },
      misbehave: { type: 'string' },
      target: { type: 'string' },
    },
  });
  const flood = misbehaviours[values.misbehave ?? ''];
  if (flood !== undefined) {
    misbehaveHere(JSON.parse(values.target ?? '') as Target, flood);
  } else {
    const names = values.only === undefined ? Object.keys(misbehaviours) : [values.only];
    await main(Number(values.seconds) * 1_000, Number(values.rounds), names);
  }
}
