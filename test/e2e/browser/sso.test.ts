// Single sign-on with a real provider, in a real browser: to the provider, back, signed in, and signed out
// again.

import { expect, test } from 'vitest';
import { firstAdmin, send } from '../../service/http/person-client.ts';
import { startService } from '../../service/http/service.ts';
import { startSsoService } from '../../service/http/sso-service.ts';
import { accessibilityFaults, shareBrowser } from './browser.ts';

const open = shareBrowser();
const phone = { width: 390, height: 844 };

test('a person signs in at the provider with the roles of their groups, and is signed out after removal there', async () => {
  const { service, oidc } = await startSsoService({ recheckMs: 300 });
  await firstAdmin(service);
  const ben = { email: 'ben@example.com', email_verified: true, name: 'Ben Miller' };
  oidc.accounts.set('ben', { ...ben, groups: ['interns'] });
  const { page } = await open(service, { size: phone, theme: 'dark', expected: /401|ERR_NAME_NOT_RESOLVED/ });
  await page.goto('/account');
  const button = page.getByRole('link', { name: 'Sign in with Example' });
  await button.waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  const atProvider = async (): Promise<void> => {
    await button.press('Enter');
    await page.locator('input[name=login]').fill('ben');
    await page.locator('input[name=password]').fill('x');
    await page.getByRole('button', { name: /sign-in/i }).click();
    await page.getByRole('button', { name: /continue/i }).click();
  };
  await atProvider();
  await page.getByText('You are in no group that has access here.').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.context().clearCookies();
  oidc.accounts.set('ben', { ...ben, groups: ['payments', 'everybody'] });
  await page.goto('/account');
  await atProvider();
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
  await page.getByText('Single sign-on', { exact: true }).waitFor();
  const content = page.locator('#content');
  await content.getByText('Ben Miller').waitFor();
  await content.getByText('finance', { exact: true }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  oidc.accounts.delete('ben');
  const isIn = async () => (await page.request.get('/v1/session')).status() === 200;
  for (const endsAt = Date.now() + 10_000; await isIn(); ) {
    if (Date.now() > endsAt) throw new Error('they are still in');
    await page.waitForTimeout(100);
  }
  await page.reload();
  await button.waitFor();
});

test('while nobody has access, the sign-in page names the link to open', async () => {
  const service = await startService();
  const { page } = await open(service, { size: phone, expected: /401/ });
  await page.goto('/');
  await page.getByText('Nobody has access yet.').waitFor();
  expect(await page.getByRole('link', { name: 'Apply for access' }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await firstAdmin(service);
  await page.reload();
  await page.getByLabel('E-mail address').waitFor();
  expect((await send(service, '/v1/sign-in')).body.sso_name).toBeNull();
});
