// What the proxy for MCP adds to a call over loopback, and whether its memory stays flat: the same calls to the same server,
// directly and through `writ mcp`, in turn, and the two questions to the service alone. `node bench/mcp.ts [CALLS]`.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { addressIn } from './address-in.ts';

const calls = Number(process.argv[2] ?? 10_000);
const example = join(import.meta.dirname, '../examples/mcp');
const writ = join(import.meta.dirname, '../src/tools/cli/writ.js');
const folder = mkdtempSync(join(tmpdir(), 'writ-bench-mcp-'));
const run = (...args: readonly string[]) =>
  execFileSync(process.execPath, [writ, ...args, '--data', folder, '--json']).toString();

const { api_key: key } = JSON.parse(
  run('agent', 'add', 'model', '--tier', 'low', '--owner', 'ann@example.com'),
);
run('agent', 'rate', 'model', '--per-minute', '10000000', '--burst', '100000');
const service = spawn(
  process.execPath,
  [writ, 'serve', '--port', '0', '--data', folder, '--policies', join(example, 'policies')],
  { stdio: ['ignore', 'pipe', 'ignore'] },
);
const server = [process.execPath, join(example, 'server.ts')];

interface Side {
  readonly child: ChildProcess;
  readonly call: () => Promise<number>;
}

function open(command: readonly string[]): Side {
  const [file = '', ...args] = command;
  const env = { ...process.env, WRIT_API_KEY: key };
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

/** What a decision costs whoever asks. */
async function askAlone(): Promise<number> {
  const begun = performance.now();
  const reply = await fetch(`${url}/v1/authorize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-agent-api-key': key, prefer: 'attach, wait=0' },
    body: JSON.stringify({ action_key: 'notes.read', payload: { path: '/team/lunch' } }),
  });
  await reply.text();
  return performance.now() - begun;
}

const megabytes = ({ pid }: ChildProcess) =>
  (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024).toFixed(0);
const at = (times: readonly number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN;

const url = await addressIn(service.stdout);
const [direct, proxied] = [
  open(server),
  open([process.execPath, writ, 'mcp', '--as', 'notes', '--service', url, '--', ...server]),
];
try {
  for (let count = 0; count < 500; count += 1) {
    await direct.call();
    await proxied.call();
  }
  const times: readonly [number[], number[], number[]] = [[], [], []];
  for (let count = 1; count <= calls; count += 1) {
    times[0].push(await direct.call());
    times[1].push(await proxied.call());
    times[2].push(await askAlone());
    if (count === 1_000 || count === calls)
      console.log(`${count} calls: the proxy has ${megabytes(proxied.child)} MB`);
  }
  for (const share of [0.5, 0.99]) {
    const [one = 0, other = 0, alone = 0] = times.map((those) => at(those, share));
    console.log(
      `p${share * 100}: ${one.toFixed(2)} ms directly, ${other.toFixed(2)} ms through the proxy: ${(other - one).toFixed(2)} ms more; the service alone takes ${alone.toFixed(2)} ms`,
    );
  }
} finally {
  for (const { child } of [direct, proxied]) child.kill();
  service.kill();
  await once(service, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
