// Acting on several requests of the inbox at once, by keys alone and on a phone.

import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { signedIn } from '../../service/http/person-client.ts';
import { shareService } from '../../service/http/service.ts';
import { give } from '../../service/http/written-policies.ts';
import { accessibilityFaults, shareBrowser } from './browser.ts';
import { eventually, type Payments, payments } from './payments.ts';

const service = shareService();
const open = shareBrowser();
let scene: Promise<Payments> | null = null;

function world(): Promise<Payments> {
  scene ??= payments(service());
  return scene;
}

const phone = { width: 390, height: 844 };

/** Moves the focus to the request's row. */
async function goToRow(page: Page, id: string): Promise<void> {
  await page.locator(`a[data-row="${id}"]`).focus();
}

async function statusOf(id: string): Promise<string | undefined> {
  return (await service().store.requests.find(id))?.status;
}

test('several are rejected for one reason by keys alone; each says what came of it, and what failed is sent again', async () => {
  const { ask } = await world();
  const ids: string[] = [];
  for (const amount of [201, 202, 203, 204])
    ids.push((await ask('pay.create', { amount, vendor: 'Acme' })).request_id);
  const [first = '', faster = '', forbidden = '', left = ''] = ids;
  const { page } = await open(service(), { email: 'ben@example.com', expected: /Failed to load/ });
  const cleo = await signedIn(service(), 'cleo@example.com');
  const asked = { kind: 'question', text: 'what for?' };
  await cleo.send(`/v1/requests/${left}/comments`, { method: 'POST', body: asked });
  await page.goto('/approvals');
  await page
    .getByRole('row')
    .filter({ has: page.locator(`a[data-row="${left}"]`) })
    .getByText('A question waits for its answer')
    .waitFor();
  await goToRow(page, first);
  await page.keyboard.press('x');
  for (const _ of [faster, forbidden]) {
    await page.keyboard.press('j');
    await page.keyboard.press('x');
  }
  await page.getByText('3 chosen').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Shift+R');
  const dialog = page.getByRole('dialog', { name: 'Reject 3 requests' });
  const rows = dialog.getByRole('listitem');
  await eventually(() => rows.getByRole('link').allTextContents()).toEqual(
    [201, 202, 203].map((amount) => `amount ${amount}, vendor Acme`),
  );
  expect(await accessibilityFaults(page)).toEqual([]);
  // A rejection without a reason is not sent.
  const why = dialog.getByLabel('Why you reject');
  const send = dialog.getByRole('button', { name: 'Reject 3 for good' });
  await send.press('Enter');
  await eventually(() => why.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await statusOf(first)).toBe('pending');
  await why.fill('all the same mistake');
  expect((await give(cleo, faster, 'reject')).status).toBe(200);
  let isCut = true;
  await page.route(`**/v1/requests/${first}/reject`, (route) => (isCut ? route.abort() : route.continue()));
  await page.route(`**/v1/requests/${forbidden}/reject`, (route) =>
    route.fulfill({
      status: 403,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: 'urn:writ:error:not_allowed', title: 'Not allowed', detail: 'no more' }),
    }),
  );
  await send.press('Enter');
  await rows.first().getByText('Writ cannot be reached').waitFor();
  // The page stops after the failure, and the reason is still there.
  await dialog.getByText('0 recorded, 3 still to send').waitFor();
  expect(await why.inputValue()).toBe('all the same mistake');
  isCut = false;
  await dialog.getByRole('button', { name: 'Send the other 3 again' }).click();
  await dialog.getByText('1 recorded, 2 not').waitFor();
  const said = await rows.locator('.bulk-result').allTextContents();
  expect(said.map((text) => text.trim())).toEqual([
    'Rejected',
    'Not recorded: this request has been refused',
    'No longer allowed: no more',
  ]);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const shown = () => Promise.all(ids.map((id) => page.locator(`a[data-row="${id}"]`).count()));
  await eventually(shown).toEqual([0, 0, 1, 1]);
  expect([await statusOf(first), await statusOf(forbidden), await statusOf(left)]).toEqual([
    'rejected',
    'pending',
    'pending',
  ]);
  const { approvals } = (await cleo.send(`/v1/requests/${first}`)).body;
  expect(approvals).toMatchObject([
    { is_approved: false, comment: 'all the same mistake', by: expect.stringContaining('ben@') },
  ]);
});

test('several are approved on a phone, each for its group; what needs a step-up first is not sent', async () => {
  const { ask, ownKey } = await world();
  const { request_id: single } = await ask('pay.both', { amount: 205 });
  const { request_id: double } = await ask('pay.both', { amount: 206 });
  const { request_id: own } = await ask('pay.large_own', { amount: 207 }, ownKey);
  const { request_id: steps } = await ask('pay.owner', { amount: 208 }, ownKey);
  const dora = await open(service(), { email: 'dora@example.com', size: phone, theme: 'dark' });
  const choose = (page: Page, amount: number) => page.getByRole('checkbox', { name: `amount ${amount}` });
  await dora.page.goto('/approvals?action=pay.both');
  await choose(dora.page, 205).check();
  await choose(dora.page, 206).check();
  expect(await dora.page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  expect(await accessibilityFaults(dora.page)).toEqual([]);
  await dora.page.getByRole('region', { name: 'Chosen' }).getByRole('button', { name: 'Approve…' }).click();
  const dialog = dora.page.getByRole('dialog', { name: 'Approve 2 requests' });
  const groups = dialog.getByLabel('For which group');
  await groups.first().selectOption('legal');
  await groups.last().selectOption('finance');
  expect(await accessibilityFaults(dora.page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Approve 2' }).click();
  await dialog.getByText('2 recorded').waitFor();
  await dialog.getByText('Your approval is recorded; waiting for others').first().waitFor();
  const cleo = await signedIn(service(), 'cleo@example.com');
  const given = async (id: string) => (await cleo.send(`/v1/requests/${id}`)).body.approvals;
  expect([await given(single), await given(double)]).toMatchObject([
    [{ group: 'legal' }],
    [{ group: 'finance' }],
  ]);
  const olga = await open(service(), { email: 'olga@example.com' });
  await olga.page.goto('/approvals');
  await olga.page.getByLabel('Choose all that are shown').check();
  await olga.page.getByText('2 chosen').waitFor();
  await olga.page.getByRole('button', { name: 'Approve…' }).click();
  await olga.page.getByText('Not sent: it needs a step-up, on its own page').waitFor();
  await olga.page.getByRole('button', { name: 'Approve 1' }).click();
  await olga.page.getByText('1 recorded').waitFor();
  expect([await statusOf(own), await statusOf(steps)]).toEqual(['approved', 'pending']);
});

test('what may deceive is marked in the row, and is not approved together with others', async () => {
  const { ask, ownKey } = await world();
  // Each word is of one script, so only the service knows that it looks like a vendor that was granted before.
  for (const amount of [10, 20]) await ask('pay.create', { amount, vendor: 'ACME' }, ownKey);
  const payments = [
    { amount: 221, vendor: 'St\u0430ples' },
    { amount: 222, vendor: '\u0410\u0421\u041c\u0415' },
    { amount: 223, vendor: 'Acme', note: 'pay\u202e' },
    { amount: 224, vendor: 'Acme' },
  ];
  const ids: string[] = [];
  for (const payload of payments) ids.push((await ask('pay.create', payload, ownKey)).request_id);
  const { page } = await open(service(), { email: 'ben@example.com' });
  await page.goto('/approvals?text=22');
  const mixed = page.getByRole('row').filter({ has: page.locator(`a[data-row="${ids[0]}"]`) });
  await mixed.getByText('Letters that may deceive').waitFor();
  expect(await mixed.locator('.approvals-action mark.plain-odd').allTextContents()).toEqual(['\u0430']);
  for (const { amount } of payments) await page.getByRole('checkbox', { name: `amount ${amount}` }).check();
  let isHeld = true;
  const held: Route[] = [];
  await page.route(`**/v1/requests/${ids[3]}/confusables`, (route) =>
    isHeld ? void held.push(route) : route.continue(),
  );
  await page.getByRole('button', { name: 'Approve…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve 4 requests' });
  await dialog.getByText('Checking for letters that may deceive…').waitFor();
  await dialog.getByRole('button', { name: /^Approve \d/ }).click();
  await eventually(() => Promise.resolve(held.length)).toBe(1);
  expect(await statusOf(ids[3] ?? '')).toBe('pending');
  isHeld = false;
  await held[0]!.continue();
  const send = dialog.getByRole('button', { name: 'Approve 1' });
  await send.waitFor();
  expect(await dialog.getByText('contains letters that may deceive').count()).toBe(3);
  expect(await accessibilityFaults(page)).toEqual([]);
  await send.click();
  await dialog.getByText('1 recorded').waitFor();
  const cleo = await signedIn(service(), 'cleo@example.com');
  const approvals = ids.map(async (id) => (await cleo.send(`/v1/requests/${id}`)).body.approvals.length);
  expect(await Promise.all(approvals)).toEqual([0, 0, 0, 1]);
});

test('an approval waits for the check for letters that may deceive', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 231, vendor: 'Acme' });
  const { page } = await open(service(), { email: 'ben@example.com', expected: /Failed to load/ });
  let answer: 'hold' | 'fail' | 'pass' = 'hold';
  const held: Route[] = [];
  await page.route(`**/v1/requests/${id}/confusables`, (route) => {
    if (answer === 'hold') return void held.push(route);
    return answer === 'fail' ? route.abort() : route.continue();
  });
  await page.goto(`/approvals/${id}#approve`);
  const approve = page.getByRole('button', { name: 'Approve for finance' });
  await page.getByText('Waiting for the check for letters that may deceive').waitFor();
  await page.getByLabel('Why you approve').press('Control+Enter');
  answer = 'fail';
  await held[0]!.abort();
  await page.getByText('You can approve it once the check succeeds').waitFor();
  expect(await approve.getAttribute('aria-busy')).toBe('true');
  answer = 'hold';
  await page.getByRole('button', { name: 'Check again' }).click();
  await page.getByText('Waiting for the check for letters that may deceive').waitFor();
  // What is sent while the check is under way goes out once nothing was found.
  await page.getByLabel('Why you approve').press('Control+Enter');
  expect(await page.getByText(/^You approved/).count()).toBe(0);
  // The page also checks by itself once the service is back, and drops the earlier of the two checks.
  answer = 'pass';
  for (const route of held.slice(1)) await route.continue().catch(() => undefined);
  await page.getByText(/^You approved; \d more approvals? needed$/).waitFor();
});

test('by keys alone one assigns a request to oneself and snoozes it; others see the former, and it comes back', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 211, vendor: 'Acme' });
  const ben = (await open(service(), { email: 'ben@example.com' })).page;
  const row = ben.locator(`a[data-row="${id}"]`);
  await ben.goto('/approvals?text=211');
  await goToRow(ben, id);
  await ben.keyboard.press('m');
  await ben.getByText('Assigned to you by ben@example.com').waitFor();
  expect(await accessibilityFaults(ben)).toEqual([]);
  const cleo = (await open(service(), { email: 'cleo@example.com', size: phone, theme: 'dark' })).page;
  await cleo.goto('/approvals?assigned=others');
  await cleo.getByText('Assigned to ben@example.com by ben@example.com').waitFor();
  await cleo.goto(`/approvals/${id}`);
  const assignee = cleo.getByLabel('Assigned to');
  await assignee.selectOption({ label: 'You (cleo@example.com)' });
  await ben.getByText('Assigned to cleo@example.com by cleo@example.com').waitFor();
  expect(await accessibilityFaults(cleo)).toEqual([]);
  expect(await cleo.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await goToRow(ben, id);
  await ben.keyboard.press('h');
  const dialog = ben.getByRole('dialog', { name: 'Snooze the request' });
  await dialog.waitFor();
  expect(await accessibilityFaults(ben)).toEqual([]);
  expect(await ben.locator(':focus').textContent()).toBe('30 minutes');
  await ben.keyboard.press('Enter');
  await row.waitFor({ state: 'detached' });
  await ben.getByRole('button', { name: 'More filters' }).click();
  await ben.getByLabel('Snoozed').selectOption('yes');
  await row.waitFor();
  await ben.locator('time', { hasText: 'Snoozed until' }).waitFor();
  expect(await accessibilityFaults(ben)).toEqual([]);
  await row.click();
  await ben.getByRole('button', { name: 'Unsnooze' }).click();
  await ben.getByRole('button', { name: 'Snooze…' }).waitFor();
  await ben.goto('/approvals?text=211');
  await row.waitFor();
  // Assigning a request keeps nobody from deciding.
  expect((await give(await signedIn(service(), 'ben@example.com'), id, 'reject')).status).toBe(200);
});

test('a view is saved by its name, for its list and its person', async () => {
  await world();
  const { page } = await open(service(), { email: 'ben@example.com', size: phone });
  await page.goto('/approvals?order=risk&text=acme');
  await page.getByRole('button', { name: 'Save this view' }).click();
  await page.keyboard.type('Acme, riskiest');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Enter');
  const view = page.getByRole('link', { name: 'Acme, riskiest' });
  await view.waitFor();
  await page.goto('/requests');
  await page.getByRole('heading', { name: 'Requests' }).waitFor();
  expect(await view.count()).toBe(0);
  await page.goto('/approvals');
  await view.click();
  expect(new URL(page.url()).search).toBe('?order=risk&text=acme');
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Remove the view Acme, riskiest' }).click();
  await view.waitFor({ state: 'detached' });
  await page.goto('/approvals');
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  expect(await view.count()).toBe(0);
});

test('who is reviewing a request is seen by others, who decide all the same', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 209, vendor: 'Acme' });
  const ben = (await open(service(), { email: 'ben@example.com' })).page;
  await ben.goto('/approvals?text=209');
  await goToRow(ben, id);
  await ben.keyboard.press('c');
  await ben.getByText('You are reviewing this').waitFor();
  expect(await accessibilityFaults(ben)).toEqual([]);
  const cleo = (
    await open(service(), { email: 'cleo@example.com', size: phone, theme: 'dark', expected: /409/ })
  ).page;
  await cleo.goto('/approvals?text=209');
  const bens = cleo.getByText('ben@example.com is reviewing this');
  await bens.waitFor();
  expect(await accessibilityFaults(cleo)).toEqual([]);
  await cleo.locator(`a[data-row="${id}"]`).click();
  await bens.waitFor();
  await cleo.getByRole('button', { name: 'Start review' }).click();
  await cleo.getByText('You are reviewing this').waitFor();
  await ben.getByText(/cleo\S* is reviewing this/i).waitFor();
  expect(await accessibilityFaults(cleo)).toEqual([]);
  expect(await cleo.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await cleo.route(`**/v1/requests/${id}/review-lock`, (route) =>
    route.fulfill({
      status: 409,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: 'urn:writ:error:conflict', title: 'Not so', detail: 'it waits no more' }),
    }),
  );
  await cleo.keyboard.press('c');
  await cleo.getByText('it waits no more').waitFor();
  await cleo.unroute(`**/v1/requests/${id}/review-lock`);
  await cleo.getByRole('button', { name: 'End review' }).click();
  await cleo.getByText('You are reviewing this').waitFor({ state: 'detached' });
  // Another person's review lock keeps nobody from deciding, and ends with the wait.
  expect((await give(await signedIn(service(), 'cleo@example.com'), id, 'reject')).status).toBe(200);
  await bens.waitFor({ state: 'detached' });
});
