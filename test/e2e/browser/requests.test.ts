// The live list of requests with its filters in the address, and the page of one request: the decision, its
// reasons, and the available operations.

import { connect, createServer } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { totpAt } from '../../../src/service/people/totp.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import { password } from '../../service/http/person-client.ts';
import { type Service, shareService, startService } from '../../service/http/service.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';
import { appendCopies } from './many-requests.ts';
import { confirmCodes, eventually, hostile, type Payments, payments } from './payments.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';
let scene: Promise<Payments> | null = null;

function world(): Promise<Payments> {
  scene ??= payments(service());
  return scene;
}

const rows = (page: Page) => page.locator('tbody tr:not(.table-group)');
const focusedRow = (page: Page): Promise<string | null> =>
  page.evaluate('document.activeElement?.dataset.row ?? null');
const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth');

test('an empty list explains how to send requests, and then shows the first one', async () => {
  const fresh = await startService();
  const { ask } = await payments(fresh);
  const { page } = await open(fresh, { email });
  await page.goto('/requests');
  await page.getByText('No requests yet').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await ask('pay.create', { amount: 5, vendor: 'Staples' });
  await eventually(() => rows(page).count()).toBe(1);
});

test('the list is live, is used with keys, does not move while reading, and keeps its state', async () => {
  const { ask } = await world();
  for (let at = 0; at < 70; at += 1) await ask('pay.create', { amount: at, vendor: `Vendor ${at}` });
  const { page } = await open(service(), { email });
  await page.goto('/requests');
  await eventually(() => rows(page).count()).toBeGreaterThanOrEqual(30);
  const latest = await ask('pay.create', { amount: 1, vendor: 'Latest' });
  const first = page.locator('a[data-row]').first();
  await eventually(() => first.getAttribute('data-row')).toBe(latest.request_id);

  await page.keyboard.press('j');
  expect(await focusedRow(page)).toBe(latest.request_id);
  const later = await ask('pay.create', { amount: 2, vendor: 'Later' });
  await page.getByRole('button', { name: '1 new' }).waitFor();
  expect(await first.getAttribute('data-row')).toBe(latest.request_id);
  expect(await focusedRow(page)).toBe(latest.request_id);
  await page.keyboard.press('n');
  await eventually(() => first.getAttribute('data-row')).toBe(later.request_id);

  // The page loads more rows deep in the list, and going back finds the same row at the same height.
  for (let at = 0; at < 60; at += 1) await page.keyboard.press(at % 2 === 0 ? 'j' : 'ArrowDown');
  const end = page.getByText('End of the list.');
  for (let at = 0; at < 400 && !(await end.isVisible()); at += 1) await page.keyboard.press('j');
  await end.waitFor();
  await page.keyboard.press('k');
  await eventually(() => rows(page).count()).toBeGreaterThan(60);
  const opened = await focusedRow(page);
  const y = await page.evaluate('scrollY');
  expect(y).toBeGreaterThan(500);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Summary' }).waitFor();
  expect(page.url()).toContain(opened);
  await page.keyboard.press('u');
  await eventually(() => focusedRow(page)).toBe(opened);
  expect(await page.evaluate('scrollY')).toBe(y);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Summary' }).waitFor();
  await page.goBack();
  await eventually(() => focusedRow(page)).toBe(opened);

  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  const shortcuts = page.getByLabel('Shortcuts are on');
  await shortcuts.press('Space');
  await eventually(() => shortcuts.isChecked()).toBe(false);
  await page.keyboard.press('Escape');
  await page.keyboard.press('k');
  expect(await focusedRow(page)).toBe(opened);
});

test('filters are in the address, as chips, and in exports', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 7, vendor: 'Needle & Co' });
  await ask('pay.create', { amount: 7, vendor: 'Shady' });
  const { page } = await open(service(), { email, theme: 'dark', size: sizes.phone });
  await page.goto('/requests?risk_min=60&policy=pay');
  await page.getByRole('button', { name: 'Remove the filter Risk at least 60' }).waitFor();
  await eventually(() => rows(page).count()).toBe(1);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Risk at most').fill('65');
  await page.getByLabel('Risk at most').blur();
  await page.getByText('No requests match').waitFor();
  expect(new URL(page.url()).searchParams.get('risk_max')).toBe('65');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.goto('/requests?text=needle');
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Amount at least').fill('7.5');
  await page.getByLabel('Amount at least').blur();
  await page.getByText('No requests match').waitFor();
  await page.getByLabel('Amount at least').fill('7');
  await page.getByLabel('Amount at least').blur();
  await page.getByRole('button', { name: 'Remove the filter Amount at least 7' }).waitFor();
  await eventually(() => rows(page).count()).toBe(1);
  await page.getByRole('button', { name: 'Clear all' }).click();
  expect(new URL(page.url()).search).toBe('');
  await page.getByRole('heading', { name: 'Requests' }).click();

  await page.keyboard.press('/');
  await page.keyboard.type('need');
  await page.waitForURL(/text=need/);
  // Results that arrive meanwhile do not disturb the person who goes on typing.
  await page.keyboard.type('le &');
  await page.waitForURL(/text=needle/);
  await eventually(() => rows(page).count()).toBe(1);
  expect(await page.locator('a[data-row]').getAttribute('data-row')).toBe(id);
  await page.getByLabel('Decision').selectOption('Allow');
  expect(new URL(page.url()).search).toBe('?text=needle+%26&decision=ALLOW');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export as JSON Lines' }).click(),
  ]);
  const stream = await download.createReadStream();
  const lines = (await stream.toArray()).join('').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).request_id)).toEqual([id]);
  await page.getByLabel('Decision').selectOption('Deny');
  await page.getByText('No requests match').waitFor();
  await page.goBack();
  await eventually(() => rows(page).count()).toBe(1);
});

test('an invalid filter is reported and can be cleared', async () => {
  await world();
  const { page } = await open(service(), { email, expected: /400/ });
  await page.goto('/requests?risk_min=nonsense');
  await page.getByRole('alert').getByText('whole number from 0 to 100').waitFor();
  expect(await rows(page).count()).toBe(0);
  await page.getByRole('button', { name: 'Remove the filter Risk at least nonsense' }).click();
  await eventually(() => rows(page).count()).toBeGreaterThan(0);
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('a long list loads only what is visible, and a search with few results continues automatically', async () => {
  const fresh = await startService();
  const { ask } = await payments(fresh);
  const { request_id: rare } = await ask('pay.owner', {});
  const { request_id: usual } = await ask('pay.create', { amount: 1, vendor: 'Usual' });
  const many = 20_000;
  await appendCopies(fresh.store, usual, many);
  const { page } = await open(fresh, { email });
  let calls = 0;
  let pauseMs = 0;
  await page.route('**/v1/requests?*', async (route) => {
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await route.continue().catch(() => undefined);
  });
  await page.goto('/requests');
  await eventually(() => rows(page).count()).toBe(30);
  expect(calls).toBe(1);
  for (let shown = 30; shown < 300; shown = await rows(page).count()) {
    await page.mouse.wheel(0, 4_000);
    await eventually(() => rows(page).count()).toBeGreaterThan(shown);
  }
  expect(calls).toBe((await rows(page).count()) / 30);
  await page.evaluate(countChangesOfRows);
  await page.evaluate('scrollTo(0, 0)');
  await ask('pay.create', { amount: 2, vendor: 'One more' });
  await eventually(async () => (await rows(page).count()) % 30).toBe(1);
  // One row is added, and no other row changes.
  expect(await page.evaluate('window.changesOfRows')).toBe(1);

  calls = 0;
  await page.goto('/requests?action=pay.owner');
  await eventually(() => page.locator('a[data-row]').getAttribute('data-row')).toBe(rare);
  // At most the calls of a full look through all requests; with the search index ready there are fewer.
  expect(calls).toBeLessThanOrEqual(Math.ceil((many + 3) / 2_000));
  pauseMs = 400;
  await page.goto('/requests?risk_min=99');
  await page.getByText(/Searching older requests: up to \d+,000 searched, 0 found/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Stop' }).click();
  const before = calls;
  await page.getByRole('button', { name: 'Load older' }).waitFor();
  await page.waitForTimeout(2 * pauseMs);
  expect(calls).toBe(before);
  pauseMs = 0;
  await page.getByRole('button', { name: 'Load older' }).click();
  await page.getByText('No requests match').waitFor();
});

test('the list counts, groups by day, has a choice of columns, and separates expired from unanswered requests', async () => {
  const fresh = await startService();
  const { ask } = await payments(fresh);
  const granted = await ask('pay.create', { amount: 1, vendor: 'Zweig & Söhne' });
  const row = await fresh.store.requests.find(granted.request_id);
  if (row === null) throw new Error('it is there');
  const dayMs = 86_400_000;
  const made = (change: Partial<typeof row>, daysAgo: number) => {
    const createdAtMs = Date.now() - daysAgo * dayMs;
    const id = createRequestId(createdAtMs);
    return fresh.store.requests.append(
      { ...row, id, createdAtMs, expiresAtMs: createdAtMs + 60_000, ...change },
      { openMax: 9 },
    );
  };
  await made({}, 3);
  await made({ status: 'pending', decidedAtMs: null, outcome: 'ESCALATE' }, 1);
  const { page } = await open(fresh, { email });
  await page.goto('/requests');
  await page.getByText('3 requests', { exact: true }).waitFor();
  const days = page.locator('.table-group');
  expect(await days.allInnerTexts()).toEqual(['Yesterday', expect.stringMatching(/\d/), 'Today']);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByText('Columns', { exact: true }).click();
  await page.getByRole('checkbox', { name: 'Reason' }).uncheck();
  await page.reload();
  await page.getByRole('columnheader', { name: 'Status' }).waitFor();
  expect(await page.getByRole('columnheader', { name: 'Reason' }).count()).toBe(0);
  const status = page.getByRole('combobox', { name: 'Status' });
  await status.selectOption('Unanswered');
  await page.getByText('1 request', { exact: true }).waitFor();
  await eventually(() => rows(page).count()).toBe(1);
  await status.selectOption('Grant over');
  await eventually(() => days.allInnerTexts()).toEqual([expect.stringMatching(/\d/)]);
  expect(await rows(page).innerText()).toContain('Grant over');
  await page.goto('/requests?text=sohne+zw');
  await page.getByText('3 requests', { exact: true }).waitFor();
  await eventually(() => rows(page).count()).toBe(3);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false);
  expect(await page.getByRole('button', { name: 'More filters' }).isVisible()).toBe(false);
});

/** Runs in the page: counts the rows that are added, removed or changed from now on. */
function countChangesOfRows(): void {
  const counted = window as unknown as { changesOfRows: number };
  counted.changesOfRows = 0;
  const observer = new MutationObserver((changes) => {
    counted.changesOfRows += changes.length;
  });
  const options = { childList: true, subtree: true, attributes: true, characterData: true };
  const body = document.querySelector('tbody');
  if (body !== null) observer.observe(body, options);
}

test('the page of a request shows the decision and the reason, whatever its payload contains', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', hostile);
  const { page } = await open(service(), { email });
  await page.goto(`/requests/${id}`);
  await page.getByText('pay/large', { exact: true }).first().waitFor();
  const asked = page.getByRole('region', { name: 'What was requested' });
  expect(await asked.getByText('<img src=x onerror=').count()).toBe(1);
  expect(await asked.getByText('U+202E').count()).toBe(1);
  expect(await asked.getByText('hmac-sha256:').count()).toBe(1);
  expect(await page.getByText('hunter2').count()).toBe(0);
  await asked.getByText('1 part is folded').waitFor();
  expect((await asked.textContent())?.length).toBeLessThan(3_000);
  await asked.getByRole('button', { name: 'Show all of it' }).click();
  expect((await asked.textContent())?.length).toBeGreaterThan(10_000);

  const rule = page.getByRole('region', { name: 'The rule that decided' });
  await eventually(() => rule.textContent()).toContain('escalate large to finance needs 2 within 4h');
  await eventually(() =>
    page.getByRole('region', { name: 'What would have changed it' }).textContent(),
  ).toMatch(/ALLOW/);
  const change = page.getByRole('region', { name: 'A change that would allow it' });
  await change.getByRole('button', { name: 'Suggest a change' }).click();
  const first = change
    .getByRole('list', { name: /^Changes/ })
    .locator('> li')
    .first();
  await first.getByText('+++ b/').waitFor({ timeout: 60_000 });
  expect(await first.textContent()).toContain('similar requests');
  await first.getByText('All decisions that change').click();
  await first.getByRole('list', { name: 'All decisions', exact: true }).waitFor();
  expect(await change.textContent()).not.toContain('hunter2');
  const tree = page.getByRole('region', { name: 'Conditions' });
  await eventually(() => tree.locator('li', { hasText: 'large' }).first().textContent()).toMatch(
    /holds.*escalate.*large.*decides.*payload\.amount.*1800/,
  );
  await tree.getByText('payload.amount > 100', { exact: true }).first().waitFor();
  await eventually(() => tree.locator('li', { hasText: 'watched' }).first().textContent()).toContain(
    'shadow',
  );
  await tree.getByRole('button', { name: 'source of blocked' }).click();
  await tree.getByText('when payload.vendor == "Shady"').waitFor();
  await eventually(() => page.getByRole('region', { name: /^Risk: 35/ }).textContent()).toContain('+30');
  await eventually(() => page.getByRole('region', { name: 'What was unknown' }).textContent()).toMatch(
    /meters\.spent.*pay\/much/,
  );
  expect(await page.title()).toBe('Request · Writ');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize(sizes.phone);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await isTooWide(page)).toBe(false);
});

test('an unknown request, and one without a deciding rule', async () => {
  const { ask } = await world();
  const { page } = await open(service(), { email, expected: /404/ });
  await page.goto('/requests/019a0000-0000-7000-8000-000000000000');
  await page.getByRole('alert').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  const { request_id: id } = await ask('no.such', {});
  await page.goto(`/requests/${id}`);
  await page.getByText('No policy file declares this action').waitFor();
  await page.getByText('No rule was evaluated.', { exact: true }).waitFor();
});

test('people with the permission report the outcome of a grant, and the page is updated', async () => {
  const { ask } = await world();
  const { request_id: id } = await ask('pay.create', { amount: 3, vendor: 'Uline' });
  const { page } = await open(service(), { email });
  await page.goto(`/requests/${id}`);
  await page.getByRole('button', { name: 'Report the outcome' }).click();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'It was carried out' }).click();
  await page.getByText('Reported: it was carried out').waitFor();
  await page.locator('.page-head').getByText('Used').waitFor();
  expect(await page.getByRole('button', { name: 'Report the outcome' }).count()).toBe(0);
  expect((await service().store.requests.find(id))?.status).toBe('consumed');
});

test('the control owner steps up with password and code; nobody else has the button', async () => {
  const scene = await world();
  const { request_id: id } = await scene.ask('pay.owner', { amount: 1 }, scene.ownKey);
  const admin = await open(service(), { email });
  await admin.page.goto(`/requests/${id}`);
  await admin.page.getByRole('heading', { level: 1 }).waitFor();
  expect(await admin.page.getByRole('button', { name: 'Step up' }).count()).toBe(0);

  const { page } = await open(service(), { email: 'olga@example.com', expected: /401|403/ });
  await page.goto(`/requests/${id}`);
  const button = page.getByRole('button', { name: 'Step up', exact: true });
  const send = page.getByRole('button', { name: 'Step up with password and code' });
  await button.click();
  // Before anything is typed, the dialog says that the person has no second factor.
  await page.getByRole('link', { name: 'Set up a second factor' }).waitFor();
  expect(await page.getByLabel('Password').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await confirmCodes(service(), scene);
  await page.reload();
  await button.click();
  await page.getByLabel('Password').fill('wrong password');
  await page.getByLabel('One-time code').fill('123456');
  await send.click();
  await page.getByRole('alert').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('Password').fill(password);
  await page.getByLabel('One-time code').fill(totpAt(scene.totpSecret, Date.now()));
  await send.click();
  await page.locator('.page-head').getByText('Approved').waitFor();
  // The page shows the person, and how the person stepped up.
  await page
    .getByRole('listitem')
    .filter({ hasText: /olga@example\.com.*stepped up \(password and code\)/ })
    .waitFor();
  expect(await button.count()).toBe(0);
  // The other window has updated by itself.
  await admin.page.locator('.page-head').getByText('Approved').waitFor();
});

test('the control owner steps up with a passkey', async () => {
  const { url, behind } = await localhost();
  const fresh = await startService({ publicUrl: url, newFactorMs: 0 });
  behind(fresh);
  const { ask, ownKey } = await payments(fresh);
  const { request_id: id } = await ask('pay.owner', { amount: 1 }, ownKey);
  const { page, context } = await open({ ...fresh, url }, { email: 'olga@example.com' });
  const devices = await context.newCDPSession(page);
  await devices.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true } as const;
  await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  });
  await page.goto(`/requests/${id}`);
  await page.evaluate(registerPasskey, password);
  await page.reload();
  await page.getByRole('button', { name: 'Step up', exact: true }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.locator('.page-head').getByText('Approved').waitFor();
});

/** Runs in the page: makes a passkey for the person who is signed in. */
async function registerPasskey(password: string): Promise<void> {
  const { csrf_token } = await (await fetch('/v1/session')).json();
  const send = async (path: string, body?: object) => {
    const headers = { 'x-csrf-token': csrf_token, ...(body && { 'content-type': 'application/json' }) };
    const reply = await fetch(path, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) });
    if (!reply.ok) throw new Error(await reply.text());
    return await reply.json();
  };
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    await send('/v1/session/passkeys/options'),
  );
  const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential | null;
  await send('/v1/session/passkeys', { name: 'test', response: made?.toJSON(), password });
}

/**
 * A relay under the name localhost, because passkeys do not work with IP addresses; its port is known before
 * the service exists.
 */
async function localhost(): Promise<{ readonly url: string; readonly behind: (service: Service) => void }> {
  let target = 0;
  const door = createServer((client) => {
    const inner = connect(target, '127.0.0.1');
    for (const socket of [client, inner]) socket.on('error', () => [client.destroy(), inner.destroy()]);
    client.pipe(inner).pipe(client);
  });
  await new Promise<void>((resolve) => door.listen(0, 'localhost', resolve));
  onTestFinished(() => void door.close());
  const address = door.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://localhost:${port}`,
    behind: (service) => {
      target = service.port;
    },
  };
}
