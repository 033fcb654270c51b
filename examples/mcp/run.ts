// A scripted model that calls the tools of an MCP server through `writ mcp`, with a service of its own.
// Allowed calls are carried out, denied calls get the reason, and calls that people decide wait. Run it with
// `node examples/mcp/run.ts`.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const here = import.meta.dirname;
const writ = join(here, '../../src/cli/writ.js');
const folder = mkdtempSync(join(tmpdir(), 'writ-example-'));

/** The tool calls of the scripted model. */
const wishes = [
  { name: 'read', arguments: { path: '/team/lunch' } },
  { name: 'write', arguments: { path: '/team/lunch', text: 'Half past noon' } },
  { name: 'read', arguments: { path: '/team/../salaries' } },
  { name: 'erase', arguments: { path: '/team/lunch' } },
  { name: 'write', arguments: { path: '/team/handbook/rules', text: 'None' } },
];

const add = [
  'agent',
  'add',
  'model',
  '--tier',
  'low',
  '--owner',
  'ann@example.com',
  '--data',
  folder,
  '--json',
];
const { api_key: key } = JSON.parse(execFileSync(process.execPath, [writ, ...add]).toString());
const service = spawn(
  process.execPath,
  [writ, 'serve', '--port', '0', '--data', folder, '--policies', join(here, 'policies')],
  { stdio: ['ignore', 'pipe', 'pipe'] },
);
const url = await addressIn(service.stdout);

const proxy = spawn(
  process.execPath,
  [
    writ,
    'mcp',
    '--as',
    'notes',
    '--service',
    url,
    '--hold',
    '1',
    '--',
    process.execPath,
    join(here, 'server.ts'),
  ],
  { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, WRIT_API_KEY: key } },
);
const answers = createInterface({ input: proxy.stdout })[Symbol.asyncIterator]();

try {
  await ask(0, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'model', version: '1' },
  });
  const { tools } = await ask(1, 'tools/list', {});
  console.log(`tools: ${tools.map(({ name }: { readonly name: string }) => name).join(', ')}`);
  for (const [at, wish] of wishes.entries()) {
    const { isError, content } = await ask(at + 2, 'tools/call', wish);
    console.log(
      `\n${wish.name} ${wish.arguments.path}\n  ${isError === true ? 'refused' : 'done'}: ${content[0].text}`,
    );
  }
} finally {
  proxy.stdin.end();
  service.kill();
  await once(service, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

async function ask(id: number, method: string, params: object) {
  proxy.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  const { value } = await answers.next();
  return JSON.parse(String(value)).result;
}

/** Returns the address of the service, from its log. Throws when the log ends without an address. */
async function addressIn(log: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: log })) {
    const address = /http:\/\/[\w.:]+/.exec(line)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error('the service did not start');
}
