// Access as people see it: applying, being granted or declined, invited, changed and shut out; webhooks; and
// the record of all that.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { totpAt } from '../../../src/service/people/totp.ts';
import { firstAdmin, password, personWith, signedIn } from '../../service/http/person-client.ts';
import { shareService, startService } from '../../service/http/service.ts';
import { tamper } from '../../service/store/place.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const hourMs = 3_600_000;
const time = { behindMs: 0 };
const service = shareService({ clock: () => Date.now() - time.behindMs, areWebhooksPrivate: true });
const open = shareBrowser();
let arePeopleThere = false;

const ann = 'ann@example.com';

async function people(): Promise<void> {
  if (arePeopleThere) return;
  arePeopleThere = true;
  const admin = await firstAdmin(service());
  await personWith(service(), admin, { email: 'otto@example.com', roles: ['operator'] });
  await personWith(service(), admin, { email: 'iris@example.com', roles: ['auditor'] });
  await personWith(service(), admin, { email: 'cleo@example.com', roles: ['approver'], groups: ['finance'] });
}

async function apply(email: string, reason: string): Promise<void> {
  const reply = await fetch(`${service().url}/v1/applications`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Somebody', email, reason }),
  });
  expect(reply.status).toBe(201);
}

test('an overdue application is marked, and declined with a reason', async () => {
  await people();
  time.behindMs = 30 * hourMs;
  await apply('late@example.com', 'please');
  time.behindMs = 22 * hourMs;
  await apply('soon@example.com', 'please');
  time.behindMs = 0;
  const { page } = await open(service(), { email: ann, theme: 'dark' });
  await page.goto('/access?tab=applications');
  await page.getByText(/^Overdue for [56] h/).waitFor();
  await page.getByRole('link', { name: /2 waiting, 1 overdue/ }).waitFor();
  const waiting = await page.locator('.access-applications > li').allInnerTexts();
  expect(waiting.map((text) => /\w+@/.exec(text)?.[0])).toEqual(['late@', 'soon@']);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Decline… late@example.com' }).click();
  await page.getByLabel('Reason').fill('ask your own team first');
  await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
  await page.getByRole('row', { name: /late@example.com Declined ask your own team first/ }).waitFor();
  // Somebody else decides the other application, and it leaves the page by itself.
  const otto = await signedIn(service(), 'otto@example.com');
  const list = await otto.send('/v1/applications');
  const { id } = list.body.items.find(({ status }: { status: string }) => status === 'open');
  await otto.send(`/v1/applications/${id}/decline`, { method: 'POST', body: { reason: 'no' } });
  await page.getByText('No open applications').waitFor();
});

test('a person applies, an operator grants it, and the link signs the person in', async () => {
  await people();
  const { page } = await open(service(), { size: sizes.phone, expected: /401|400/ });
  await page.goto('/apply');
  await page.getByLabel('Your name').fill('Eve \u202Etxt.exe <img src=x>');
  await page.getByLabel('E-mail address').fill('eve@example');
  await page.getByLabel('Reason').fill('line\n'.repeat(300));
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('write an address such as').first().waitFor();
  await page.getByText('the name must not contain control or invisible characters').first().waitFor();
  await page.getByLabel('Your name').fill('Eve <img src=x>');
  await page.getByLabel('E-mail address').fill('eve@example.com');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Your application has arrived').waitFor();
  await page.locator('time', { hasText: /^in 1 d$/ }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  const { page: desk, context } = await open(service(), { email: 'otto@example.com', expected: /400/ });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await desk.goto('/account');
  // Every page tells a person who may answer that an application waits.
  await desk.getByRole('link', { name: 'People & access 1 applications waiting' }).click();
  await desk.getByRole('link', { name: 'Applications 1 waiting' }).click();
  await desk.getByText('<img src=x>').waitFor();
  await desk.getByText(/^1 d left$/).waitFor();
  await desk.getByRole('button', { name: 'Show all 301 lines' }).waitFor();
  expect(await accessibilityFaults(desk)).toEqual([]);
  await desk.getByRole('button', { name: 'Grant… eve@example.com' }).press('Enter');
  const dialog = desk.getByRole('dialog');
  // An operator cannot give anybody more rights than an operator has.
  for (const name of [/^admin/, /^operator/, /^approver/, /^finance/]) {
    expect(await dialog.getByLabel(name).count()).toBe(0);
  }
  await dialog.getByRole('button', { name: 'Grant access' }).click();
  await dialog.getByText('name at least one role').first().waitFor();
  await dialog.getByLabel(/^auditor/).check();
  await dialog.getByRole('button', { name: 'Grant access' }).click();
  await dialog.getByText('Copy it now').waitFor();
  expect(await accessibilityFaults(desk)).toEqual([]);
  await dialog.getByRole('button', { name: 'Copy invitation link' }).click();
  const link = await desk.evaluate(() => navigator.clipboard.readText());
  await dialog.getByRole('button', { name: 'Done' }).click();
  await desk.getByText('No open applications').waitFor();
  await desk.getByRole('cell', { name: 'Granted' }).waitFor();

  await page.goto(link);
  await page.getByLabel('Password').waitFor();
  // The token disappears from the address once the page has loaded.
  await page.waitForURL(`${service().url}/invitation`);
  await page.getByLabel('Password').fill(password);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});

test('an admin creates a link for a lost password, which works once', async () => {
  await people();
  const admin = { id: (await (await signedIn(service(), ann)).send('/v1/session')).body.person };
  await personWith(service(), admin.id, { email: 'lost@example.com', roles: ['auditor'] });
  await signedIn(service(), 'lost@example.com');
  const { page: desk } = await open(service(), { email: ann, theme: 'dark' });
  await desk.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await desk.goto('/access');
  await desk.getByRole('button', { name: 'Change lost@example.com' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByText('Password', { exact: true }).first().waitFor();
  await dialog.getByRole('button', { name: 'Reset password…' }).click();
  await dialog.getByLabel('Current password').fill(password);
  expect(await accessibilityFaults(desk)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create the link' }).click();
  await dialog.getByRole('button', { name: 'Copy reset link' }).click();
  const link = await desk.evaluate(() => navigator.clipboard.readText());

  const { page } = await open(service(), { size: { width: 390, height: 844 }, expected: /400|404|401/ });
  await page.goto('/');
  await page.getByText('Forgotten password? Ask an admin for a link.').waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('email');
  await page.goto(link);
  await page.getByText('lost@example.com').first().waitFor();
  await page.waitForURL(`${service().url}/reset`);
  await page.getByLabel('New password').fill('Password2026!');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page
    .getByText(/this password is easy to guess/i)
    .first()
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('New password').fill('another horse battery');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByLabel('E-mail address').fill('lost@example.com');
  await page.getByLabel('Password').fill('another horse battery');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('Your password was changed by a link from an admin').waitFor();
  const { page: again } = await open(service(), { expected: /401|404/ });
  await again.goto(link);
  await again.getByText('ask an admin for a new link').waitFor();
});

test('an admin invites, changes roles and groups, resets codes, and disables a person', async () => {
  await people();
  const cleo = await signedIn(service(), 'cleo@example.com');
  const { secret } = (await cleo.send('/v1/session/totp', { method: 'POST' })).body;
  const code = totpAt(secret, Date.now());
  await cleo.send('/v1/session/totp/confirm', { method: 'POST', body: { secret, code, password } });
  const { page } = await open(service(), { email: ann, expected: /400|401|403/ });
  await page.goto('/access');
  await page.getByRole('link', { name: 'Invite', exact: true }).click();
  await page.getByLabel('Name').fill('Dora');
  await page.getByLabel('E-mail address').fill('cleo@example.com');
  await page.getByLabel(/^auditor/).check();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create invitation' }).click();
  await page.getByText('there is a person with this address').first().waitFor();
  await page.getByLabel('E-mail address').fill('dora@example.com');
  await page.getByRole('button', { name: 'Create invitation' }).click();
  await page.getByText(/\/invitation#token=/).waitFor();

  await page.getByRole('link', { name: 'People', exact: true }).click();
  await page.getByRole('button', { name: 'Change cleo@example.com' }).click();
  await page.waitForURL(/person=/);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^finance/).waitFor();
  await dialog.getByRole('button', { name: 'Reset second factors' }).click();
  await dialog.getByLabel('Current password').fill('wrong password');
  await dialog.getByRole('button', { name: 'Reset the second factors' }).click();
  await dialog.locator('.field-problem').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByLabel('Current password').fill(password);
  await dialog.getByRole('button', { name: 'Reset the second factors' }).click();
  await dialog.getByRole('button', { name: 'Reset second factors' }).waitFor();
  await dialog.getByRole('button', { name: 'Disable' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByLabel('Name').fill('Cleo 👩‍💻');
  await dialog.getByLabel(/^owner/).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /Cleo 👩‍💻 cleo@example.com approver owner finance Active/ }).waitFor();

  const { page: hers } = await open(service(), { email: 'cleo@example.com', expected: /401|403|429/ });
  await hers.goto('/account');
  await hers.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
  await page.getByRole('button', { name: 'Change cleo@example.com' }).click();
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await dialog.getByRole('button', { name: 'Disable them' }).click();
  await dialog.getByRole('button', { name: 'Enable' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('row', { name: /cleo@example.com .* Disabled/ }).waitFor();
  await hers.reload();
  await hers.getByRole('heading', { name: 'Sign in' }).waitFor();

  // The last admin cannot remove their own access.
  await page.getByRole('button', { name: `Change ${ann}` }).click();
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await dialog.getByRole('button', { name: 'Disable them' }).click();
  await dialog.getByText('this is the last active admin').waitFor();
});

test('a webhook is added, tested, given another secret, disabled and deleted', async () => {
  await people();
  const tests: string[] = [];
  const receiver = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    // The service may have an alert to send as well.
    if (body.includes('webhook.test')) tests.push(body);
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const { page } = await open(service(), { email: ann, expected: /400/ });
  await page.goto('/alerts?tab=webhooks');
  await page.getByText('No webhook yet').waitFor();
  await page.getByRole('button', { name: 'Add a webhook or chat' }).click();
  await page.getByLabel('Address').fill('ftp://127.0.0.1/');
  await page.getByRole('button', { name: 'Add the webhook' }).click();
  await page.locator('.field-problem').first().waitFor();
  await page.getByLabel('Address').fill(url);
  await page.getByLabel(/^agent.revoked/).uncheck();
  await page.getByRole('button', { name: 'Add the webhook' }).click();
  await page.getByText(/^whsec_/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: /^Send a test/ }).click();
  await page.getByRole('row', { name: /webhook.test Delivered 1 200/ }).waitFor();
  expect(tests).toHaveLength(1);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: /^New secret/ }).click();
  await page.getByRole('button', { name: 'Create a new secret' }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: /^Disable/ }).click();
  await page.getByText('Disabled', { exact: true }).waitFor();
  await page.getByRole('button', { name: /^Delete/ }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('No webhook yet').waitFor();
});

test('changes are found by filters in the address', async () => {
  await people();
  const admin = await signedIn(service(), ann);
  const { id } = service().agent;
  await admin.send(`/v1/agents/${id}`, { method: 'PATCH', body: { tags: ['first', '<b>second</b>'] } });
  await admin.send(`/v1/agents/${id}`, { method: 'PATCH', body: { risk_tier: 'high' } });
  const { page } = await open(service(), { email: ann });
  await page.goto('/audit');
  await page.getByRole('combobox', { name: 'What', exact: true }).selectOption('Agent changed');
  await page.waitForURL(/what=agent-changed/);
  await page.getByText('before: low').waitFor();
  await page.getByText('after: high').waitFor();
  await page.getByText('after: first, <b>second</b>').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('Who').fill('nobody');
  await page.getByText('Nothing matches these filters').waitFor();
  await page.goBack();
  await page.goto(`/audit?subject=${id}&from=2020-01-01&to=2020-01-02`);
  await page.getByText('Nothing matches these filters').waitFor();
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await page.getByRole('cell', { name: 'Agent changed' }).first().waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export all records' }).click(),
  ]);
  const stream = await download.createReadStream();
  const exported = (await stream.toArray()).join('');
  expect(JSON.parse(exported.split('\n')[0] ?? '')).toMatchObject({ sequence: 1 });
});

test('operators see open invitations and withdraw them, except those of admins', async () => {
  await people();
  const admin = await signedIn(service(), ann);
  const invite = async (email: string, name: string, role: string): Promise<string> => {
    const body = { email, name, roles: [role] };
    const { body: invited } = await admin.send('/v1/invitations', { method: 'POST', body });
    return `${service().url}/invitation#token=${invited.token}`;
  };
  await invite('boss@example.com', 'Boss', 'operator');
  const link = await invite('ivy@example.com', 'Ivy <img src=x>', 'auditor');
  const { page } = await open(service(), { email: 'otto@example.com', theme: 'dark' });
  await page.goto('/access?tab=invitations');
  await page
    .getByRole('row', { name: /Boss .* operator none .* in 7 d only an admin can withdraw it/ })
    .waitFor();
  const row = page.getByRole('row', { name: /ivy@example.com auditor none .* in 7 d Withdraw/ });
  await row.getByText('<img src=x>').waitFor();
  expect(await page.getByRole('button', { name: 'Withdraw boss@example.com' }).count()).toBe(0);
  const withdraw = page.getByRole('button', { name: 'Withdraw ivy@example.com' });
  const dialog = page.getByRole('dialog', { name: 'Withdraw the invitation' });
  await withdraw.press('Enter');
  await dialog.waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await withdraw.press('Enter');
  await dialog.getByRole('button', { name: 'Withdraw it' }).press('Enter');
  await page.getByText('The invitation is withdrawn').waitFor();
  await row.waitFor({ state: 'detached' });

  // A link that was just made disappears from the page together with its invitation.
  await page.getByLabel('Name').fill('Jo');
  await page.getByLabel('E-mail address').fill('jo@example.com');
  await page.getByLabel(/^auditor/).check();
  await page.getByRole('button', { name: 'Create invitation' }).click();
  await page.getByText(/\/invitation#token=/).waitFor();
  await page.setViewportSize(sizes.phone);
  await page.getByRole('button', { name: 'Withdraw jo@example.com' }).press('Enter');
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Withdraw it' }).press('Enter');
  await page.getByRole('button', { name: 'Create invitation' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(sizes.phone.width);

  const { page: looking } = await open(service(), { email: 'iris@example.com' });
  await looking.goto('/access?tab=invitations');
  await looking.getByRole('row', { name: /Boss .* operator none .* in 7 d$/ }).waitFor();
  expect(await looking.getByRole('button', { name: /Withdraw|Create invitation/ }).count()).toBe(0);

  const { page: hers } = await open(service(), { expected: /401|404/ });
  await hers.goto(link);
  await hers.getByText('ask for a new invitation').waitFor();
});

test('the chain is verified, a changed row is named, and a changed record breaks the chain', async () => {
  const own = await startService({ isInFile: true });
  const admin = await firstAdmin(own);
  await personWith(own, admin, { email: 'audrey@example.com', roles: ['auditor'] });
  const { page } = await open(own, { email: 'audrey@example.com', theme: 'dark', size: sizes.phone });
  await page.goto('/audit');
  await page.getByRole('button', { name: 'Verify the chain' }).press('Enter');
  await page.getByText('The chain is intact').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(sizes.phone.width);
  // The records are unchanged: the report names what differs, and blames no record.
  await tamper(
    own.place,
    "UPDATE documents SET document_json = replace(document_json, 'audrey', 'nobody') WHERE kind = 'person'",
  );
  await page.getByRole('button', { name: 'Verify the chain' }).press('Enter');
  await page.getByText('Data outside the records was changed').waitFor();
  expect(await page.getByText('The chain is broken').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await tamper(own.place, "UPDATE changes SET who = 'nobody' WHERE sequence = 2");
  await page.getByRole('button', { name: 'Verify the chain' }).press('Enter');
  await page.getByText('The chain is broken at record 2').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});
