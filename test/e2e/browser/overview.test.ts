// The overview: the hints before the first request, numbers that follow new requests, and plots that can be
// pointed at, zoomed and walked along, with and without the mouse.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { send } from '../../service/http/person-client.ts';
import { authorize, type Service, shareService } from '../../service/http/service.ts';
import { accessibilityFaults, addPeople, shareBrowser, sizes } from './browser.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';

async function ask({ url, apiKey }: Service, ...actions: readonly string[]): Promise<void> {
  for (const action of actions) {
    const headers = { 'x-agent-api-key': apiKey };
    const body = { action_key: action, payload: {} };
    expect((await send({ url }, '/v1/authorize', { method: 'POST', headers, body })).status).toBe(200);
  }
}

const plotOf = (page: Page, name: string) => page.getByRole('slider', { name });
const countOf = (page: Page, name: string) =>
  page.getByRole('button', { name }).locator('strong').textContent();

async function drawn(page: Page): Promise<void> {
  for (const name of ['Decisions over time', 'Escalations', 'Latency', 'risk score'])
    await plotOf(page, name).locator('canvas').waitFor();
}

async function isTooWide(page: Page): Promise<boolean> {
  return await page.evaluate('document.documentElement.scrollWidth > innerWidth');
}

test('without requests it explains how to send one, and then shows the first one without a reload', async () => {
  await addPeople(service());
  const { page } = await open(service(), { email });
  await page.goto('/overview');
  await page.getByText('No requests in the last 24 hours').waitFor();
  expect(await page.locator('pre').textContent()).toContain(`curl ${service().url}/v1/authorize`);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: '30 days', exact: false }).first().click();
  await page.getByText('No requests in the last 30 days').waitFor();
  await page.goBack();
  await ask(service(), 'demo.allow');
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  expect(await countOf(page, 'Allow')).toBe('1');
});

test('plots are drawn if the browser has an invalid language tag', async () => {
  const { page } = await open(service(), { email });
  await page.addInitScript("Object.defineProperty(navigator, 'language', { get: () => 'en-US@posix' })");
  await page.goto('/overview');
  await drawn(page);
});

test('numbers are updated, and removed parts stay removed', async () => {
  await ask(service(), 'demo.deny', 'demo.escalate', 'demo.reauth', 'demo.unknown');
  const { page } = await open(service(), { email });
  await page.goto('/overview?hide=allow');
  await drawn(page);
  expect(await page.getByRole('button', { name: 'Allow' }).getAttribute('aria-pressed')).toBe('false');
  await page.getByRole('button', { name: 'Step-up' }).click();
  expect(new URL(page.url()).searchParams.get('hide')).toBe('allow,reauth');
  await ask(service(), 'demo.deny');
  await expect.poll(() => countOf(page, 'Deny')).toBe('3');
  await page.getByText('Table of Decisions over time').click();
  const table = page.getByRole('region', { name: 'Table of Decisions over time' });
  const heads = table.getByRole('columnheader');
  await expect.poll(() => heads.allTextContents()).toEqual(['Time', 'Deny', 'Escalate', 'Refused']);
  expect(await table.getByRole('row').count()).toBe(1 + 48);
  await page.getByText('Table of policies').click();
  const policies = page.getByRole('table', { name: 'Table of policies' });
  expect(await policies.getByRole('row', { name: /^demo/ }).textContent()).toBe('demo1211');
  expect(await page.getByRole('link', { name: 'demo', exact: true }).getAttribute('href')).toMatch(
    /^\/requests\?policy=demo&from=/,
  );
  expect(await page.getByRole('link', { name: '2', exact: true }).getAttribute('href')).toBe('/approvals');
  const latency = page.getByRole('region', { name: 'Latency of decisions' });
  await expect
    .poll(() => latency.getByRole('definition').allTextContents())
    .toEqual(['Median', '90th', '99th'].map(() => expect.stringMatching(/\d.*s$/)));
  const refused = page.getByRole('region', { name: 'Refused before any policy' });
  await refused.getByText('Nothing was refused in this time.').waitFor();
  expect((await authorize(service(), { body: 'no json' })).status).toBe(400);
  await ask(service(), 'demo.deny');
  await expect
    .poll(() => refused.getByRole('listitem').allTextContents())
    .toEqual(['The body is not strict JSON invalid_json1']);
});

test('a plot is read and zoomed with the keyboard only', async () => {
  const { page } = await open(service(), { email, theme: 'dark' });
  await page.goto('/overview');
  await drawn(page);
  const plot = plotOf(page, 'Decisions over time');
  await plot.focus();
  await page.keyboard.press('End');
  const text = () => plot.getAttribute('aria-valuetext');
  await expect.poll(text).toMatch(/: Allow \d+, Deny \d+, Escalate \d+, Step-up \d+, Refused \d+$/);
  expect(await plot.getAttribute('aria-valuenow')).toBe('47');
  expect(await page.locator('.overview-tip').textContent()).toContain('Allow');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect.poll(text).toBe('48 steps');
  await page.keyboard.press('End');
  await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Zoom out' }).waitFor();
  const { searchParams } = new URL(page.url());
  const spanMs = Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '');
  expect(spanMs).toBe(3 * 30 * 60_000);
  await expect.poll(async () => Number(await plot.getAttribute('aria-valuemax'))).toBe(89);
  await plot.focus();
  await page.keyboard.press('Backspace');
  await page.getByRole('button', { name: 'Zoom out' }).waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('button', { name: 'Zoom out' }).click();
  expect(new URL(page.url()).search).toBe('');
});

test('the mouse shows values, and dragging zooms', async () => {
  const { page } = await open(service(), { email });
  await page.goto('/overview');
  await drawn(page);
  const over = plotOf(page, 'Decisions over time').locator('.u-over');
  const box = await over.boundingBox();
  if (box === null) throw new Error('the plot has a place');
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width - 4, y);
  expect(await page.locator('.overview-tip strong').textContent()).toMatch(/–/);
  await page.mouse.move(box.x + box.width * 0.75, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.99, y, { steps: 4 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'Zoom out' }).waitFor();
  expect(page.url()).toContain('from=');
  await page.mouse.dblclick(box.x + box.width / 2, y + 60);
  await page.getByRole('button', { name: 'Zoom out' }).waitFor({ state: 'detached' });
  const risk = plotOf(page, 'Decisions by risk score');
  await risk.focus();
  await page.keyboard.press('Home');
  expect(await risk.getAttribute('aria-valuetext')).toMatch(/^Risk 0 to 9: Decisions \d$/);
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'All scores' }).waitFor();
  expect(new URL(page.url()).searchParams.get('risk')).toBe('0-20');
});

test('fits a phone, follows the theme, and keeps what it has when the service does not answer', async () => {
  const { page, context } = await open(service(), {
    email,
    size: sizes.phone,
    expected: /Failed to load|ERR_/,
  });
  await page.goto('/overview');
  await drawn(page);
  expect(await isTooWide(page)).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  const picture = () =>
    plotOf(page, 'Decisions over time')
      .locator('canvas')
      .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  const light = await picture();
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(picture).not.toBe(light);
  expect(await accessibilityFaults(page)).toEqual([]);
  await context.route('**/v1/overview*', (route) => route.fulfill({ status: 500, body: '{}' }));
  await page.getByRole('link', { name: '7 days' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('button', { name: 'Allow' }).isVisible()).toBe(true);
  await context.unroute('**/v1/overview*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('alert').waitFor({ state: 'detached' });
});
