// The first minutes with the real command: its set-up link, the first admin, the first agent, the first decision.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ask, startService } from '../acceptance/service.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const open = shareBrowser();
const policies = join(import.meta.dirname, '../../../policies');
/** Nobody is signed in at the first load; the link is used up at the second. */
const looked = /401|404|410|400|ERR_FAILED/;

interface Started {
  readonly url: string;
  readonly link: string;
}

/** The address of the service, and the link that it printed. */
async function start(): Promise<Started> {
  const service = await startService({ policies });
  onTestFinished(async () => {
    await service.end('SIGTERM');
    rmSync(service.data, { recursive: true, force: true });
  });
  await expect.poll(service.output).toContain('/setup#token=');
  const link = /http:\S+\/setup#token=\S+/.exec(service.output())?.[0] ?? '';
  return { url: new URL(link).origin, link };
}

test('from the link of the first start to the first decision', async () => {
  const { url, link } = await start();
  const { page } = await open({ url }, { expected: looked });
  await page.goto(link);
  await page.getByLabel('Your name').waitFor();
  await page.waitForURL(`${url}/setup`);
  expect(await page.content()).not.toContain(new URL(link).hash.slice('#token='.length));
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.getByLabel('Your name').focus();
  await page.keyboard.type('Ann');
  await page.keyboard.press('Tab');
  await page.keyboard.type('ann@example.com');
  await page.keyboard.press('Tab');
  await page.keyboard.type('annannannann');
  await page.getByText('Too few different characters').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('A password has at least 5 different characters.').waitFor();
  // The service refuses what attackers try first, and so does the meter, which never says that it will do.
  await page.getByLabel('Password').fill('correct horse battery staple');
  await page.locator('.new-password-hint', { hasText: 'This password is easy to guess' }).waitFor();
  await page.getByLabel('Password').press('Enter');
  await page.locator('.field-problem', { hasText: 'This password is easy to guess' }).waitFor();
  expect((await page.locator('body').innerText()).match(/easy to guess/g)).toHaveLength(1);
  await page.getByLabel('Password').fill('seven quiet harbours at dusk');
  await page.getByText('Strong.').waitFor();
  await page.getByLabel('Password').press('Enter');

  await page.getByRole('heading', { level: 1, name: 'Welcome to Writ' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  // The agent of the first start is taken over.
  await page.getByRole('heading', { name: 'Your first agent is registered' }).waitFor();
  await page.getByText('Waiting for its first request').waitFor();
  await page.getByRole('link', { name: 'Register another agent' }).press('Enter');
  await page.getByLabel('Name').fill('my-agent');
  await page.getByRole('button', { name: 'Register an agent' }).press('Enter');
  await page.getByText('Copy it now').waitFor();
  const curl = await page.locator('pre', { hasText: 'curl -sS' }).innerText();
  expect(curl).toContain(`${url}/v1/authorize`);
  await page.getByRole('tab', { name: 'curl' }).press('ArrowRight');
  await page.getByText("import { connect } from 'writ/client';").waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  for (const name of ['Python', 'MCP', 'Claude Code hooks']) {
    await page.getByRole('tab', { name }).click();
    await page.getByRole('tabpanel', { name }).getByText('WRIT_API_KEY').first().waitFor();
  }
  expect(await accessibilityFaults(page)).toEqual([]);

  // Sends the printed request as a program would; the page shows the result by itself.
  const key = /X-Agent-API-Key: (\w+)/.exec(curl)?.[1] ?? '';
  const body = JSON.parse(/-d '(.*)'$/s.exec(curl)?.[1] ?? '') as { action_key: string; payload: unknown };
  const { body: decided } = await ask(url, key, body);
  const seeWhy = page.getByRole('link', { name: 'See why' });
  await seeWhy.waitFor();
  expect(decided.decision).toBe('ALLOW');
  await page.getByText('Allow', { exact: true }).waitFor();
  expect(await seeWhy.getAttribute('href')).toBe(`/requests/${decided.request_id}`);
  expect(await accessibilityFaults(page)).toEqual([]);

  // The next step is an approval, and the group that is asked has nobody yet.
  const asked = { amount: 5_000, currency: 'USD', vendor: 'Staples', description: 'paper' };
  const { body: waiting } = await ask(url, key, { action_key: 'payment.create', payload: asked });
  const decide = page.getByRole('link', { name: 'Decide on it' });
  await decide.waitFor();
  expect(await decide.getAttribute('href')).toBe(`/approvals/${waiting.request_id}`);
  await page.getByText('Nobody can answer for finance now.').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.reload();
  await seeWhy.first().waitFor();
  await page.getByText('is not kept here').waitFor();
  expect(await page.content()).not.toContain(key);

  await page.goto(link);
  await page.getByLabel('Your name').fill('Eve');
  await page.getByLabel('E-mail address').fill('eve@example.com');
  await page.getByLabel('Password').fill('seven quiet harbours at dusk');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Your name').inputValue()).toBe('Eve');
});

test('the first request can be sent from the page on a phone', async () => {
  const { url, link } = await start();
  const { page } = await open({ url }, { expected: looked, size: sizes.phone, theme: 'dark' });
  await page.goto('/setup');
  await page.getByText('The link is incomplete').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  // The link is opened in a window that already shows the page.
  await page.goto(link);
  await page.getByLabel('Your name').fill('Ann');
  await page.waitForURL(`${url}/setup`);
  await page.getByLabel('E-mail address').fill('ann@example.com');
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByLabel('Show it').check();
  expect(await page.getByLabel('Password').getAttribute('type')).toBe('text');
  // The link is used up, and then the connection is lost, so the person can only sign in.
  const signIn = (address: URL) => address.pathname === '/v1/session';
  await page.route(signIn, (route) => route.abort());
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('Your account is created').waitFor();
  await page.unroute(signIn);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Your first agent is registered' }).waitFor();
  await page.goto('/agents?owner=ann@example.com');
  await page.getByRole('link', { name: 'first-agent' }).waitFor();
  await page.goto('/welcome');
  await page.getByRole('link', { name: 'Register another agent' }).click();
  await page.getByLabel('Name').fill('first-agent');
  await page.getByRole('button', { name: 'Register an agent' }).click();
  await page.getByText('another agent has this name').waitFor();
  expect((await page.locator('body').innerText()).match(/another agent has this name/gi)).toHaveLength(1);
  await page.getByLabel('Name').fill('mine');
  await page.getByRole('button', { name: 'Register an agent' }).click();
  await page.getByRole('button', { name: 'Try it from here' }).click();
  await page.getByRole('link', { name: 'See why' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(sizes.phone.width);
});
