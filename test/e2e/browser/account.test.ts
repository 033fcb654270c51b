// A person's own account: another password, one-time codes, passkeys, tokens; and a step-up with them.

import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { totpAt } from '../../../src/service/people/totp.ts';
import { firstAdmin, password, personWith, send } from '../../service/http/person-client.ts';
import { shareService, startService } from '../../service/http/service.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const service = shareService();
const open = shareBrowser();
const ann = 'ann@example.com';
let arePeopleThere = false;

async function people(): Promise<void> {
  if (arePeopleThere) return;
  arePeopleThere = true;
  const admin = await firstAdmin(service());
  const standing = { roles: ['approver', 'auditor'], groups: ['finance'] } as const;
  await personWith(service(), admin, { email: 'ben@example.com', ...standing });
  await personWith(service(), admin, { email: 'cleo@example.com', roles: ['auditor'] });
}

test('one-time codes are set up by QR code or text, required, and removed', async () => {
  await people();
  const { page } = await open(service(), { email: 'ben@example.com', expected: /400|401|403/ });
  await page.goto('/account');
  await page.getByRole('button', { name: 'Set up' }).click();
  const picture = page.getByRole('img', { name: /^QR code/ });
  await picture.locator('path').waitFor();
  const secret = await page.locator('pre', { hasText: /^[A-Z2-7]{32}$/ }).innerText();
  const proof = page.locator('form', { has: page.getByLabel('First code') }).getByLabel('Current password');
  await page.getByLabel('First code').fill('000000');
  await proof.fill(password);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.locator('.field-problem').first().waitFor();
  expect(await page.locator('pre', { hasText: secret }).count()).toBe(1);
  expect(await accessibilityFaults(page)).toEqual([]);
  const code = totpAt(secret, Date.now());
  await page.getByLabel('First code').fill(`${code.slice(0, 3)} ${code.slice(3)}`);
  await page.getByLabel('First code').press('Enter');
  const codes = page.getByRole('dialog', { name: 'Your recovery codes' });
  await codes.getByRole('button', { name: 'Copy recovery codes' }).click();
  const [recoveryCode = ''] = (await codes.locator('pre').innerText()).split('\n');
  expect(await accessibilityFaults(page)).toEqual([]);
  await codes.getByRole('button', { name: 'I have stored them' }).click();
  await page.getByText('Set up', { exact: true }).waitFor();
  await page.getByText('10 recovery codes are left').waitFor();

  const { page: lost } = await open(service(), { size: sizes.phone, expected: /401/ });
  await lost.goto('/');
  await lost.getByLabel('E-mail address').fill('ben@example.com');
  await lost.getByLabel('Password').fill(password);
  await lost.getByRole('button', { name: 'Sign in', exact: true }).click();
  await lost.getByRole('button', { name: 'Lost your phone? Use a recovery code' }).click();
  await lost.getByLabel('Recovery code').fill(recoveryCode.toLowerCase());
  expect(await accessibilityFaults(lost)).toEqual([]);
  await lost.getByLabel('Recovery code').press('Enter');
  await lost.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await lost.goto('/account');
  await lost.getByText('9 recovery codes are left').waitFor();
  await lost.getByText('Password and recovery code').waitFor();
  // A notice stays until its person dismisses it.
  await lost.getByRole('button', { name: 'It was me' }).first().click();

  const refused = await send(service(), '/v1/session', {
    method: 'POST',
    body: { email: 'ben@example.com', password },
  });
  expect(refused.body.type).toBe('urn:writ:error:code_needed');
  // The person gets a notice of the change, whoever made it.
  await page.reload();
  await page.getByText('One-time codes were set up for your account').waitFor();
  await page.getByRole('button', { name: 'It was me' }).click();
  await page.getByText('One-time codes were set up for your account').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current password').fill(password);
  // The code of the next step, because a used code is not accepted again.
  await dialog.getByLabel('One-time code').fill(totpAt(secret, Date.now() + 30_000));
  await page.getByRole('button', { name: 'Remove them' }).click();
  await page.getByText('Not set up', { exact: true }).waitFor();
});

test('a token is created for some of the roles, shown once, works, and is removed', async () => {
  await people();
  const { page } = await open(service(), { email: 'ben@example.com', theme: 'dark', expected: /400|401/ });
  await page.goto('/account');
  await page.getByRole('button', { name: 'Create a token' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('nightly <script>');
  expect(await dialog.getByLabel(/^admin/).count()).toBe(0);
  await dialog.getByLabel('Current password').fill(password);
  await dialog.getByRole('button', { name: 'Create the token' }).click();
  await dialog.getByText('name at least one role').first().waitFor();
  await dialog.getByLabel(/^auditor/).check();
  await dialog.getByLabel('Valid for').selectOption('30 days');
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create the token' }).click();
  const text = await dialog.getByText(/^writp_/).innerText();
  expect(await accessibilityFaults(page)).toEqual([]);
  const headers = { authorization: `Bearer ${text}` };
  expect((await send(service(), '/v1/session', { headers })).body.roles).toEqual(['auditor']);
  // Escape does not close the dialog while the new token has not been copied.
  await page.keyboard.press('Escape');
  await dialog.getByText('The token is not copied yet').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Keep open' }).click();
  expect(await dialog.getByText(/^writp_/).innerText()).toBe(text);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('row', { name: /nightly <script>/ }).waitFor();
  expect(await page.content()).not.toContain(text);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: /^Remove nightly/ }).click();
  await dialog.getByRole('button', { name: 'Remove it' }).click();
  await page.getByRole('row', { name: /nightly/ }).waitFor({ state: 'detached' });
  expect((await send(service(), '/v1/session', { headers })).status).toBe(401);
});

test('a new password ends the other sessions and keeps this one', async () => {
  await people();
  const cleo = 'cleo@example.com';
  const { page } = await open(service(), { email: cleo, size: sizes.phone, expected: /401|400/ });
  const { page: other } = await open(service(), { email: cleo, expected: /401/ });
  await other.goto('/account');
  await page.goto('/account');
  await page.getByLabel('Current password').fill('wrong password');
  await page.getByLabel('New password').fill('cleocleocleo cleo');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.locator('.field-problem').first().waitFor();
  await page.getByLabel('Current password').fill(password);
  await page.getByText('Leave your address out of it').waitFor();
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('leave your address out of the password').first().waitFor();
  await page.getByLabel('New password').fill('an entirely new password');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('Your password is changed').waitFor();
  await page.getByText('Your password was changed').waitFor();
  await page.getByRole('row', { name: /This session/ }).waitFor();
  await page.getByRole('button', { name: 'Create a token' }).click();
  await page.getByRole('dialog').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(sizes.phone.width);
  await other.reload();
  await other.getByRole('heading', { name: 'Sign in' }).waitFor();
});

/** Passkeys belong to the public address, so connections to its port are passed on to the service. */
async function startReachable() {
  const target = { port: 0 };
  const sockets = new Set<{ destroy(): void }>();
  const door = createServer((incoming) => {
    const outgoing = connect(target.port, '127.0.0.1');
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const url = `http://localhost:${(door.address() as AddressInfo).port}`;
  const behind = await startService({ publicUrl: url, newFactorMs: 0 });
  target.port = behind.port;
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    door.close();
  });
  return { ...behind, url };
}

test('a passkey is created, steps up for an agent, signs in, and is removed', async () => {
  const reachable = await startReachable();
  await firstAdmin(reachable);
  const { page, context } = await open(reachable, { email: ann, expected: /401|403/ });
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.goto('/account');
  await page.getByRole('button', { name: 'Add a passkey' }).press('Enter');
  await page.getByLabel('Name of the device').fill('my phone');
  await page.getByRole('dialog').getByLabel('Current password').fill(password);
  await page.getByRole('button', { name: 'Continue in the browser' }).click();
  const remove = page.getByRole('button', { name: 'Remove my phone' });
  await remove.waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.goto('/agents/new');
  await page.getByLabel('Name').fill('stepped-up');
  await page.getByRole('button', { name: 'Register an agent' }).click();
  await page.getByRole('link', { name: 'Open the agent' }).click();
  // Without one-time codes, only the passkey is offered.
  await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
  expect(await page.getByLabel('One-time code').count()).toBe(0);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText(/^You stepped up/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.goto('/account');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await remove.click();
  await page.getByRole('dialog').getByRole('button', { name: 'With a passkey instead' }).click();
  await page.getByText('A passkey is your fingerprint').waitFor();
});

test('sessions are listed, and another one is ended', async () => {
  await people();
  const { page } = await open(service(), { email: ann, size: sizes.phone });
  const { page: other } = await open(service(), { email: ann, expected: /401/ });
  await other.goto('/account');
  await page.goto('/account');
  await page.getByRole('row', { name: /This session/ }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(sizes.phone.width);
  const end = page.getByRole('button', { name: 'End the session from 127.0.0.1' });
  await end.first().press('Enter');
  await page.getByText('The session has ended').waitFor();
  await end.waitFor({ state: 'detached' });
  await other.reload();
  await other.getByRole('heading', { name: 'Sign in' }).waitFor();
});
