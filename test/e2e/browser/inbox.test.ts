// Acting on several requests of the inbox at once, by keys alone and on a phone.

import type { Page } from 'playwright-core';
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

test('several requests are rejected for one reason with keys only, each with its result', async () => {
  const { ask } = await world();
  const ids: string[] = [];
  for (const amount of [201, 202, 203, 204])
    ids.push((await ask('pay.create', { amount, vendor: 'Acme' })).request_id);
  const [first = '', faster = '', last = '', left = ''] = ids;
  const { page } = await open(service(), { email: 'ben@example.com', expected: /Failed to load/ });
  const cleo = await signedIn(service(), 'cleo@example.com');
  const asked = { kind: 'question', text: 'what for?' };
  await cleo.send(`/v1/requests/${left}/comments`, { method: 'POST', body: asked });
  await page.goto('/approvals');
  await page
    .getByRole('row')
    .filter({ has: page.locator(`a[data-row="${left}"]`) })
    .getByText('A question is not answered yet')
    .waitFor();
  await goToRow(page, first);
  await page.keyboard.press('x');
  for (const _ of [faster, last]) {
    await page.keyboard.press('j');
    await page.keyboard.press('x');
  }
  await page.getByText('3 chosen').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Shift+R');
  await page.getByRole('dialog', { name: 'Reject 3 requests' }).waitFor();
  const dialog = page.getByRole('dialog');
  const rows = dialog.getByRole('listitem');
  await eventually(() => rows.getByRole('link').allTextContents()).toEqual(
    [201, 202, 203].map((amount) => `amount ${amount}, vendor Acme`),
  );
  expect(await accessibilityFaults(page)).toEqual([]);
  // A rejection without a reason is not sent.
  const why = dialog.getByLabel('Why you reject');
  const send = dialog.getByRole('button', { name: 'Reject 3 permanently' });
  await send.press('Enter');
  await eventually(() => why.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await statusOf(first)).toBe('pending');
  await why.fill('all the same mistake');
  expect((await give(cleo, faster, 'reject')).status).toBe(200);
  // A vote that does not arrive keeps the reason, and can be sent again.
  await page.route('**/v1/approvals/votes', (route) => route.abort());
  await send.press('Enter');
  await dialog.getByText('Writ cannot be reached').waitFor();
  expect(await why.inputValue()).toBe('all the same mistake');
  await page.unroute('**/v1/approvals/votes');
  await send.press('Enter');
  const sent = page.getByRole('dialog', { name: '2 of 3 recorded' });
  await sent.waitFor();
  const said = await sent.locator('.bulk-result').allTextContents();
  expect(said.map((text) => text.trim())).toEqual([
    'Rejected',
    'Not recorded: this request has been refused',
    'Rejected',
  ]);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const shown = () => Promise.all(ids.map((id) => page.locator(`a[data-row="${id}"]`).count()));
  await eventually(shown).toEqual([0, 0, 0, 1]);
  expect([await statusOf(first), await statusOf(last), await statusOf(left)]).toEqual([
    'rejected',
    'rejected',
    'pending',
  ]);
  const { approvals } = (await cleo.send(`/v1/requests/${first}`)).body;
  expect(approvals).toMatchObject([
    { is_approved: false, comment: 'all the same mistake', by: expect.stringContaining('ben@') },
  ]);
});

test('several requests are approved on a phone, each for its group, except those that need a step-up first', async () => {
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
  await dora.page.getByRole('region', { name: 'Chosen' }).getByRole('button', { name: 'Approve 2…' }).click();
  await dora.page.getByRole('dialog', { name: 'Approve 2 requests' }).waitFor();
  const dialog = dora.page.getByRole('dialog');
  const groups = dialog.getByLabel('For which group');
  await groups.first().selectOption('legal');
  await groups.last().selectOption('finance');
  expect(await accessibilityFaults(dora.page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Approve 2' }).click();
  await dora.page.getByRole('dialog', { name: '2 of 2 recorded' }).waitFor();
  await dialog.getByText('Your approval is recorded; pending for others').first().waitFor();
  const cleo = await signedIn(service(), 'cleo@example.com');
  const given = async (id: string) => (await cleo.send(`/v1/requests/${id}`)).body.approvals;
  expect([await given(single), await given(double)]).toMatchObject([
    [{ group: 'legal' }],
    [{ group: 'finance' }],
  ]);
  const olga = await open(service(), { email: 'olga@example.com' });
  await olga.page.goto('/approvals');
  await olga.page.getByLabel('Select all on this page').check();
  await olga.page.getByText('2 chosen').waitFor();
  await olga.page.getByRole('button', { name: 'Approve 1…' }).click();
  await olga.page.getByText('Open it: it needs a step-up').waitFor();
  await olga.page.getByRole('button', { name: 'Approve 1', exact: true }).click();
  await olga.page.getByRole('dialog', { name: '1 of 2 recorded' }).waitFor();
  await olga.page.getByText('Open it: it needs a step-up').waitFor();
  expect([await statusOf(own), await statusOf(steps)]).toEqual(['approved', 'pending']);
});

test('confusable characters are marked in the row, which is not approved in bulk', async () => {
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
  expect(await mixed.locator('a mark.plain-odd').allTextContents()).toEqual(['\u0430']);
  // What only the service knows is marked in the row as well.
  expect(await page.getByText('Letters that may deceive').count()).toBe(3);
  for (const { amount } of payments) await page.getByRole('checkbox', { name: `amount ${amount}` }).check();
  await page.getByText('3 to approve one by one').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Approve 1…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve 1 request' });
  await dialog.waitFor();
  expect(await dialog.getByText('Open it: letters that may deceive').count()).toBe(3);
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Approve 1', exact: true }).click();
  await page.getByRole('dialog', { name: '1 of 4 recorded' }).waitFor();
  const cleo = await signedIn(service(), 'cleo@example.com');
  const approvals = ids.map(async (id) => (await cleo.send(`/v1/requests/${id}`)).body.approvals.length);
  expect(await Promise.all(approvals)).toEqual([0, 0, 0, 1]);
});

test('the warning is part of the request, before it can be approved', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 231, vendor: 'St\u0430ples' });
  const { page } = await open(service(), { email: 'ben@example.com' });
  const held = Promise.withResolvers<void>();
  await page.route(`**/v1/requests/${id}`, async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto(`/approvals/${id}#approve`);
  await page.getByRole('heading', { level: 1, name: 'Approval' }).waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('Control+Enter');
  expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  held.resolve();
  await page.getByRole('button', { name: 'Approve for finance' }).waitFor();
  expect(await page.getByText('Contains letters that may deceive').isVisible()).toBe(true);
  const heading = page.getByRole('heading', { level: 1 });
  expect(await heading.locator('mark.plain-odd').textContent()).toBe('\u0430');
  expect(await statusOf(id)).toBe('pending');
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('repeats are one row, which is unfolded or decided as a whole', async () => {
  const { ask } = await world();
  const payload = { amount: 241, vendor: 'Repeat Ltd' };
  const ids: string[] = [];
  for (let times = 0; times < 3; times += 1) ids.push((await ask('pay.both', payload)).request_id);
  await ask('pay.both', { ...payload, amount: 242 });
  const { page } = await open(service(), { email: 'ben@example.com' });
  await page.goto('/approvals?text=repeat');
  await page.getByText('4 found').waitFor();
  const rows = page.locator('a[data-row]');
  await eventually(() => rows.count()).toBe(2);
  const alike = page.getByRole('button', { name: '3 alike' });
  await alike.click();
  await eventually(() => rows.count()).toBe(4);
  expect(await alike.getAttribute('aria-expanded')).toBe('true');
  expect(await accessibilityFaults(page)).toEqual([]);
  await alike.click();
  await eventually(() => rows.count()).toBe(2);
  await page.getByRole('checkbox', { name: 'Choose amount 241' }).check();
  await page.getByText('3 chosen').waitFor();
  await page.getByRole('button', { name: 'Reject 3…' }).click();
  await page.getByLabel('Why you reject').fill('asked three times');
  await page.getByRole('button', { name: 'Reject 3 permanently' }).click();
  await page.getByRole('dialog', { name: '3 of 3 recorded' }).waitFor();
  expect(await Promise.all(ids.map(statusOf))).toEqual(['rejected', 'rejected', 'rejected']);
});

test('a request is read and decided beside the list with keys; on a phone its page opens', async () => {
  const { ask } = await world();
  const { request_id: first } = await ask('pay.create', { amount: 251, vendor: 'Peek One' });
  const { request_id: second } = await ask('pay.create', { amount: 252, vendor: 'Peek Two' });
  const { page } = await open(service(), { email: 'ben@example.com' });
  await page.goto('/approvals?text=peek');
  await goToRow(page, first);
  const panel = page.getByRole('complementary', { name: 'Preview' });
  await page.keyboard.press(' ');
  await panel.getByRole('heading', { name: /Peek One/ }).waitFor();
  await page.keyboard.press('j');
  await panel.getByRole('heading', { name: /Peek Two/ }).waitFor();
  for (const size of [
    { width: 1440, height: 900 },
    { width: 1024, height: 768 },
  ]) {
    await page.setViewportSize(size);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  }
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.dataset.row')).toBe(second);
  await page.keyboard.press('ArrowRight');
  await panel.getByRole('button', { name: 'Reject…' }).click();
  await panel.getByLabel('Why you reject').fill('not needed');
  await panel.getByRole('button', { name: 'Reject permanently' }).click();
  await page.locator(`a[data-row="${second}"]`).waitFor({ state: 'detached' });
  expect(await statusOf(second)).toBe('rejected');
  await page.setViewportSize(phone);
  await goToRow(page, first);
  await page.keyboard.press(' ');
  await page.waitForURL(`**/approvals/${first}`);
});

test('requests that the person cannot approve are not counted, and listed with the reason', async () => {
  const { ask, ownKey } = await world();
  const admin = await signedIn(service(), 'ann@example.com');
  const { items: people } = (await admin.send('/v1/people')).body;
  const olga = people.find((one: { email: string }) => one.email === 'olga@example.com');
  const change = { roles: ['owner', 'approver'], groups: ['finance'] };
  expect((await admin.send(`/v1/people/${olga.id}`, { method: 'PATCH', body: change })).status).toBe(200);
  const { request_id: own } = await ask('pay.create', { amount: 261, vendor: 'Mine' }, ownKey);
  const { request_id: other } = await ask('pay.create', { amount: 262, vendor: 'Mine' });
  const { page } = await open(service(), { email: 'olga@example.com' });
  await page.goto('/approvals?text=mine');
  await page.getByText('1 found').waitFor();
  await page.locator(`a[data-row="${other}"]`).waitFor();
  await page.getByText('1 more asks you or your groups').click();
  const row = page.getByRole('row').filter({ has: page.locator(`a[data-row="${own}"]`) });
  await row.getByText('you are the control owner of the agent').waitFor();
  expect(await row.getByRole('checkbox').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('no subject is cut at any width, in both themes', async () => {
  const { ask } = await world();
  const vendor = 'The Northern and Southern Railway Company of Great Yarmouth and Lowestoft (Holdings)';
  const { request_id: id } = await ask('pay.create', { amount: 271.25, vendor, payee: vendor });
  const { title } = (await (await signedIn(service(), 'ben@example.com')).send(`/v1/requests/${id}`)).body;
  const { page } = await open(service(), { email: 'ben@example.com' });
  for (const address of ['/approvals?text=yarmouth', '/requests?text=yarmouth', `/approvals/${id}`]) {
    await page.goto(address);
    const subject = page.locator(address.endsWith(id) ? 'h1' : `a[data-row="${id}"]`);
    await eventually(() => subject.textContent()).toBe(title);
    for (const width of [1440, 1024, 820, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, address, await subject.evaluate(isCut)]).toEqual([width, address, false]);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityFaults(page)).toEqual([]);
      }
    }
  }
});

/** Whether some of the element's text is outside of a box that hides what does not fit. */
function isCut(element: Element): boolean {
  const range = document.createRange();
  range.selectNodeContents(element);
  const text = range.getBoundingClientRect();
  for (let box = element.parentElement; box !== null; box = box.parentElement) {
    const { left, right, bottom } = box.getBoundingClientRect();
    const isHiding = getComputedStyle(box).overflowX !== 'visible';
    if (isHiding && (text.left < left - 1 || text.right > right + 1 || text.bottom > bottom + 1)) return true;
  }
  return false;
}

test('requests are assigned and snoozed with keys only; others see the assignment, and the request returns', async () => {
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

test('a view is saved with its name, for its list and its person', async () => {
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

test('others see who is reviewing a request, and can still decide', async () => {
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
