// Runs the official conformance suite of MCP against a server over HTTP, directly and through `writ mcp` with
// everything granted. Each scenario must have the same verdict in both runs. `npm run mcp-conformance --
// http://localhost:3000/mcp`. With `author` instead of an address, it runs the suite against `writ author`, through
// the proxy alone: the scenarios that ask for no tool, resource or prompt of the suite's own must pass. npx fetches
// the suite (61 MB).

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openServer } from '../integrations/mcp/proxy.ts';
import { declareTools } from '../integrations/mcp/review/declarations.ts';
import { readServer } from '../integrations/mcp/review/live-server.ts';
import { addressIn } from './printed-address.ts';

const suite = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const revisions = ['2025-11-25', '2026-07-28'];
const writ = join(import.meta.dirname, '../src/cli/writ.js');
const folder = mkdtempSync(join(tmpdir(), 'writ-conformance-'));
const [, , address = ''] = process.argv;
const isAuthor = address === 'author';
if (!isAuthor && !URL.canParse(address)) throw new Error('name the address of a server, or `author`');
/** What every server has to pass; the other scenarios call what the suite's own server has. */
const ofEveryServer = ['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list'];
const authorCommand = [process.execPath, writ, 'author', folder];

const run = (...args: readonly string[]) =>
  execFileSync(process.execPath, [writ, ...args, '--data', folder, '--json']).toString();

/** Writes policies that declare everything the server offers, and grant it. */
async function grantAll(): Promise<void> {
  const place = isAuthor
    ? { kind: 'command' as const, command: authorCommand, environment: process.env }
    : { kind: 'url' as const, url: new URL(address), headers: {} };
  const { tools } = await readServer(openServer(place, console.error), []);
  const { text } = declareTools(tools, { as: 'it', isOpen: true });
  const others = ['resources.read', 'resources.subscribe', 'prompts.get', 'completion.complete'];
  const keys = [...tools.map(({ name }) => String(name)), ...others].map((key) =>
    JSON.stringify(`it.${key}`),
  );
  const declared = `action ${keys.slice(-others.length).join(', ')} { ... }`;
  const policy = `policy all on ${keys.join(', ')} { allow each when agent.name != "nobody" }`;
  mkdirSync(join(folder, 'policies'));
  writeFileSync(join(folder, 'policies', 'all.policy'), `${text}\n${declared}\n${policy}\n`);
}

/** Returns `✓` (passed) or `✗` for each scenario of a revision of MCP. */
function verdicts(url: string, revision: string): ReadonlyMap<string, string> {
  const args = ['-y', suite, 'server', '--requirements', revision, '--url', url];
  const { stdout } = spawnSync('npx', args, { encoding: 'utf8', maxBuffer: 1e9 });
  const lines = [...stdout.matchAll(/^(✓|✗) ([\w-]+): \d+ passed/gm)];
  return new Map(lines.map(([, verdict = '', scenario = '']) => [scenario, verdict]));
}

await grantAll();
const { api_key: key } = JSON.parse(
  run('agent', 'add', 'suite', '--tier', 'low', '--owner', 'ann@example.com'),
);
run('agent', 'rate', 'suite', '--per-minute', '1000000', '--burst', '100000');
const service = spawn(
  process.execPath,
  [writ, 'serve', '--port', '0', '--data', folder, '--policies', join(folder, 'policies')],
  { stdio: ['ignore', 'pipe', 'ignore'] },
);
const at = await addressIn(service.stdout);
const proxy = spawn(
  process.execPath,
  [
    ...[writ, 'mcp', '--as', 'it', '--service', at, '--listen', '127.0.0.1:0', '--shared-key'],
    ...(isAuthor ? ['--', ...authorCommand] : ['--url', address]),
  ],
  { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, WRIT_API_KEY: key } },
);
const through = (await addressIn(proxy.stderr)).replace('127.0.0.1', 'localhost');

try {
  for (const revision of isAuthor ? revisions : []) {
    const found = verdicts(through, revision);
    const passed = ofEveryServer.filter((scenario) => found.get(scenario) === '✓');
    const asked = ofEveryServer.filter((scenario) => found.has(scenario));
    console.log(
      `${revision}: ${passed.length} of ${asked.length} scenarios of every server pass: ${passed.join(', ')}`,
    );
    if (asked.length === 0 || passed.length < asked.length) process.exitCode = 1;
  }
  for (const revision of isAuthor ? [] : revisions) {
    const [direct, proxied] = [verdicts(address, revision), verdicts(through, revision)];
    const differing = [...direct].filter(([scenario, verdict]) => proxied.get(scenario) !== verdict);
    console.log(
      `${revision}: ${direct.size} scenarios, ${differing.length} with another verdict through the proxy`,
    );
    for (const [scenario, verdict] of differing)
      console.log(`  ${scenario}: ${verdict} ${proxied.get(scenario)}`);
    if (direct.size === 0 || differing.length > 0) process.exitCode = 1;
  }
} finally {
  proxy.kill();
  service.kill();
  await once(service, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
