// From the link of the first start to a request that two people have approved, and to one that its control owner has
// confirmed: everything that these need is set up on the pages, by the people themselves.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { totpAt } from '../../../src/service/people/totp.ts';
import { temporaryFolder } from '../../service/store/rows.ts';
import { ask, startService } from '../acceptance/service.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const open = shareBrowser();
const password = 'seven quiet harbours at dusk';
const policy = `
approvers finance "Finance"
action pay.create { amount: money(currency) 0.01.., currency: "USD" }
action pay.address { street: string 1..200 }
policy payments on pay.create {
  allow all for 10m
  escalate large to finance needs 2 within 4h when payload.amount > 100 USD because "Over 100 USD"
}
policy addresses on pay.address {
  allow all for 10m
  reauth confirmed within 15m
}
`;

interface Started {
  readonly url: string;
  readonly link: string;
  readonly key: string;
}

async function start(): Promise<Started> {
  const policies = join(temporaryFolder(), 'policies');
  mkdirSync(policies);
  writeFileSync(join(policies, 'pay.policy'), policy);
  // A new factor counts at once, as the test cannot wait for an hour.
  const service = await startService({ policies, env: { WRIT_PEOPLE_NEW_FACTOR_MINUTES: '0' } });
  onTestFinished(async () => {
    await service.end('SIGTERM');
    rmSync(service.data, { recursive: true, force: true });
  });
  await expect.poll(service.output).toContain('/setup#token=');
  const link = /http:\S+\/setup#token=\S+/.exec(service.output())?.[0] ?? '';
  const key = /writ_[0-9A-Za-z]{46}/.exec(service.output())?.[0] ?? '';
  return { url: new URL(link).origin, link, key };
}

interface Newcomer {
  readonly name: string;
  readonly email: string;
}

/** Becomes the first admin by the link of the first start. */
async function becomeAdmin(
  page: Page,
  { link, name, email }: Newcomer & { readonly link: string },
): Promise<void> {
  await page.goto(link);
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { level: 1, name: 'Welcome to Writ' }).waitFor();
}

/** The window of a person whom the admin has invited to finance, and who has opened the link on a phone. */
async function invited(
  admin: Page,
  { url, name, email }: Newcomer & { readonly url: string },
): Promise<Page> {
  await admin.goto('/access?tab=invitations&group=finance');
  await admin.getByLabel('Name').fill(name);
  await admin.getByLabel('E-mail address').fill(email);
  await admin.getByRole('button', { name: 'Create invitation' }).click();
  await admin.getByText('so send it yourself').waitFor();
  const link = /http\S+invitation#token=\S+/.exec(await admin.locator('body').innerText())?.[0] ?? '';
  const { page } = await open({ url }, { size: sizes.phone, expected: /401/ });
  await page.goto(link);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL((address) => address.pathname !== '/invitation');
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
  return page;
}

test('two people approve the first request, and its control owner finds out that they are none of them', async () => {
  const { url, link, key } = await start();
  const { page: ann } = await open({ url }, { expected: /401|404/ });
  await becomeAdmin(ann, { link, name: 'Ann', email: 'ann@example.com' });
  const payment = { action_key: 'pay.create', payload: { amount: 5_000, currency: 'USD' } };
  const { body: asked } = await ask(url, key, payment);
  expect(asked.decision).toBe('ESCALATE');
  const request = `/approvals/${asked.request_id}`;
  await ann.getByRole('link', { name: 'Decide on it' }).click();
  await ann.getByText('Nobody can answer for finance now.').waitFor();
  // Two people are needed, and the control owner of the first agent is neither: joining would not help.
  expect(await ann.getByRole('button', { name: /^Add yourself/ }).count()).toBe(0);

  await ann.goto('/access');
  await ann
    .getByRole('row', { name: /^finance/ })
    .getByRole('button', { name: 'Add yourself' })
    .click();
  const dialog = ann.getByRole('dialog');
  expect(await dialog.evaluate((element) => getComputedStyle(element).textAlign)).toBe('start');
  await dialog.getByRole('button', { name: 'Add yourself' }).click();
  await ann.getByText('needs 2, has 1').waitFor();
  const ben = await invited(ann, { url, name: 'Ben', email: 'ben@example.com' });
  await ann.goto('/access');
  await ann.getByText('1 for agents of Ann').waitFor();
  expect(await accessibilityFaults(ann)).toEqual([]);
  await ann.goto(request);
  await ann.getByText('Too few people can answer for finance now.').waitFor();
  await ann.getByText('has 1 of the 2 members that it needs, as the approval of the control owner').waitFor();
  expect(await accessibilityFaults(ann)).toEqual([]);

  const cleo = await invited(ann, { url, name: 'Cleo', email: 'cleo@example.com' });
  await ann.goto(request);
  await ann.getByText('you are the control owner of the agent.').waitFor();
  expect(await ann.getByText('Too few people can answer').count()).toBe(0);
  for (const page of [ben, cleo]) {
    await page.goto('/approvals');
    await page.getByText('1 pending for you').waitFor();
    await page.goto(request);
    await page.getByRole('button', { name: 'Approve…' }).click();
    await page.getByRole('button', { name: 'Approve for finance' }).click();
    await page.getByRole('link', { name: /inbox/ }).first().waitFor();
  }
  await ann.getByText('Decided: approved').waitFor();
  expect(await accessibilityFaults(cleo)).toEqual([]);
});

test('the control owner sets up a factor for the first step-up, on the way from the request and back', async () => {
  const { url, link, key } = await start();
  const { page } = await open({ url }, { expected: /401|404/ });
  await becomeAdmin(page, { link, name: 'Ann', email: 'ann@example.com' });
  const address = { action_key: 'pay.address', payload: { street: '12 Elm Street' } };
  const { body: asked } = await ask(url, key, address);
  expect(asked.decision).toBe('REAUTH_REQUIRED');
  const request = `/requests/${asked.request_id}`;
  await page.goto(request);
  await page.getByRole('button', { name: 'Step up', exact: true }).click();
  await page.getByRole('link', { name: 'Set up a second factor' }).click();
  await page.getByRole('button', { name: 'Set up' }).click();
  const secret = await page.locator('pre', { hasText: /^[A-Z2-7]{32}$/ }).innerText();
  const form = page.locator('form', { has: page.getByLabel('First code') });
  await form.getByLabel('First code').fill(totpAt(secret, Date.now()));
  await form.getByLabel('Current password').fill(password);
  await form.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('button', { name: 'I have stored them' }).click();
  await page.goto(request);
  await page.getByRole('button', { name: 'Step up', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Current password').fill(password);
  await page
    .getByRole('dialog')
    .getByLabel('One-time code')
    .fill(totpAt(secret, Date.now() + 30_000));
  await page.getByRole('button', { name: 'Step up with password and code' }).click();
  await page.locator('.page-head').getByText('Approved').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});
