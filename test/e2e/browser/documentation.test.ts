// The documentation in a browser: pages, search, themes, copies and the playground, without a service's data and
// without a message on the console.

import { describe, expect, test } from 'vitest';
import { codes } from '../../../src/language/diagnostic/codes.ts';
import { shareService } from '../../service/http/service.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const service = shareService();
const open = shareBrowser();

const addresses = ['/docs', '/docs/language', '/docs/cookbook', '/docs/playground', '/docs/errors/stopped'];

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  test.each(Object.entries(sizes))('pages fit and are accessible: %s', async (_name, size) => {
    const { page } = await open(service(), { theme, size });
    for (const address of addresses) {
      await page.goto(address);
      if (address === '/docs/playground')
        await page.getByText('Payments up to 1,000 USD need nobody').last().waitFor();
      const over = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      expect([address, over, await accessibilityFaults(page)]).toEqual([address, 0, []]);
    }
  });
});

test('the search finds a code, a section and a word with keys only', async () => {
  const { page } = await open(service());
  await page.goto('/docs');
  await page.keyboard.press('/');
  await page.keyboard.type('never-true');
  await page.getByRole('option', { name: 'never-true' }).first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/diagnostics/never-true');

  await page.keyboard.press('/');
  await page.keyboard.type('fair shares');
  await page.getByRole('option', { name: 'Ask for a decision: Fair shares' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/service/authorize#fair-shares');

  await page.keyboard.press('/');
  await page.keyboard.type('xyzzyx');
  await page.getByText('Nothing is found for "xyzzyx".').waitFor();
  await page.keyboard.press('Escape');
  expect(await page.getByRole('listbox').count()).toBe(0);
});

test('the chosen theme is kept, and code is copied', async () => {
  const { page, context } = await open(service());
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/docs/language');
  await page.getByLabel('Theme').selectOption('dark');
  await page.goto('/docs/cookbook');
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
    'policy payments on payment.create {',
  );
});

test('on a phone the menu opens', async () => {
  const { page } = await open(service(), { size: sizes.phone });
  await page.goto('/docs/language');
  const menu = page.getByRole('navigation', { name: 'Pages' });
  expect(await menu.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await menu.getByRole('link', { name: 'Cookbook' }).click();
  await page.waitForURL('**/docs/cookbook');
});

test('a missing page has links', async () => {
  const { page } = await open(service(), { expected: /404/ });
  await page.goto('/docs/nothing');
  await page.getByRole('link', { name: 'the first page' }).click();
  await page.waitForURL('**/docs');
});

test('the playground decides, explains, marks mistakes, and opens recipes', async () => {
  const { page } = await open(service());
  const asked: string[] = [];
  await page.goto('/docs/cookbook');
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.getByRole('link', { name: 'Open in the playground: Four eyes' }).click();
  const decision = page.getByRole('region', { name: 'Decision' });
  await decision.getByText('payments/two_people').waitFor();
  expect(await decision.textContent()).toContain('2 of finance');

  const request = page.getByRole('textbox', { name: /^Request as JSON/ });
  await request.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(
    '{"action_key": "payment.create", "payload": {"amount": 20000, "currency": "USD", "vendor": "Staples", "asked_by": "ann@example.com"}}',
  );
  await decision.getByText('default_deny').waitFor();
  await page.getByRole('region', { name: 'What would change it' }).getByText('10000 USD').waitFor();

  const policy = page.getByRole('textbox', { name: /^Policy/ });
  await policy.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('policy twice on nothing.there {}');
  await page
    .getByRole('link', { name: /^Learn more about / })
    .first()
    .waitFor();
  const address = await page
    .getByRole('link', { name: /^Learn more about / })
    .first()
    .getAttribute('href');
  expect(Object.keys(codes)).toContain(address?.replace('/docs/diagnostics/', ''));
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(asked.filter((path) => !path.startsWith('/docs/'))).toEqual([]);
});
