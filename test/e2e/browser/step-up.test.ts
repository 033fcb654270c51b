// A step-up that can be finished, and one that cannot yet: the dialog says what is missing before anything is typed,
// from when on a new factor counts, in the reader's time, and that a code was used.

import { expect, test } from 'vitest';
import { totpAt } from '../../../src/service/people/totp.ts';
import { setUpCodes } from '../../service/http/person-client.ts';
import { startService } from '../../service/http/service.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';
import { payments } from './payments.ts';

const open = shareBrowser();
const email = 'olga@example.com';
const password = 'correct horse battery';
const minuteMs = 60_000;

const berlin = (ms: number): string =>
  new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'Europe/Berlin' }).format(ms);

test('a factor that is too new shows when it can be used, and whether the request ends before that', async () => {
  const service = await startService();
  const scene = await payments(service);
  const setUpMs = Date.now() - 10 * minuteMs;
  await setUpCodes(service, scene.olga, { secret: scene.totpSecret, clock: () => setUpMs });
  const { request_id: id } = await scene.ask('pay.owner', { amount: 1 }, scene.ownKey);
  const code = totpAt(scene.totpSecret, Date.now());
  for (const size of [sizes.laptop, { width: 390, height: 844 }]) {
    const { page } = await open(service, { email, code: size === sizes.laptop ? code : later(scene), size });
    await page.goto(`/requests/${id}`);
    await page.getByRole('button', { name: 'Step up', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Your second factor is new.').waitFor();
    await dialog.getByText(berlin(setUpMs + 60 * minuteMs)).waitFor();
    await dialog.getByText('the agent can ask again').waitFor();
    expect(await dialog.getByLabel('Password').count()).toBe(0);
    expect(await dialog.innerText()).not.toMatch(/\d{4}-\d\d-\d\dT/);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  }
});

/** The code of the next half minute, which is accepted already. */
function later({ totpSecret }: { readonly totpSecret: string }): string {
  return totpAt(totpSecret, Date.now() + 30_000);
}

test('a used code is reported once at its field, and the next one works', async () => {
  const service = await startService();
  const scene = await payments(service);
  const clock = () => Date.now() - 120 * minuteMs;
  await setUpCodes(service, scene.olga, { secret: scene.totpSecret, clock });
  const { request_id: id } = await scene.ask('pay.owner', { amount: 1 }, scene.ownKey);
  const code = totpAt(scene.totpSecret, Date.now());
  const { page } = await open(service, { email, code, expected: /401/ });
  await page.goto(`/requests/${id}`);
  await page.getByRole('button', { name: 'Step up', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current password').fill(password);
  await dialog.getByLabel('One-time code').fill(code);
  const send = dialog.getByRole('button', { name: 'Step up with password and code' });
  await send.click();
  await dialog.getByText('This code was used before: wait for the next one.').waitFor();
  expect((await dialog.innerText()).match(/used before/g)).toHaveLength(1);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByLabel('One-time code').fill(totpAt(scene.totpSecret, Date.now() + 30_000));
  await send.click();
  await page.locator('.page-head').getByText('Approved').waitFor();
});
