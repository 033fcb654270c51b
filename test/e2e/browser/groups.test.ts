// What waits for a group without enough members is said on every page, on the page of the request and on the page
// of people, and an admin can close the gap there.

import { expect, test } from 'vitest';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { startService } from '../../service/http/service.ts';
import { ask, usePolicies } from '../../service/http/written-policies.ts';
import { accessibilityFaults, shareBrowser } from './browser.ts';

const open = shareBrowser();
const policies = `
approvers finance "Finance, on call" by chat up to risk 40
approvers legal "Legal"
action pay.create { amount: number }
policy pay on pay.create {
  allow all
  escalate large to finance needs 2 within 1h when payload.amount > 1
}
`;

test('pending requests that nobody can approve are shown, and an admin adds themselves', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  await usePolicies(service, policies);
  const { request_id: id } = await ask(service, 'pay.create');
  const { page } = await open(service, { email: 'ann@example.com' });
  await page.goto('/approvals');
  const banner = page.getByRole('region', { name: 'Groups without enough members' });
  await banner.getByText('1 pending request needs finance, which has no members.').waitFor();
  for (const [width, theme] of [[1440, 'light'] as const, [1024, 'dark'] as const, [390, 'dark'] as const]) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height: 844 });
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    // One line, whatever the width.
    expect((await banner.boundingBox())?.height).toBeLessThan(60);
  }
  await banner.getByRole('button', { name: 'More' }).click();
  await banner.getByRole('link', { name: 'Invite' }).waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });

  await page.goto(`/requests/${id}`);
  await page.getByText('Nobody can answer for finance now.').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.goto('/access');
  const row = page.getByRole('row', { name: /^finance/ });
  await row.getByText('needs 2, has 0').waitFor();
  await row.getByText('1 pending').waitFor();
  await row.getByRole('cell', { name: 'up to risk 40' }).waitFor();
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await row.getByRole('button', { name: 'Add yourself' }).click();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('dialog').getByRole('button', { name: 'Add yourself' }).click();
  await row.getByText('needs 2, has 1').waitFor();
  await row.getByRole('link', { name: 'Ann' }).waitFor();

  await page.goto('/policies');
  await page.getByText('Finance, on call, may decide by chat up to risk 40').waitFor();
  expect(await page.getByText('by chat').count()).toBe(1);

  await page.goto('/access');
  await personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] });
  await row.getByText('needs 2, has 2').waitFor();
  await page.goto('/approvals');
  await page.getByText('1 pending for you').waitFor();
  expect(await banner.count()).toBe(0);
});

test('an invitation for a group has the role and the group, and says whether mail is sent', async () => {
  const service = await startService();
  await firstAdmin(service);
  await usePolicies(service, policies);
  const { page } = await open(service, { email: 'ann@example.com' });
  await page.goto('/access');
  await page.getByRole('link', { name: 'Invite someone to finance' }).click();
  await page.getByLabel('Name').fill('Ben');
  await page.getByLabel('E-mail address').fill('ben@example.com');
  expect(await page.getByLabel(/^approver/).isChecked()).toBe(true);
  expect(await page.getByLabel(/^finance/).isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Create invitation' }).click();
  await page.getByText('No mail server is set up, so send it yourself.').waitFor();
});
