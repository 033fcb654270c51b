// The playground's diff in the browser: the diff of the copy with the active policies by keyboard alone, trying an
// example at once, and what the page shows when there is no diff.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Service, shareService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { accessibilityFaults, addPeople, shareBrowser, sizes } from './browser.ts';

const service = shareService();
const open = shareBrowser();
const email = 'ann@example.com';

const policies = `approvers finance "Finance"
action pay.make { amount: number 0.01.., to: string }
action file.read { path: path }
policy p on pay.make {
  allow small when payload.amount <= 1_000
  allow any after approval by finance when payload.amount <= 10_000
}
policy files on file.read {
  allow workspace when payload.path inside "/workspace"
}
guarantee ceiling on pay.make { never allow unapproved when payload.amount > 1_000 }
`;

let asked: Promise<void> | null = null;

async function world(): Promise<Service> {
  const shared = service();
  asked ??= addPeople(shared).then(() => usePolicies(shared, policies));
  await asked;
  return shared;
}

const view = (page: Page) => page.getByRole('region', { name: 'Compared with the active policies' });
const status = (page: Page) => page.locator('.diff').getByRole('status').first();
const diffButton = (page: Page) => page.getByRole('button', { name: 'Compare with active' });
const findings = (page: Page) => page.getByRole('list', { name: /loosest first$/ }).locator('> li');

async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /^demo\.policy\./ }).focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}

async function press(page: Page, button: ReturnType<typeof diffButton>): Promise<void> {
  await button.focus();
  await page.keyboard.press('Enter');
}

test('the loosest change comes first, with its basis and a request that can be tried', async () => {
  const { page } = await open(await world(), { email });
  await page.goto('/playground');
  await press(page, diffButton(page));
  await view(page).getByText('No changes yet').waitFor();
  await press(page, diffButton(page));

  await write(page, policies.replace('payload.amount <= 1_000\n', 'payload.amount <= 12_000\n'));
  await press(page, diffButton(page));
  await status(page).getByText('2 loosened · 0 stricter · 0 undecided').waitFor();
  expect(await findings(page).getByRole('heading').allInnerTexts()).toEqual([
    expect.stringMatching(/Loosened\s*Deny\s*→\s*becomes\s*Allow/),
    expect.stringMatching(/Loosened\s*Escalate\s*→\s*becomes\s*Allow/),
  ]);
  const first = findings(page).first();
  expect(await first.innerText()).toContain('payload.amount > 10000 and <= 12000');
  expect(await first.innerText()).toContain('p/small changed demo.policy:5');
  const closing = page.getByRole('list', { name: 'All decisions' });
  expect(await closing.innerText()).toMatch(
    /Nothing else changes: proved for all requests of 2 actions, decided from \d{4}-/,
  );
  expect(await closing.innerText()).toMatch(/guarantee ceiling: .* was proved and is refuted/);
  expect(await accessibilityFaults(page)).toEqual([]);

  await press(page, first.getByRole('button', { name: 'Add as test' }));
  const dialog = page.getByRole('dialog', { name: 'Add as test' });
  expect(await dialog.innerText()).toContain('demo.test.yaml');
  const lines = dialog.locator('pre');
  expect(await lines.innerText()).toMatch(
    /action: "pay.make"[\s\S]*expect: \{"decision":"ALLOW","by":"p\/small"\}/,
  );
  await dialog.getByLabel('Expected').selectOption({ label: 'DENY, as active' });
  await lines.getByText('expect: {"decision":"DENY","by":"default_deny"}').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  const broken = page
    .getByRole('region', { name: 'Guarantees' })
    .getByRole('button', { name: 'Add as test' });
  await press(page, broken);
  await lines.getByText('expect: {"not":"ALLOW"}').waitFor();
  await page.keyboard.press('Escape');

  await press(page, first.getByRole('button', { name: 'Try this request' }));
  const answer = page.getByRole('complementary', { name: 'Result' });
  await answer.getByRole('button', { name: 'p/small' }).first().waitFor();
  await answer.getByText('Up to date.').waitFor();
  expect(await findings(page).count()).toBe(2);

  await press(page, first.getByRole('button', { name: 'demo.policy:5' }));
  await page.getByRole('textbox', { name: /^demo\.policy\./ }).waitFor();
  // The diff stays below the editor until it is closed.
  expect(await diffButton(page).getAttribute('aria-pressed')).toBe('true');
  await press(page, view(page).getByRole('button', { name: /^Close/ }));
  expect(await diffButton(page).getAttribute('aria-pressed')).toBe('false');
});

test('rewording changes no decision, and files with errors are not compared', async () => {
  const { page } = await open(await world(), { email, size: sizes.phone });
  await page.goto('/playground');
  await write(page, policies.replace('payload.amount <= 1_000\n', 'not (payload.amount > 1_000)\n'));
  await press(page, diffButton(page));
  await status(page).getByText('0 loosened · 0 stricter · 0 undecided').waitFor();
  await page.getByText(/^No decision changes: proved for all requests of 2 actions/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);

  await press(page, diffButton(page));
  await write(page, policies.replace('by finance', 'by fnance'));
  await press(page, diffButton(page));
  await status(page).getByText('no diff while the policies have errors').waitFor();
  await page.locator('.playground-diagnostics').getByText('The policies have 1 error.').waitFor();
});

test('a refused diff is reported, and can be requested again', async () => {
  const { page } = await open(await world(), { email, expected: /503/ });
  await page.route('**/v1/policies/diff', (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        type: 'urn:writ:error:playground_failed',
        title: 'The playground did not answer',
        status: 503,
        detail: 'it did not finish within 5 seconds',
      }),
    }),
  );
  await page.goto('/playground');
  await write(page, policies.replace('payload.amount <= 1_000\n', 'payload.amount <= 500\n'));
  await press(page, diffButton(page));
  await page.getByRole('alert').getByText('it did not finish within 5 seconds').waitFor();
  await view(page).getByText('has no time limit').waitFor();
  await page.unroute('**/v1/policies/diff');
  await press(page, page.getByRole('button', { name: 'Try again' }));
  await status(page).getByText('0 loosened · 1 stricter · 0 undecided').waitFor();
});
