// Enforcement points: registering and looking after them, what other roles see of them, and what a request
// shows of its point.

import { expect, test } from 'vitest';
import { firstAdmin, personWith, signedIn } from '../../service/http/person-client.ts';
import { authorize, shareService } from '../../service/http/service.ts';
import { accessibilityFaults, shareBrowser } from './browser.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';
const phone = { width: 390, height: 844 };

const asked = (key: string, headers: Readonly<Record<string, string>> = {}) =>
  authorize(service(), { key, headers: { 'x-writ-agent': 'buyer', ...headers } });

test('a point is registered by keyboard, asks, is listed, rotated, disabled and revoked', async () => {
  const admin = await firstAdmin(service());
  await personWith(service(), admin, { email: 'audrey@example.com', roles: ['auditor'] });
  const { page, context } = await open(service(), { email });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/enforcement-points');
  await page.getByText('No enforcement point yet').waitFor();
  await page.getByRole('button', { name: 'Register an enforcement point' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('files <proxy>');
  await dialog.getByLabel('Add an agent').fill('nobody');
  await page.keyboard.press('Enter');
  await dialog.getByText('there is no agent nobody').waitFor();
  await dialog.getByLabel('Add an agent').fill('BUYER');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Remove buyer' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Register' }).press('Enter');
  await dialog.getByText('Copy it now').waitFor();
  await dialog.getByText(`X-Writ-Agent: ${service().agent.id}`).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.getByText('The key is not copied yet.').waitFor();
  await dialog.getByRole('button', { name: 'Copy key' }).press('Enter');
  await page.getByText('key: copied').waitFor({ state: 'attached' });
  const key = await page.evaluate(() => navigator.clipboard.readText());
  const reply = await asked(key, { 'x-agent-session': 'run 7' });
  expect(reply.status).toBe(200);
  const { request_id: id } = (await reply.json()) as { readonly request_id: string };
  await dialog.getByRole('link', { name: 'Open it' }).press('Enter');

  const details = page.getByRole('region', { name: 'Details' });
  await details.getByRole('link', { name: 'buyer' }).waitFor();
  // A use is written within a second; no hint announces it.
  const ann = await signedIn(service(), email);
  const seenAt = async () => (await ann.send('/v1/enforcement-points')).body.items[0].last_seen_at;
  await expect.poll(seenAt).not.toBeNull();
  await page.reload();
  await details.getByText('Last seen').waitFor();
  expect(await details.innerText()).not.toContain('never');
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.getByRole('button', { name: 'Rotate key' }).click();
  await page.getByLabel('Now: requests').check();
  await page.getByRole('button', { name: 'Create a new key' }).click();
  await page.getByText('Copy it now').waitFor();
  const next = await dialog.locator('pre').first().innerText();
  expect((await asked(key)).status).toBe(401);
  expect((await asked(next)).status).toBe(200);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('Ended').waitFor();
  expect(await page.content()).not.toContain(next);

  await details.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByRole('button', { name: 'Remove buyer' }).click();
  await dialog.getByLabel('May release grants').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await details.getByText('nobody yet').waitFor();
  expect(await details.innerText()).toMatch(/May release grants\s+yes/);
  expect((await ann.send('/v1/enforcement-points')).body.items[0].may_release).toBe(true);
  expect((await asked(next)).status).toBe(403);

  await page.getByRole('button', { name: 'Disable' }).click();
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('Disabled', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Enable' }).click();
  await dialog.getByRole('button', { name: 'Enable' }).click();
  await page.locator('header').getByText('Active', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Revoke' }).press('Enter');
  await page.getByLabel('Name of the enforcement point').fill('files <proxy>');
  await page.keyboard.press('Enter');
  await page.getByText('Revoked', { exact: true }).waitFor();
  for (const name of ['Rotate key', 'Edit', 'Enable', 'Revoke'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);

  await page.goto(`/requests/${id}`);
  const record = page.getByRole('region', { name: 'Record' });
  await record.getByRole('link', { name: 'files <proxy>' }).waitFor();
  expect(await record.innerText()).toMatch(/Session, as the enforcement point says\s+run 7\n/);
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('an auditor sees everything on a phone and has no buttons; a request without a point names the agent', async () => {
  const { page } = await open(service(), { email: 'audrey@example.com', theme: 'dark', size: phone });
  await page.goto('/enforcement-points');
  await page.getByRole('link', { name: 'files <proxy>' }).waitFor();
  expect(await page.getByRole('button', { name: 'Register an enforcement point' }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'files <proxy>' }).click();
  await page.getByRole('region', { name: 'Keys' }).getByText('Active').waitFor();
  for (const name of ['Disable', 'Rotate key', 'Edit', 'Enable', 'Revoke'])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(phone.width);
  const own = (await (await authorize(service())).json()) as { readonly request_id: string };
  await page.goto(`/requests/${own.request_id}`);
  const record = page.getByRole('region', { name: 'Record' });
  await record.getByText('the agent itself').waitFor();
  expect(await record.innerText()).toMatch(/Session, as the agent says\s+none sent\n/);
});
