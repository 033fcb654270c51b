// The frame around the pages: signing in and out, sessions that end, a service that goes away, the kill
// switch, the theme, the menu with the keyboard and on a phone, and pages that do not exist or are not
// allowed.

import type { BrowserContext, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { firstAdmin, password, personWith, send, signedIn } from '../../service/http/person-client.ts';
import { type Service, shareService } from '../../service/http/service.ts';
import { accessibilityFaults, shareBrowser, signInAs, sizes } from './browser.ts';
import { lineTo } from './cut.ts';

const service = shareService();
const open = shareBrowser();
const ann = 'ann@example.com';
const ben = 'ben@example.com';
let arePeopleThere = false;

/** Ann is the admin, Ben an approver, Eli an auditor. */
async function people(): Promise<void> {
  if (arePeopleThere) return;
  arePeopleThere = true;
  const admin = await firstAdmin(service());
  await personWith(service(), admin, { email: ben, roles: ['approver'], groups: ['finance'] });
  await personWith(service(), admin, { email: 'eli@example.com', roles: ['auditor'] });
}

/** Ends the session of the window at the service, as an expiry would. */
async function endSession(context: BrowserContext, { url }: Service): Promise<void> {
  const [cookie] = await context.cookies(url);
  const headers = { cookie: `${cookie?.name}=${cookie?.value}` };
  const { body } = await send({ url }, '/v1/session', { headers });
  const csrf = { 'x-csrf-token': body.csrf_token };
  await send({ url }, '/v1/session', { method: 'DELETE', headers: { ...headers, ...csrf } });
}

async function fillKillSwitch(page: Page, reason: string): Promise<void> {
  await page.getByRole('button', { name: 'Kill switch' }).click();
  await page.getByLabel('Everything').check();
  await page.getByLabel('Reason').fill(reason);
}

async function letAct(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Resume' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('by Ann').waitFor();
  await dialog.getByLabel('Reason').fill('all is well');
  if (await dialog.getByLabel('Type “all”').isVisible()) {
    await dialog.getByRole('button', { name: 'Let act again' }).click();
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByLabel('Type “all”').fill('all');
  }
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Let act again' }).click();
  await page.getByRole('region', { name: 'What is stopped' }).waitFor({ state: 'detached' });
}

const focused = (page: Page): Promise<string> =>
  page.evaluate(
    '(document.activeElement.textContent || document.activeElement.getAttribute("aria-label") || "").trim()',
  );

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth');

test('a person signs in with a password and signs out', async () => {
  await people();
  const { page } = await open(service(), { expected: /401|403/ });
  await page.goto('/account');
  await page.getByLabel('E-mail address').fill(ann);
  await page.getByLabel('Password').fill('wrong password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: /account/i }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('the kill switch stops everything and is turned off again', async () => {
  await people();
  const { page } = await open(service(), { email: ann });
  await page.goto('/account');
  await fillKillSwitch(page, 'a drill \u202e<b>now</b>');
  await page.getByRole('button', { name: 'Stop everything' }).click();
  await page.getByText('Everything: stopped').first().waitFor();
  expect(await page.getByRole('region', { name: 'What is stopped' }).textContent()).toContain(
    'U+202E<b>now</b>',
  );
  expect(await accessibilityFaults(page)).toEqual([]);
  await letAct(page);
});

test('a stopped agent is named above the page', async () => {
  await people();
  const { page } = await open(service(), { email: ann, expected: /400/ });
  await page.goto('/account');
  await page.getByRole('button', { name: 'Kill switch' }).click();
  await page.getByLabel('Agent', { exact: true }).fill('buyers');
  await page.getByLabel('Reason').fill('it repeats itself');
  await page.getByRole('button', { name: 'Stop: one agent' }).click();
  await page.getByText('no agent has this id or name').waitFor();
  await page.getByLabel('Everything').check();
  expect(await page.getByText('no agent has this id or name').isVisible()).toBe(false);
  await page.getByLabel('One agent').check();
  await page.getByLabel('Agent', { exact: true }).fill('buy');
  await page.locator('datalist option[value="buyer"]').waitFor({ state: 'attached' });
  await page.getByLabel('Agent', { exact: true }).fill('buyer');
  await page.getByRole('button', { name: 'Stop: one agent' }).click();
  await page.getByText('Agent buyer: stopped').first().waitFor();
  await letAct(page);
});

test('a session that expires loses nothing: the person signs in and continues', async () => {
  await people();
  const { page, context } = await open(service(), { email: ann, expected: /401/ });
  await page.goto('/account');
  await fillKillSwitch(page, 'typed before the end');
  await endSession(context, service());
  await page.getByRole('button', { name: 'Stop everything' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await dialog.getByLabel('E-mail address').inputValue()).toBe(ann);
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await page.getByText('Everything: stopped').first().waitFor();
  expect(await page.getByRole('region', { name: 'What is stopped' }).textContent()).toContain(
    'typed before the end',
  );
  await letAct(page);
});

test('another person who signs in gets a new page, and the earlier action is not sent', async () => {
  await people();
  const { page, context } = await open(service(), { email: ann, expected: /401/ });
  await page.goto('/account');
  await fillKillSwitch(page, 'of Ann alone');
  await endSession(context, service());
  await page.getByRole('button', { name: 'Stop everything' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('E-mail address').fill(ben);
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/approvals');
  await page.getByRole('navigation').getByText(ben).waitFor();
  expect(await page.getByText('of Ann alone').count()).toBe(0);
  const { body } = await (await signedIn(service(), ann)).send('/v1/kill-switches');
  expect(body.items).toEqual([]);
});

test('cancelling the sign-in of an expired session leads to the sign-in page', async () => {
  await people();
  const { page, context } = await open(service(), { email: ann, expected: /401|ERR_/ });
  await page.goto('/account');
  await fillKillSwitch(page, 'given up');
  await endSession(context, service());
  await page.getByRole('button', { name: 'Stop everything' }).click();
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByRole('navigation').count()).toBe(0);
});

test('signing in again in another window keeps the page of the same person, and replaces that of another', async () => {
  await people();
  const { page, context } = await open(service(), { email: ann, expected: /401|403/ });
  await page.goto('/account');
  // Another session replaces the cookie without this window's knowledge, so its CSRF token is out of date.
  await signInAs(context, service(), { email: ann, password });
  await fillKillSwitch(page, 'after signing in elsewhere');
  await page.getByRole('button', { name: 'Stop everything' }).click();
  await page.getByText('Everything: stopped').first().waitFor();
  await letAct(page);
  const other = await context.newPage();
  await other.goto('/account');
  await other.getByRole('button', { name: 'Sign out' }).click();
  await other.getByLabel('E-mail address').fill(ben);
  await other.getByLabel('Password').fill(password);
  await other.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/approvals');
  await page.getByRole('navigation').getByText(ben).waitFor();
});

test('while the service is unreachable there is a banner and a retry; events continue afterwards', async () => {
  await people();
  const { service: near, cut, fix } = await lineTo(service());
  const { page } = await open(near, {
    email: ann,
    expected: /ERR_|Failed to load|Failed to fetch|Load failed/,
  });
  await page.goto('/account');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await cut();
  const banner = page.getByText('Writ cannot be reached');
  await banner.waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'Agents' }).click();
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
  await fillKillSwitch(page, 'while it is away');
  await page.getByRole('button', { name: 'Stop everything' }).click();
  await page.getByRole('dialog').getByText('this may not have been saved').waitFor();
  expect(await page.getByLabel('Reason').inputValue()).toBe('while it is away');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await fix();
  await banner.waitFor({ state: 'detached' });
  const admin = await signedIn(service(), ann);
  const { body } = await admin.send('/v1/kill-switches', {
    method: 'POST',
    body: { scope: 'all', reason: 'news again' },
  });
  await page.getByText('news again').waitFor();
  await admin.send(`/v1/kill-switches/${body.id}/deactivate`, {
    method: 'POST',
    body: { reason: 'checked' },
  });
  await page.getByText('news again').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
});

test('after a loss that the event stream survives, the page is updated', async () => {
  await people();
  const { page, context } = await open(service(), { email: ann, expected: /ERR_|Failed to load/ });
  await page.goto('/agents');
  await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
  await context.setOffline(true);
  await page.getByLabel('Search').fill('nobody');
  const banner = page.getByText('Writ cannot be reached');
  await banner.waitFor();
  await context.setOffline(false);
  await banner.waitFor({ state: 'detached' });
  await page.getByText('No agents match these filters').waitFor();
});

test('opened without the service, the page reports it and can be retried', async () => {
  await people();
  const { page, context } = await open(service(), { email: ann, expected: /Failed to load/ });
  await context.route('**/v1/session', (route) => route.fulfill({ status: 500, body: 'not JSON' }));
  await page.goto('/account');
  await page.getByRole('heading', { name: 'Writ is not responding' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await context.unroute('**/v1/session');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: /account/i }).waitFor();
});

test('an error in one page leaves the others working', async () => {
  await people();
  const { page, context } = await open(service(), { email: ann, expected: /undefined/ });
  await context.route('**/v1/overview*', (route) => route.fulfill({ json: { total: 1 } }));
  await page.goto('/overview');
  await page.getByRole('heading', { name: 'Something went wrong in this page' }).waitFor();
  await page.getByRole('link', { name: 'Ann' }).click();
  await page.getByRole('heading', { level: 1, name: /account/i }).waitFor();
});

test('the chosen theme is kept, and applied before the page is drawn', async () => {
  await people();
  const { page } = await open(service(), { email: ann });
  await page.goto('/account');
  const theme = () => page.evaluate('document.documentElement.dataset.theme ?? "system"');
  const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  const light = await ground();
  const button = page.getByRole('button', { name: 'Theme' });
  expect(await theme()).toBe('system');
  await button.click();
  await button.click();
  await expect.poll(theme).toBe('dark');
  expect(await ground()).not.toBe(light);
  await page.reload({ waitUntil: 'commit' });
  await page.waitForLoadState('domcontentloaded');
  expect(await theme()).toBe('dark');
  expect(await button.textContent()).toBe('Theme: dark');
  await button.click();
  await page.reload();
  expect(await theme()).toBe('system');
});

test('the keyboard skips to the page and walks through the menu', async () => {
  await people();
  const { page } = await open(service(), { email: ann });
  await page.goto('/account');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to content');
  expect(await page.getByRole('link', { name: 'Skip to content' }).isVisible()).toBe(true);
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('content');
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Tab');
  const walked: string[] = [];
  for (let step = 0; step < 18; step += 1) {
    await page.keyboard.press('Tab');
    // The menu may show the number of alerts that are on.
    walked.push((await focused(page)).replace(/^(Alerts)\d+ on$/, '$1'));
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  }
  expect(walked).toEqual([
    'Writ',
    'Go to… Ctrl K',
    'Overview',
    'Requests',
    'Inbox',
    'Agents',
    'Policies',
    'Playground',
    'Proposals',
    'Alerts',
    'Enforcement points',
    'People & access',
    'Audit',
    'Kill switch',
    'Theme: same as the system',
    'Help',
    'Ann',
    'Sign out',
  ]);
  await page.getByRole('link', { name: 'Audit' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  await expect.poll(() => focused(page)).toBe('Audit');
  expect(await page.getByRole('link', { name: 'Audit' }).getAttribute('aria-current')).toBe('page');
});

test('Ctrl+K finds pages, agents, requests and actions without a mouse', async () => {
  await people();
  const { page } = await open(service(), { email: ann });
  await page.goto('/account');
  await page.getByRole('heading', { level: 1 }).waitFor();
  const field = page.getByRole('combobox', { name: 'A page, something to do, an agent or a request' });
  const ask = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.type(text);
  };
  const fits = page.getByRole('listbox', { name: 'What fits' });
  const chosen = fits.getByRole('option', { selected: true });
  await ask('audi');
  await chosen.getByText('Audit', { exact: true }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  await expect.poll(() => focused(page)).toBe('Audit');
  await ask('buy');
  await chosen.filter({ hasText: 'buyer' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'buyer' }).waitFor();
  // What tells one from others with the same words stands below: the status and the owner, or who, when and why.
  await ask('buy');
  await chosen.getByText(/^Active, \w+ risk, of/).waitFor();
  await page.keyboard.press('Escape');
  await ask('no such thing');
  await page.getByText('1 found').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/requests?text=no%20such%20thing');
  await ask('kill');
  await chosen.filter({ hasText: 'kill switch' }).waitFor();
  await page.getByText(/^\d+ found$/).waitFor();
  // Down from the last entry leads to the first.
  await page.keyboard.press('ArrowUp');
  await chosen.filter({ hasNotText: 'kill switch' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await chosen.filter({ hasText: 'kill switch' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Stop agents' }).waitFor();
  // An open dialog keeps the shortcut from opening the palette.
  await page.keyboard.press('Control+k');
  expect(await field.count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('every page has help with the documentation, the shortcuts and the version', async () => {
  await people();
  const { page } = await open(service(), { email: ann });
  for (const [address, theme] of [
    ['/account', 'light'],
    ['/approvals', 'dark'],
  ] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.goto(address);
    await page.getByRole('button', { name: 'Help' }).focus();
    await page.keyboard.press('Enter');
    const help = page.getByRole('list', { name: 'Help' });
    const hrefs = await help
      .getByRole('link')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    expect(hrefs).toEqual(['/docs', '/docs/LANGUAGE']);
    await help.getByText(/^Writ \d+\.\d+\.\d+/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Help' }).press('Enter');
    await help.getByRole('button', { name: 'Keyboard shortcuts' }).press('Enter');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.getByText('Go to a page, an agent or a request').waitFor();
    expect(await list.count()).toBe(1);
    // The inbox has keys of its own; a page without any shows those of all pages.
    expect(await list.getByText('Next request').count()).toBe(address === '/approvals' ? 1 : 0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await list.waitFor();
    await page.keyboard.press('Escape');
  }
  await page.setViewportSize(sizes.phone);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Help' }).click();
  await page.getByRole('list', { name: 'Help' }).getByRole('link', { name: 'Guide' }).waitFor();
  expect(await isTooWide(page)).toBe(false);
});

test('on a phone, Ctrl+K finds only what the roles of an approver permit', async () => {
  await people();
  const { page } = await open(service(), { email: 'ben@example.com', size: sizes.phone, theme: 'dark' });
  await page.goto('/approvals');
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Go to…' }).click();
  const options = page.getByRole('option');
  await options.first().waitFor();
  const words = (await options.allTextContents()).join('\n');
  expect(words).toContain('Inbox');
  for (const word of ['Overview', 'Audit', 'People', 'Agents', 'Invite', 'Register', 'kill switch'])
    expect(words).not.toContain(word);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
  await options.filter({ hasText: 'Policies' }).click();
  await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
  expect(await page.getByRole('button', { name: 'Menu' }).getAttribute('aria-expanded')).toBe('false');
});

test('on a phone the menu covers the page, and closes by Escape, by navigation and by a wider window', async () => {
  await people();
  const { page } = await open(service(), { email: ann, size: sizes.phone });
  await page.goto('/account');
  const button = page.getByRole('button', { name: 'Menu' });
  const isOpen = () => button.getAttribute('aria-expanded');
  await button.focus();
  await page.keyboard.press('Enter');
  await expect.poll(isOpen).toBe('true');
  expect(await accessibilityFaults(page)).toEqual([]);
  for (let step = 0; step < 20; step += 1) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest("main") === null')).toBe(true);
  }
  await page.keyboard.press('Escape');
  await expect.poll(isOpen).toBe('false');
  expect(await page.evaluate('document.activeElement.closest(".bar") !== null')).toBe(true);
  expect(await page.getByRole('link', { name: 'Audit', exact: true }).isVisible()).toBe(false);
  await button.click();
  await page.getByRole('link', { name: 'Ann' }).click();
  await expect.poll(isOpen).toBe('false');
  await button.click();
  await page.setViewportSize(sizes.laptop);
  await expect.poll(() => page.locator('main').getAttribute('inert')).toBe(null);
  expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true);
});

test('at 400 % nothing is cut off or needs horizontal scrolling', async () => {
  await people();
  const { page } = await open(service(), { email: ann, size: { width: 320, height: 256 } });
  for (const address of ['/overview', '/account']) {
    await page.goto(address);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await isTooWide(page)).toBe(false);
  }
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Kill switch' }).click();
  await page.getByLabel('Everything').check();
  await page.getByLabel('Reason').fill('at four times the size');
  await page.getByRole('button', { name: 'Stop everything' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.getByRole('region', { name: 'What is stopped' }).waitFor();
  expect(await isTooWide(page)).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  await letAct(page);
});

test('with forced colours and reduced motion everything is visible', async () => {
  await people();
  const { page, context } = await open(service(), { email: ann });
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
  const seen = Promise.withResolvers<void>();
  await context.route('**/v1/session', async (route) => {
    await seen.promise;
    await route.continue();
  });
  await page.goto('/account');
  const line = page.locator('.loading-line').first();
  expect(await line.evaluate((element) => getComputedStyle(element).animationName)).toBe('none');
  seen.resolve();
  await page.getByRole('heading', { level: 1 }).waitFor();
  const edges = await page
    .locator('button:visible')
    .evaluateAll((buttons) => buttons.map((button) => getComputedStyle(button).borderTopStyle));
  expect(new Set(edges)).toEqual(new Set(['solid']));
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('an unknown address, and one for other roles', async () => {
  await people();
  const { page } = await open(service(), { email: ben, theme: 'dark' });
  await page.goto('/audit');
  await page.getByRole('heading', { name: 'Not for your roles' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.evaluate(
    'history.pushState(null, "", "/no/such/page"); dispatchEvent(new PopStateEvent("popstate"))',
  );
  await page.getByRole('heading', { name: 'Nothing here' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'Go to the start page' }).click();
  await page.waitForURL('**/approvals');
});

test('roles that are removed during a session are reported on the page', async () => {
  await people();
  const admin = await signedIn(service(), ann);
  const { body } = await admin.send('/v1/people');
  const { id } = body.items.find(({ email }: { email: string }) => email === 'eli@example.com');
  const { page } = await open(service(), { email: 'eli@example.com', expected: /403/ });
  await page.goto('/overview');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.getByRole('link', { name: '7 days' }).waitFor();
  const standing = { roles: ['approver'], groups: ['finance'] };
  expect((await admin.send(`/v1/people/${id}`, { method: 'PATCH', body: standing })).status).toBe(200);
  await page.getByRole('link', { name: '7 days' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').textContent()).toMatch(/role|allow/i);
});
