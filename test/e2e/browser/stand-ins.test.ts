// Stand-ins in the dashboard: a member names one on the account page, an admin confirms it on the page of people, the
// stand-in approves in the inbox in the place of the member, and either of the two ends it.

import { expect, test } from 'vitest';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { startService } from '../../service/http/service.ts';
import { ask } from '../../service/http/written-policies.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const open = shareBrowser();

const policies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.send { vendor: string }
policy pay on pay.send {
  allow all
  escalate new_payee to finance within 2h
}`;

test('a member names a stand-in, an admin confirms it, and the stand-in approves', async () => {
  const service = await startService({ startsWith: policies });
  const admin = await firstAdmin(service);
  for (const [name, group] of [
    ['fay', 'finance'],
    ['lea', 'legal'],
  ] as const)
    await personWith(service, admin, { email: `${name}@example.com`, roles: ['approver'], groups: [group] });
  const { request_id: id } = await ask(service, 'pay.send', { payload: { vendor: 'Staples' } });
  // Another request keeps the agent visible to the approver of the first.
  await ask(service, 'pay.send', { payload: { vendor: 'Uline' } });

  const fay = (await open(service, { email: 'fay@example.com', size: sizes.laptop })).page;
  await fay.goto('/account');
  await fay.getByRole('button', { name: 'Name a stand-in' }).click();
  await fay.getByLabel('E-mail address of the stand-in').fill('lea@example.com');
  await fay.getByLabel('Last day').fill(new Date(Date.now() + 6 * 86_400_000).toISOString().slice(0, 10));
  expect(await accessibilityFaults(fay)).toEqual([]);
  await fay.getByRole('button', { name: 'Name the stand-in' }).click();
  await fay.getByText("needs an admin's confirmation").waitFor();

  const root = (await open(service, { email: 'ann@example.com', size: sizes.laptop })).page;
  await root.goto('/access');
  await root.getByRole('button', { name: 'Confirm lea@example.com' }).click();
  await root.getByRole('button', { name: 'Confirm', exact: true }).click();
  await root.getByText('(stand-in: lea@example.com)').waitFor();
  expect(await accessibilityFaults(root)).toEqual([]);

  const lea = (await open(service, { email: 'lea@example.com', size: { width: 390, height: 844 } })).page;
  await lea.goto('/approvals');
  await lea.getByText('for whom you stand in').first().waitFor();
  await lea.goto(`/approvals/${id}`);
  await lea.getByText('You stand in for fay@example.com in the group finance.').waitFor();
  expect(await accessibilityFaults(lea)).toEqual([]);
  expect(await lea.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await lea.getByRole('button', { name: 'Approve…' }).click();
  await lea.getByRole('button', { name: 'Approve for finance' }).click();
  await lea.getByText(/approved for finance in the place of fay@example.com/).waitFor();

  await lea.goto('/account');
  await lea.getByRole('button', { name: 'End lea@example.com' }).click();
  await lea.getByRole('button', { name: 'End it' }).click();
  await lea.getByText('you stand in for nobody').waitFor();
  expect(await lea.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
});
