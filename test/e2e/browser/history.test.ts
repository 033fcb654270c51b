// The history of policies and the diff of two of its sets, in the browser: the short diff of each set, a link that
// opens the same diff for another person, and what the page shows when there is only one set.

import { expect, test } from 'vitest';
import { type Service, shareService, startService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { accessibilityFaults, addPeople, shareBrowser, sizes } from './browser.ts';

const service = shareService();
const open = shareBrowser();

const policies = (limit: number): string => `action pay.make { amount: number 0.01.. }
policy p on pay.make {
  allow small when payload.amount <= ${limit}
}
`;

let asked: Promise<void> | null = null;

async function prepare(shared: Service): Promise<void> {
  await addPeople(shared);
  for (const limit of [100, 5_000]) {
    await usePolicies(shared, policies(limit));
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

async function world(): Promise<Service> {
  const shared = service();
  asked ??= prepare(shared);
  await asked;
  return shared;
}

test('the history shows what changed with a set, and links to the full diff', async () => {
  const shared = await world();
  const { page } = await open(shared, { email: 'ann@example.com' });
  await page.goto('/policies?tab=history');
  const history = page.getByRole('region', { name: 'History', exact: true });
  await history.getByText('The first recorded set.').waitFor();
  expect(await history.getByRole('listitem').count()).toBe(3);
  const latest = history.getByRole('listitem').first();
  await latest.locator('summary').focus();
  await page.keyboard.press('Enter');
  await latest.getByRole('status').getByText('1 loosened · 0 stricter · 0 undecided').waitFor();
  expect(await latest.innerText()).toContain(
    'Loosened: DENY → ALLOW for pay.make when payload.amount > 100 and <= 5000',
  );
  expect(await accessibilityFaults(page)).toEqual([]);
  await latest.getByRole('link', { name: /^Full diff/ }).click();
  await page.waitForURL('**/diff?old=**');
  const decided = page.getByRole('region', { name: 'Decisions that differ' });
  await decided.getByRole('heading', { name: /Loosened/ }).waitFor();
  const text = page.getByRole('region', { name: 'Changes of demo.policy' });
  expect(await text.innerText()).toMatch(/removed:\s*allow small.* 100[\s\S]*added:\s*allow small.* 5000/);
  const sentences = page.getByRole('list', { name: 'Sentences that differ' });
  await sentences.getByText('at most 5,000').waitFor();
  expect(await sentences.innerText()).toMatch(/removed:\s*.*at most 100[\s\S]*added:\s*.*at most 5,000/);
  expect(await accessibilityFaults(page)).toEqual([]);

  const other = await open(shared, { email: 'ben@example.com', theme: 'dark', size: sizes.phone });
  await other.page.goto(page.url());
  await other.page.getByRole('heading', { name: /Loosened/ }).waitFor();
  expect(await accessibilityFaults(other.page)).toEqual([]);
  expect(await other.page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);

  await page.getByRole('button', { name: 'Swap' }).click();
  await decided.getByRole('heading', { name: /Stricter/ }).waitFor();
  await decided.getByRole('button', { name: 'Try this request' }).click();
  await page.waitForURL('**/playground');
  await page.getByRole('textbox', { name: 'Request as JSON' }).getByText('pay.make').waitFor();
});

test('the page compares the active policies with the set before; equal or deleted sets are reported', async () => {
  const { page } = await open(await world(), { email: 'ann@example.com', expected: /404/ });
  await page.goto('/diff');
  await page.getByRole('heading', { name: /Loosened/ }).waitFor();
  const from = page.getByLabel('From');
  await from.selectOption({ index: 0 });
  await page.getByText('No file differs').waitFor();
  await page.getByText(/^No decision changes: proved for all requests of/).waitFor();
  await page.goto('/diff?old=sha256:00&new=sha256:11');
  await page.getByRole('alert').getByText('its texts are no longer kept').waitFor();
  expect(await from.inputValue()).toBe('sha256:00');
});

test('with one known set there is no diff', async () => {
  const { page } = await open(await world(), { email: 'ann@example.com' });
  await page.route('**/v1/policies/history', (route) =>
    route.fulfill({ json: { items: [], no_roll_back: null } }),
  );
  await page.goto('/diff');
  await page.getByText('There is only one set so far').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('if no set can be restored, the history gives the reason and has no button', async () => {
  const shared = await startService({ isInFile: true });
  await prepare(shared);
  const { page } = await open(shared, { email: 'ann@example.com' });
  await page.route('**/v1/policies/history', async (route) => {
    const reply = await route.fetch();
    await route.fulfill({
      json: { ...(await reply.json()), no_roll_back: 'the policies come from a bundle' },
    });
  });
  await page.goto('/policies?tab=history');
  const history = page.getByRole('region', { name: 'History', exact: true });
  await history.getByText('Rollback is not available here: the policies come from a bundle.').waitFor();
  expect(await history.getByRole('listitem').count()).toBeGreaterThan(1);
  expect(await history.getByRole('button', { name: /^Roll back/ }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('an admin rolls back from the history with a reason; others have no button', async () => {
  const shared = await startService({ isInFile: true });
  await prepare(shared);
  const { page } = await open(shared, { email: 'ann@example.com' });
  await page.goto('/policies?tab=history');
  const history = page.getByRole('region', { name: 'History', exact: true });
  const now = shared.policies.current().digest;
  await history
    .getByRole('listitem')
    .nth(1)
    .getByRole('button', { name: /^Roll back to this/ })
    .click();
  const dialog = page.getByRole('dialog');
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByLabel('Reason').fill('too much passed');
  await dialog.getByRole('button', { name: 'Roll back', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(shared.policies.current().digest).not.toBe(now);
  await history.getByRole('listitem').nth(3).waitFor();
  const link = history
    .getByRole('listitem')
    .nth(1)
    .getByRole('link', { name: /^Its decisions/ });
  expect(await link.getAttribute('href')).toMatch(/^\/requests\?from=.*&to=/);
  const other = await open(shared, { email: 'ben@example.com' });
  await other.page.goto('/policies?tab=history');
  await other.page.getByText('The first recorded set.').waitFor();
  expect(await other.page.getByRole('button', { name: /^Roll back/ }).count()).toBe(0);
});
