// `node test/e2e/browser/approval-pictures.ts`: takes the pictures of docs/integrations. Each agent of `examples`
// runs on a service with the policies beside it until it waits for people; then the page shows the request as
// its approver sees it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { type ExampleService, startExampleService } from '../../../examples/service.ts';
import { guardClaude } from '../../../integrations/typescript/adapters/claude-agent.ts';
import { connect } from '../../../integrations/typescript/client.ts';
import { launchBrowser } from './browser.ts';

const folder = join(import.meta.dirname, '../../../docs/integrations/pictures');
const examples = join(import.meta.dirname, '../../../examples');
const writCommand = join(import.meta.dirname, '../../../src/cli/writ.js');
const agents = [
  'frameworks/ai-sdk.ts',
  'frameworks/openai-agents.ts',
  'frameworks/langchain.ts',
  'frameworks/mastra.ts',
  'http.ts',
  'python.py',
];

/** An MCP server with a tool `send`. */
const mailServer = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const inputSchema = { type: 'object', properties: { to: { type: 'string' }, text: { type: 'string' } } };
  const result =
    method === 'initialize'
      ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'mail', version: '1' } }
      : { tools: [{ name: 'send', inputSchema }] };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;

/** Runs the example until its request waits; returns the id of the request. */
async function waitingRequest(service: ExampleService, file: string): Promise<string> {
  const env = {
    ...process.env,
    WRIT_URL: service.url,
    WRIT_API_KEY: await service.addAgent(file.replace(/\.\w+$/, '-assistant')),
  };
  const program = file.endsWith('.py') ? 'python3' : process.execPath;
  const child = spawn(program, [join(examples, file)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      const [, id] = /\/requests\/([\w-]+)\n/.exec(printed) ?? [];
      if (id !== undefined) return id;
    }
    throw new Error(`${file} ended without a wait:\n${printed}`);
  } finally {
    child.kill();
    await ended;
  }
}

/** A request for a command that a session of Claude Code is about to run. */
async function waitingCommand(service: ExampleService): Promise<string> {
  const key = await service.addAgent('claude-agent-sdk-assistant');
  const waits: string[] = [];
  const { hooks } = guardClaude({
    writ: connect({ url: service.url, key, wait: 0 }),
    onWait: ({ requestId }) => waits.push(requestId),
  });
  const tool_input = { command: 'git push origin main', description: 'Publishes the branch' };
  const event = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input };
  await hooks.PreToolUse[0]?.hooks[0]?.(event, 'toolu_1', { signal: new AbortController().signal });
  return waits[0] ?? '';
}

/** A request for a mail that a program in TypeScript is about to send. */
async function waitingMail(service: ExampleService): Promise<string> {
  const writ = connect({ url: service.url, key: await service.addAgent('typescript-program'), wait: 0 });
  const decision = await writ.authorize('mail.send', {
    to: 'kim@shop.example',
    text: 'Your order is ready.',
  });
  return decision.requestId ?? '';
}

/** A request for a command of a coding agent, sent by the program that the agent's hook starts. */
async function waitingHook(service: ExampleService): Promise<string> {
  const child = spawn(process.execPath, [writCommand, 'hook', '--dialect', 'claude', '--wait', '0'], {
    env: { ...process.env, WRIT_URL: service.url, WRIT_API_KEY: await service.addAgent('claude-code') },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const tool_input = { command: 'npm publish', description: 'Publishes the package' };
  const event = {
    hook_event_name: 'PreToolUse',
    session_id: 's',
    tool_use_id: 't',
    tool_name: 'Bash',
    tool_input,
  };
  child.stdin.end(JSON.stringify(event));
  return idIn((await child.stderr.toArray()).join(''));
}

/** A request for a tool call that goes through the proxy to a server with one tool. */
async function waitingToolCall(service: ExampleService): Promise<string> {
  const proxy = [writCommand, 'mcp', '--as', 'mail', '--service', service.url, '--hold', '0'];
  const child = spawn(process.execPath, [...proxy, '--', process.execPath, '-e', mailServer], {
    env: { ...process.env, WRIT_API_KEY: await service.addAgent('mcp-client') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const send = (id: number, method: string, params: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  const clientInfo = { name: 'client', version: '1' };
  send(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  const to = { to: 'kim@shop.example', text: 'Your invoice is attached.' };
  try {
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      if (printed.includes('"id":0') && !printed.includes('"id":1'))
        send(1, 'tools/call', { name: 'send', arguments: to });
      if (printed.includes('/requests/')) return idIn(printed);
    }
    throw new Error(`the proxy ended without a wait:\n${printed}`);
  } finally {
    child.kill();
  }
}

function idIn(text: string): string {
  const [, id] = /\/requests\/([\w-]+)/.exec(text) ?? [];
  if (id === undefined) throw new Error(`no request is named:\n${text}`);
  return id;
}

async function signIn(page: Page, { approver, url }: ExampleService): Promise<void> {
  await page.goto(`${url}/approvals`);
  await page.getByLabel('E-mail').fill(approver.email);
  await page.getByLabel('Password').fill(approver.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('h1').waitFor();
}

mkdirSync(folder, { recursive: true });
const service = await startExampleService();
const browser = await launchBrowser();
try {
  const context = await browser.newContext({
    viewport: { width: 1000, height: 590 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  await signIn(page, service);
  const asking = new Map<string, () => Promise<string>>([
    ...agents.map((file) => [basename(file, extname(file)), () => waitingRequest(service, file)] as const),
    ['claude-agent-sdk', () => waitingCommand(service)],
    ['typescript', () => waitingMail(service)],
    ['hooks', () => waitingHook(service)],
    ['mcp', () => waitingToolCall(service)],
  ]);
  for (const [name, ask] of asking) {
    const id = await ask();
    await page.goto(`${service.url}/approvals/${id}`);
    await page.getByRole('button', { name: 'Approve' }).first().waitFor();
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
  await page.goto(`${service.url}/approvals`);
  await page.locator('h1').waitFor();
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, 'queue.png') });
} finally {
  await browser.close();
  await service.stop();
}
