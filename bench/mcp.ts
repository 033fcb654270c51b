// Measures what the proxy for MCP adds to a call over loopback, and whether its memory stays flat. The same
// calls go to the same server, directly and through `writ mcp` as an enforcement point. They take turns with
// the same question to the service alone, with one write to the disk, which every decision needs, and with
// the smallest possible proxy (`mcp-bare.ts`). Fails when a target is missed. `node bench/mcp.ts [--calls
// 10000]`; with `TMPDIR=/dev/shm` the store is in memory.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { fetchOnKeptConnections } from '../integrations/mcp/calls/authority.ts';
import { addPoint } from '../src/service/agents/points/change-point.ts';
import { addAgent } from '../src/service/agents/registry.ts';
import { openStore } from '../src/service/store/open.ts';
import { addressIn } from './printed-address.ts';

/** Milliseconds that the proxy may add to a call, by quantile; and megabytes that the proxy may grow. */
const targets = { 0.5: 1, 0.99: 3, megabytes: 20 } as const;
/** Calls before the measurement, while code is optimised and caches fill. */
const warmUp = 1_000;

const { values } = parseArgs({ options: { calls: { type: 'string', default: '10000' } } });
const calls = Number(values.calls);
if (!Number.isSafeInteger(calls) || calls < 1)
  throw new RangeError(`--calls takes a whole number from 1, not ${values.calls}`);
const example = join(import.meta.dirname, '../examples/mcp');
const writ = join(import.meta.dirname, '../src/cli/writ.js');
const folder = mkdtempSync(join(tmpdir(), 'writ-bench-mcp-'));
const key = await registerPoint();
const keyFile = join(folder, 'point.key');
writeFileSync(keyFile, key, { mode: 0o600 });
const service = spawn(
  process.execPath,
  [writ, 'serve', '--port', '0', '--data', folder, '--policies', join(example, 'policies')],
  { stdio: ['ignore', 'pipe', 'ignore'] },
);
const bare = join(import.meta.dirname, 'mcp-bare.ts');
const bareService = spawn(process.execPath, [bare, 'service', join(folder, 'bare')], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
const server = [process.execPath, join(example, 'server.ts')];

/** Registers an enforcement point for an agent with practically no rate limit. Returns the point's key. */
async function registerPoint(): Promise<string> {
  const store = await openStore({ path: join(folder, 'writ.db') });
  const often = { ratePerMinute: 10_000_000, burst: 100_000 };
  const draft = { name: 'model', riskTier: 'low', controlOwner: 'ann@example.com', tags: [], ...often };
  const added = await addAgent(store, draft);
  if (added.kind !== 'added') throw new Error(added.kind);
  const by = { documents: store.documents, who: 'the benchmark', nowMs: Date.now() };
  const made = await addPoint(by, { name: 'notes proxy', mayRelease: false, agents: [added.agent.id] });
  if (made.kind !== 'made') throw new Error(made.kind);
  await store.close();
  return made.apiKey;
}

interface Side {
  readonly child: ChildProcess;
  /** Makes one call. Returns its time in milliseconds. */
  readonly call: () => Promise<number>;
}

function open(command: readonly string[]): Side {
  const [file = '', ...args] = command;
  const env = { ...process.env, WRIT_API_KEY: key, WRIT_AGENT: 'model' };
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'], env });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const params = { name: 'read', arguments: { path: '/team/lunch' } };
  const call = async () => {
    id += 1;
    const begun = performance.now();
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`);
    const { value } = await answers.next();
    if (!String(value).includes('Noon')) throw new Error(`not carried out: ${value}`);
    return performance.now() - begun;
  };
  return { child, call };
}

/** Milliseconds that a caller waits for a decision of the service, until the decision is on disk. */
async function askAlone(): Promise<number> {
  const begun = performance.now();
  const reply = await fetchOnKeptConnections(`${url}/v1/authorize`, {
    method: 'POST',
    redirect: 'error',
    signal: never.signal,
    headers: { 'content-type': 'application/json', 'x-agent-api-key': key, 'x-writ-agent': 'model' },
    body: JSON.stringify({ action_key: 'notes.read', payload: { path: '/team/lunch' } }),
  });
  if (reply.status !== 200) throw new Error(await reply.text());
  return performance.now() - begun;
}

const never = new AbortController();

const page = Buffer.alloc(8192);
const paper = openSync(join(folder, 'paper'), 'w');

/** Milliseconds that the disk alone takes until a page is on it. */
function writePage(): number {
  const begun = performance.now();
  writeSync(paper, page);
  fdatasyncSync(paper);
  return performance.now() - begun;
}

function megabytesOf({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

/** Milliseconds of processor time, user and system, that the process has used. */
function spentBy({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function at(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN;
}

function tell(what: string, found: number, target: number, unit: string): void {
  const isMet = found <= target;
  if (!isMet) process.exitCode = 1;
  console.log(`${what}: ${found.toFixed(2)} ${unit}; target ${target} ${unit}: ${isMet ? 'met' : 'MISSED'}`);
}

const url = await addressIn(service.stdout);
const [direct, proxied, least] = [
  open(server),
  open([
    ...[process.execPath, writ, 'mcp', '--as', 'notes', '--service', url, '--key-file', keyFile],
    ...['--', ...server],
  ]),
  open([process.execPath, bare, 'proxy', await addressIn(bareService.stdout), ...server]),
];
try {
  for (let count = 0; count < warmUp; count += 1) {
    await direct.call();
    await proxied.call();
    await least.call();
  }
  const [megabytes, ofProxy, ofService] = [
    megabytesOf(proxied.child),
    spentBy(proxied.child),
    spentBy(service),
  ];
  const times: readonly [number[], number[], number[], number[], number[]] = [[], [], [], [], []];
  for (let count = 1; count <= calls; count += 1) {
    times[0].push(await direct.call());
    times[1].push(await proxied.call());
    times[2].push(await askAlone());
    times[3].push(writePage());
    times[4].push(await least.call());
  }
  for (const share of [0.5, 0.99] as const) {
    const [one = 0, other = 0, alone = 0, disk = 0, floor = 0] = times.map((those) => at(those, share));
    console.log(
      `p${share * 100}: ${one.toFixed(2)} ms directly, ${other.toFixed(2)} ms through the proxy; the service alone takes ${alone.toFixed(2)} ms, a write to the disk ${disk.toFixed(2)} ms`,
    );
    tell(`p${share * 100} added`, other - one, targets[share], 'ms');
    console.log(
      `p${share * 100} added by a proxy that asks a service which decides and records nothing but writes a page: ${(floor - one).toFixed(2)} ms; ours adds ${((other - one) / (floor - one)).toFixed(2)} times that`,
    );
  }
  const perCall = (ms: number) => `${(ms / calls).toFixed(2)} ms`;
  console.log(
    `of the processor: proxy ${perCall(spentBy(proxied.child) - ofProxy)} a call, service ${perCall(spentBy(service) - ofService)} for two decisions and a report`,
  );
  tell(
    `memory of the proxy after ${warmUp + calls} calls`,
    megabytesOf(proxied.child) - megabytes,
    targets.megabytes,
    'MB more',
  );
} finally {
  for (const { child } of [direct, proxied, least]) child.kill();
  bareService.kill();
  service.kill();
  await once(service, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
