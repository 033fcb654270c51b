// A request with fallbacks in the dashboard: its page says who is asked now and later, and once the time is over, the
// fallback finds the request in the inbox and approves it.

import { expect, test } from 'vitest';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { startService } from '../../service/http/service.ts';
import { ask } from '../../service/http/written-policies.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const open = shareBrowser();

const policies = `
approvers finance "Finance"
approvers security "Security"
approvers legal "Legal"
action pay.send { vendor: string }
policy pay on pay.send {
  allow all
  escalate new_payee to finance within 10m then to security within 10m then to legal within 10m
}`;

test('the page of a request tells who is asked now and later, and the fallback approves it', async () => {
  const clock = { aheadMs: 0 };
  const service = await startService({
    startsWith: policies,
    clock: () => Date.now() + clock.aheadMs,
    fallbacks: { everyMs: 50 },
  });
  const admin = await firstAdmin(service);
  for (const [name, group] of [
    ['fay', 'finance'],
    ['sam', 'security'],
  ] as const)
    await personWith(service, admin, {
      email: `${name}@example.com`,
      roles: ['approver'],
      groups: [group],
    });
  const { request_id: id } = await ask(service, 'pay.send', { payload: { vendor: 'Staples' } });
  // Another request keeps the agent visible to the approver of the first.
  await ask(service, 'pay.send', { payload: { vendor: 'Uline' } });
  const first = await open(service, { email: 'fay@example.com', size: sizes.laptop });
  await first.page.goto(`/requests/${id}`);
  await first.page.getByText('If nobody decides, security may approve as well').waitFor();
  await first.page.getByText('If nobody decides, legal may approve as well').waitFor();
  expect(await accessibilityFaults(first.page)).toEqual([]);
  clock.aheadMs = 10 * 60_000;
  await first.page.getByText('Nobody had decided, so security may approve as well').waitFor();

  const { page } = await open(service, { email: 'sam@example.com', size: { width: 390, height: 844 } });
  await page.goto('/approvals');
  await page.getByText('Staples').first().waitFor();
  await page.goto(`/approvals/${id}`);
  await page.getByRole('button', { name: 'Approve…' }).click();
  await page.getByRole('button', { name: 'Approve for finance then security then legal' }).click();
  await page.getByText(/approved for finance/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
});
