// Standing approvals in the dashboard: an approver chooses less than the rule allows, later requests are granted,
// and the list, on its own page and on the page of the agent, revokes them.

import { expect, test } from 'vitest';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { startService } from '../../service/http/service.ts';
import { ask } from '../../service/http/written-policies.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const open = shareBrowser();

const policies = `
approvers finance "Finance"
action pay.send { vendor: string }
policy pay on pay.send {
  allow all
  escalate new_payee to finance within 1h
    standing per session, payload.vendor for 8h up to 10 times
}`;

test('an approval of later requests is chosen, shortened, used and revoked', async () => {
  const service = await startService({ startsWith: policies });
  const admin = await firstAdmin(service);
  await personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] });
  const pay = () =>
    ask(service, 'pay.send', { payload: { vendor: 'Staples' }, headers: { 'x-agent-session': 's1' } });
  const { request_id: id } = await pay();
  const { page } = await open(service, { email: 'ben@example.com', size: sizes.laptop });
  await page.goto(`/approvals/${id}`);
  await page.getByRole('button', { name: 'Approve…' }).click();
  await page.getByLabel('Later requests, too: vendor Staples in this session').check();
  expect(await page.getByLabel('Requests at most').inputValue()).toBe('10');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('Requests at most').fill('2');
  await page.getByRole('button', { name: 'Approve and later requests for finance' }).click();
  await page.getByText('approved this and later requests for finance').waitFor();
  expect((await pay()).decision).toBe('ALLOW');
  await page.goto('/approvals');
  await page.getByRole('link', { name: 'Standing approvals' }).click();
  const row = page.getByRole('row', { name: /vendor Staples in this session/ });
  await row.getByText('1 of 2').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await row.getByText(/has revoked it/).waitFor();
  expect((await pay()).decision).toBe('ESCALATE');
});

test('the page of an agent lists its standing approvals, also on a phone', async () => {
  const service = await startService({ startsWith: policies });
  const admin = await firstAdmin(service);
  const ben = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const { request_id: id } = await ask(service, 'pay.send', {
    payload: { vendor: 'Staples' },
    headers: { 'x-agent-session': 's1' },
  });
  const body = { comment: 'known vendor', standing: {} };
  expect((await ben.send(`/v1/requests/${id}/approve`, { method: 'POST', body })).status).toBe(200);
  const { page } = await open(service, { email: admin.email, size: { width: 390, height: 844 } });
  await page.goto(`/agents/${service.agent.id}`);
  await page.getByRole('heading', { name: 'Standing approvals' }).waitFor();
  await page.getByText('0 of 10').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
});
