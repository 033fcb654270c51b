// `node test/browser/approval-pictures.ts`: makes the pictures of docs/integrations anew. Each agent of `examples` runs on a
// service with the policies beside it until it waits for people; then the request is shown as its approver sees it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type ExampleService, startExampleService } from '../../examples/service.ts';
import { guardClaude } from '../../integrations/typescript/adapters/claude-agent.ts';
import { connect } from '../../integrations/typescript/client.ts';
import { launchBrowser } from './browser.ts';

const folder = join(import.meta.dirname, '../../docs/integrations/pictures');
const examples = join(import.meta.dirname, '../../examples');
const agents = ['ai-sdk.ts', 'openai-agents.ts', 'langchain.ts', 'mastra.ts', 'http.ts', 'python.py'];

/** Runs until it waits, and yields the id of the request. */
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

/** A command that a session of Claude Code is about to run. */
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
  for (const file of [...agents, 'claude-agent-sdk']) {
    const id = await (agents.includes(file) ? waitingRequest(service, file) : waitingCommand(service));
    await page.goto(`${service.url}/approvals/${id}`);
    await page.getByRole('button', { name: 'Approve' }).first().waitFor();
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(folder, `${file.replace(/\.\w+$/, '')}.png`) });
  }
  await page.goto(`${service.url}/approvals`);
  await page.locator('h1').waitFor();
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, 'queue.png') });
} finally {
  await browser.close();
  await service.stop();
}
