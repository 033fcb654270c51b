// The queue of approvals and the page for deciding a request: with keys, with everything in sight, at the
// same time as others, past a deadline, and without a session.

import type { Locator, Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { password } from '../../service/http/person-client.ts';
import { shareService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';
import { eventually, hostile, type Payments, payments, policies } from './payments.ts';

const service = shareService();
const open = shareBrowser();
let scene: Promise<Payments> | null = null;

function world(): Promise<Payments> {
  scene ??= payments(service());
  return scene;
}

const votePanel = (page: Page) => page.getByRole('region', { name: 'Your decision' });
const large = { amount: 150, vendor: 'Acme' };
const fakeAcme = '\u0410cme';

async function statusOf(id: string): Promise<string | undefined> {
  return (await service().store.requests.find(id))?.status;
}

test('an empty inbox explains what it will contain, or that it stays empty for this person', async () => {
  await world();
  const ben = await open(service(), { email: 'ben@example.com' });
  await ben.page.goto('/approvals');
  await ben.page.getByText('You approve for finance.').waitFor();
  await ben.page.getByText('No requests for you').waitFor();
  expect(await accessibilityFaults(ben.page)).toEqual([]);
  const ann = await open(service(), { email: 'ann@example.com', theme: 'dark' });
  await ann.page.goto('/approvals');
  await ann.page.getByText('You belong to no approval group.').waitFor();
  await ann.page.getByRole('link', { name: 'Add yourself to a group' }).click();
  await ann.page.getByRole('heading', { name: 'People & access' }).waitFor();
});

test('the inbox is sorted by deadline and used with keys only', async () => {
  const { ask } = await world();
  const { request_id: later } = await ask('pay.create', large);
  const { page } = await open(service(), { email: 'ben@example.com', size: sizes.phone });
  await page.goto('/approvals');
  await page.locator('.bar-inbox').getByText('1 pending').waitFor();
  expect(await page.title()).toBe('(1) Inbox · Writ');
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  const { request_id: sooner } = await ask('pay.both', { amount: 1 });
  await page.locator('.bar-inbox').getByText('2 pending').waitFor();
  await page.setViewportSize(sizes.laptop);
  const links = page.locator('a[data-row]');
  await eventually(() => links.count()).toBe(2);
  expect(await links.evaluateAll((all) => all.map((one) => one.getAttribute('data-row')))).toEqual([
    sooner,
    later,
  ]);
  await page
    .getByRole('timer')
    .first()
    .getByText(/^1 h 59 min left|^2 h left/)
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.title()).toBe('(2) Inbox · Writ');
  const menu = page.getByRole('navigation', { name: 'Pages' });
  expect(await menu.getByRole('link', { name: /^Inbox/ }).textContent()).toBe('Inbox2 pending');
  await page.getByLabel('Order').selectOption({ label: 'Oldest' });
  await eventually(() => links.first().getAttribute('data-row')).toBe(later);
  await page.getByLabel('Search').fill('acme');
  await page.getByText('1 found').waitFor();
  expect(new URL(page.url()).search).toBe('?order=oldest&text=acme');
  await page.getByLabel('Search').fill('no such word');
  await page.getByText('No pending requests match these filters').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Order').selectOption({ label: 'Nearest deadline' });
  await eventually(() => links.first().getAttribute('data-row')).toBe(sooner);
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('a');
  await page.getByLabel('Why you approve').waitFor();
  await page.keyboard.type('j and k are only letters here');
  expect(await page.getByLabel('Why you approve').inputValue()).toBe('j and k are only letters here');
  await page.keyboard.press('Control+Enter');
  await page.getByText(/^You approved; \d more approvals? needed$/).waitFor();
  await page.getByRole('button', { name: 'Revoke my approval' }).click();
  await page.getByText('An approval no longer counts: ben@example.com revoked it').waitFor();
  expect(await page.getByText(/^You approved;/).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('Kind').selectOption('question');
  await page.getByLabel('Text').fill('which project?');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const happened = page.getByRole('region', { name: 'What happened' });
  await happened.getByText('asked the control owner').waitFor();
  await happened.getByText('which project?').waitFor();
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('a');
  await page.getByLabel('Why you approve').waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Revoke my approval' }).waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  expect(await statusOf(later)).toBe('pending');
  await page.getByRole('link', { name: 'Next in inbox' }).waitFor();
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('n');
  await page.waitForURL(`**/approvals/${sooner}`);
  await page.getByRole('button', { name: 'Reject…' }).waitFor();
  await page.keyboard.press('r');
  await page.getByLabel('Why you reject').waitFor();
  await page.keyboard.press('Control+Enter');
  // A rejection without a reason is not sent.
  expect(await statusOf(sooner)).toBe('pending');
  await page.keyboard.type('not this one');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Decided: rejected').waitFor();
  expect(await statusOf(sooner)).toBe('rejected');
  await page.getByText('No other requests for you.').waitFor();
  await page.keyboard.press('u');
  await page.getByText('No requests for you').waitFor();
  await eventually(() => page.title()).toBe('Inbox · Writ');
});

/** The texts of the elements that are not wholly inside the window, or that something covers. */
async function outOfSight(all: readonly Locator[]): Promise<readonly string[]> {
  const found = await Promise.all(
    all.map((one) =>
      one.evaluate((element) => {
        const { left, right, top, bottom } = element.getBoundingClientRect();
        const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        const isWithin = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
        return isWithin && (element.contains(seen) || seen?.contains(element) === true)
          ? []
          : [`${element.textContent} at ${top} to ${bottom}`];
      }),
    ),
  );
  return found.flat();
}

test('on a phone three touches lead from the mail to an approval, with all details in view', async () => {
  const { ask } = await world();
  const note = 'what it is for\n'.repeat(80);
  const { request_id: id } = await ask('pay.create', { amount: 4200, vendor: 'Acme', note });
  const { request_id: other } = await ask('pay.both', { amount: 7 });
  const size = { width: 390, height: 844 };
  const { page } = await open(service(), { email: 'ben@example.com', size, hasTouch: true });
  let touches = 0;
  const touch = async (what: Locator): Promise<void> => {
    expect(await outOfSight([what])).toEqual([]);
    touches += 1;
    // A finger, and not the element's own tap, which scrolls the page.
    const { x, y, width, height } = (await what.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.touchscreen.tap(x + width / 2, y + height / 2);
  };
  touches += 1;
  await page.goto(`/approvals/${id}`);
  const panel = votePanel(page);
  const about = [
    page.getByRole('heading', { level: 1 }),
    page.locator('.page-lead').getByText('Over 100 to Acme'),
  ];
  await page.getByText('with exactly this').waitFor();
  expect(await page.evaluate('document.documentElement.scrollHeight > 2 * innerHeight')).toBe(true);
  expect(await about[0]?.textContent()).toMatch(/^amount 4200, vendor Acme/);
  expect(await outOfSight(about)).toEqual([]);
  await touch(panel.getByRole('button', { name: 'Approve…' }));
  const approve = panel.getByRole('button', { name: 'Approve for finance' });
  await approve.waitFor();
  // The keyboard of the phone does not open, because an approval needs no text.
  expect(await approve.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.evaluate('scrollTo(0, 900)');
  const gist = [panel.getByText(/^amount 4200, vendor Acme/), panel.getByText('Over 100 to Acme')];
  expect(await outOfSight([...gist, panel.getByLabel('Why you approve')])).toEqual([]);
  expect(await accessibilityFaults(page)).toEqual([]);
  const y = await page.evaluate('scrollY');
  await touch(approve);
  const next = page.getByRole('link', { name: 'Next in inbox' });
  await next.waitFor();
  expect(touches).toBe(3);
  // The page does not jump away from what was read.
  expect(await page.evaluate('scrollY')).toBe(y);
  expect(await next.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await accessibilityFaults(page)).toEqual([]);
  await touch(next);
  await page.waitForURL(`**/approvals/${other}`);
  await touch(panel.getByRole('button', { name: 'Reject…' }));
  await panel.getByLabel('Why you reject').fill('not now');
  await touch(panel.getByRole('button', { name: 'Reject permanently' }));
  await page.getByText('Decided: rejected').waitFor();
});

test('two people who decide at once see the vote of each other, and a decided request has no buttons', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 160, vendor: 'Acme' });
  const [ben, cleo, dora] = await Promise.all(
    ['ben', 'cleo', 'dora'].map((name) => open(service(), { email: `${name}@example.com` })),
  );
  if (ben === undefined || cleo === undefined || dora === undefined) throw new Error('three windows');
  for (const { page } of [ben, cleo, dora]) {
    await page.goto(`/approvals/${id}#approve`);
    await page.getByLabel('Why you approve').fill(`by ${await page.locator('.menu-person').textContent()}`);
  }
  await ben.page.getByRole('button', { name: 'Approve for finance' }).click();
  for (const { page } of [cleo, dora]) {
    await votePanel(page).getByText('1 of 2 approvals').waitFor();
    await page.getByText('by ben@example.com').waitFor();
    // The text that they had begun to write is still there.
    expect(await page.getByLabel('Why you approve').inputValue()).toMatch(/^by (cleo|dora)/);
  }
  await cleo.page.getByRole('button', { name: 'Approve for finance' }).click();
  await cleo.page.getByText('Decided: approved').waitFor();
  await ben.page.getByText('Decided: approved').waitFor();
  await ben.page.getByText('Last decision by cleo@example.com').waitFor();
  expect(await accessibilityFaults(ben.page)).toEqual([]);
  expect(await ben.page.getByRole('button', { name: /^Approve|^Reject/ }).count()).toBe(0);
  // Dora is too late: her comment stays visible, and nothing more can be sent.
  await dora.page.getByText('Decided: approved').waitFor();
  expect(await dora.page.getByLabel('Comment that was not sent').inputValue()).toMatch(/^by dora/);
  expect(await statusOf(id)).toBe('approved');
});

test('a vote after the deadline is refused, and its comment stays', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 170, vendor: 'Acme' });
  const { page } = await open(service(), { email: 'ben@example.com', expected: /409|Failed to load/ });
  await page.goto(`/approvals/${id}#approve`);
  await page.getByLabel('Why you approve').fill('fine');
  // The page gets no news, so it shows an old state.
  await page.route('**/v1/events', (route) => route.abort());
  let isOld = true;
  const old = await page.evaluate(`fetch('/v1/requests/${id}').then((reply) => reply.text())`);
  await page.route(`**/v1/requests/${id}`, (route) =>
    isOld ? route.fulfill({ body: String(old), contentType: 'application/json' }) : route.continue(),
  );
  const admin = await open(service(), { email: 'ann@example.com' });
  await admin.page.goto(`/approvals/${id}#reject`);
  await admin.page.getByLabel('Why you reject').fill('we do not know them');
  await admin.page.getByRole('button', { name: 'Reject permanently' }).click();
  await admin.page.getByText('Decided: rejected').waitFor();
  await page.getByRole('button', { name: 'Approve for finance' }).click();
  await page.getByRole('alert').getByText('this request has been refused').waitFor();
  expect(await page.getByLabel('Why you approve').inputValue()).toBe('fine');
  isOld = false;
  await page.reload();
  await page.getByText('Decided: rejected').waitFor();
  expect(await page.getByLabel('Comment that was not sent').inputValue()).toBe('fine');
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('a deadline that passes ends the open request on the page', async () => {
  const { ask } = await world();
  const { page } = await open(service(), { email: 'ben@example.com' });
  // Asked as late as possible, because its wait is short.
  const { request_id: id } = await ask('pay.brief', {});
  await page.goto(`/approvals/${id}#approve`);
  await page.getByLabel('Why you approve').fill('half a sent');
  await page.getByRole('timer').waitFor();
  await page.getByText('The deadline has passed; this can no longer be approved').waitFor();
  expect(await page.getByRole('button', { name: /^Approve|^Reject/ }).count()).toBe(0);
  expect(await page.getByLabel('Comment that was not sent').inputValue()).toBe('half a sent');
});

test('one of several groups is chosen', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.both', { amount: 2 });
  const { page } = await open(service(), { email: 'dora@example.com', theme: 'dark' });
  await page.goto(`/approvals/${id}#approve`);
  await page.getByRole('button', { name: /^Approve/ }).click();
  expect(await statusOf(id)).toBe('pending');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('legal').check();
  await page.getByRole('button', { name: 'Approve for legal' }).click();
  await page.getByText(/^You approved; \d more approvals? needed$/).waitFor();
  await votePanel(page).getByText('finance: 0 of 1 approval').waitFor();
  await expect.poll(() => votePanel(page).textContent()).not.toContain('legal: 0');
});

test('the complete payload is shown with usual values and invisible characters', async () => {
  const { ask, ownKey } = await world();
  const usual = { vendor: 'Staples', payee: 'Acme' };
  await ask('pay.create', { amount: 10, ...usual }, ownKey);
  const { request_id: early } = await ask('pay.create', { amount: 4200, vendor: 'Other' }, ownKey);
  const { page } = await open(service(), { email: 'ben@example.com' });
  await page.goto(`/approvals/${early}`);
  // One grant is too few for a profile, so nothing stands out.
  await page.getByText('granted this action 1 time so far, too few to say what is usual').waitFor();
  expect(await page.locator('.approval-unusual').count()).toBe(0);
  for (const amount of [20, 20, 20, 20, 20, 20, 20, 20, 40])
    await ask('pay.create', { amount, ...usual }, ownKey);
  const { request_id: id } = await ask(
    'pay.create',
    { ...hostile, payee: fakeAcme, fee: 4200, currency: 'USD' },
    ownKey,
  );
  await page.goto(`/approvals/${id}`);
  const done = page.getByRole('region', { name: 'What will be done' }).first();
  // The deadline names its time zone.
  expect(await page.locator('.deadline-at').textContent()).toMatch(/CES?T|GMT\+[12]/);
  await done.getByText('compares with the last 10 requests').waitFor();
  await done.getByText('higher than ever: so far 10 to 40').waitFor();
  await done.getByText('new; so far "Staples" (10x)').waitFor();
  const warning = page.getByText('Contains invisible characters').locator('..');
  expect(await warning.locator('li').allTextContents()).toEqual([
    'payload.vendor',
    'payload."oddU+2066 key"',
    'the reason',
  ]);
  const deceiving = page.getByText('Contains letters that may deceive').locator('..');
  expect(await deceiving.locator('li').allTextContents()).toEqual([
    `payee mixes Latin and Cyrillic: ${fakeAcme} (U+0410 CYRILLIC CAPITAL LETTER A). It looks like Acme, which the agent was granted 10 times before.`,
  ]);
  const marked = done.locator('mark.plain-odd');
  expect(await marked.allTextContents()).toEqual(['\u0410']);
  expect(await marked.getAttribute('title')).toBe('U+0410 CYRILLIC CAPITAL LETTER A');
  await done.getByText('4,200.00 USD').waitFor();
  await page.getByText('One value is secret').waitFor();
  expect(await page.content()).not.toContain('hunter2');
  await done.getByText('9,021 more characters are not shown').waitFor();
  await done.getByRole('button', { name: 'Show all of it' }).click();
  expect(await done.textContent()).toContain('long '.repeat(2_000));
  expect(await page.title()).toMatch(/^\(\d+\) Approval · Writ$/);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.setViewportSize(sizes.phone);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
});

test('a request links to other requests of its agent, action and payee', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 150, vendor: 'Northline Rail' });
  await ask('pay.create', { amount: 170, vendor: 'Northline Rail' });
  const { page } = await open(service(), { email: 'ben@example.com' });
  await page.goto(`/approvals/${id}`);
  const others = page.getByRole('region', { name: 'Other requests' });
  await others.getByRole('link', { name: 'By buyer' }).waitFor();
  await others.getByRole('link', { name: 'For pay.create' }).waitFor();
  await others.getByRole('link', { name: 'With vendor: Northline Rail' }).click();
  await page.waitForURL('**/requests?text=%22Northline+Rail%22');
  await expect.poll(() => page.locator('tbody tr:not(.table-group)').count()).toBe(2);
});

test('a session that ends during a comment loses nothing', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 180, vendor: 'Acme' });
  const { page, context } = await open(service(), { email: 'cleo@example.com', expected: /401/ });
  await page.goto(`/approvals/${id}#approve`);
  const written = 'looked at <b>it</b> twice \u202E\n👩‍👩‍👧';
  await page.getByLabel('Why you approve').fill(written);
  // A background refresh would see the end of the wait first, and its dialog would cover the button.
  const looks: Route[] = [];
  const holdLooks = (route: Route) =>
    route.request().method() === 'GET' ? void looks.push(route) : route.continue();
  await context.route('**/v1/**', holdLooks);
  await context.clearCookies();
  await page.getByRole('button', { name: 'Approve for finance' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.waitFor();
  await context.unroute('**/v1/**', holdLooks);
  await Promise.all(looks.map((route) => route.continue()));
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText(/^You approved; \d more approvals? needed$/).waitFor();
  const said = page.getByRole('region', { name: 'What happened' });
  await said.getByText('looked at').waitFor();
  expect(await said.textContent()).toContain('looked at <b>it</b> twice U+202E\n👩‍👩‍👧');

  const other = await ask('pay.create', { amount: 190, vendor: 'Acme' });
  await page.goto(`/approvals/${other.request_id}#approve`);
  await page.getByLabel('Why you approve').fill('begun');
  await page.goto(`/approvals/${other.request_id}`);
  expect(await page.getByLabel('Why you approve').inputValue()).toBe('begun');
});

test('a request to the control owner is approved by that person without a group', async () => {
  const { ask, ownKey } = await world();
  const { request_id: id } = await ask('pay.large_own', { amount: 1 }, ownKey);
  const { request_id: steps } = await ask('pay.owner', { amount: 2 }, ownKey);
  const ben = await open(service(), { email: 'ben@example.com' });
  await ben.page.goto('/approvals');
  await ben.page.getByRole('heading', { name: 'Inbox' }).waitFor();
  expect(await ben.page.locator(`a[data-row="${id}"]`).count()).toBe(0);
  const { page } = await open(service(), { email: 'olga@example.com', size: sizes.phone, theme: 'dark' });
  await page.goto('/approvals');
  await page.locator(`a[data-row="${steps}"]`).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.locator(`a[data-row="${id}"]`).click();
  await votePanel(page).getByText('control owner: 0 of 1 approval').waitFor();
  await page.keyboard.press('a');
  await page.getByRole('button', { name: 'Approve as the control owner' }).click();
  await eventually(() => statusOf(id)).toBe('approved');
});

test('the control owner steps up on the page if that comes first', async () => {
  const { ask, ownKey } = await world();
  const { request_id: id } = await ask('pay.owner', { amount: 1 }, ownKey);
  const { page } = await open(service(), { email: 'olga@example.com' });
  await page.goto(`/approvals/${id}`);
  await votePanel(page).getByText('First a step-up by the control owner').waitFor();
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog', { name: 'Step up' });
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByText('You have no second factor.').waitFor();
  await dialog.getByRole('link', { name: 'Set up a second factor' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await votePanel(page).getByRole('button', { name: 'Step up' }).waitFor();
});

test('an approval that the active policies refuse is reported as refused', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.both', { amount: 3 });
  const [dora, ben] = [
    await open(service(), { email: 'dora@example.com' }),
    await open(service(), { email: 'ben@example.com' }),
  ];
  await dora.page.goto(`/approvals/${id}#approve`);
  await dora.page.getByLabel('legal').check();
  await dora.page.getByRole('button', { name: 'Approve for legal' }).click();
  await dora.page.getByText(/^You approved; \d more approvals? needed$/).waitFor();
  await ben.page.goto(`/approvals/${id}#approve`);
  await ben.page.getByLabel('Why you approve').waitFor();
  await usePolicies(
    service(),
    policies.replace('allow all for 10m', 'allow all for 10m\n  deny now when action.key == "pay.both"'),
  );
  await ben.page.getByRole('button', { name: 'Approve for finance' }).click();
  await ben.page.getByText('Decided: rejected').waitFor();
  await ben.page.getByText('You approved, but the active policies refuse it').waitFor();
  await usePolicies(service(), policies);
});
