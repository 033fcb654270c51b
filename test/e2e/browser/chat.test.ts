// Chat accounts in the dashboard: a person links one with a code that they enter in Slack, votes there, and ends the link;
// the request shows by which chat the vote came.

import { expect, test, vi } from 'vitest';
import { slackSettings } from '../../service/chat/chat-team.ts';
import {
  appTeam,
  commandDelivery,
  deliver,
  formDelivery,
  pressed,
  shareSlack,
} from '../../service/chat/slack-server.ts';
import { firstAdmin, password, personWith } from '../../service/http/person-client.ts';
import { startService } from '../../service/http/service.ts';
import { ask } from '../../service/http/written-policies.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const slack = shareSlack();
const open = shareBrowser();
const policies = `
approvers finance "Finance" by chat up to risk 40
action pay.send { vendor: string, amount: number }
policy pay on pay.send {
  allow all for 10m
  escalate one to finance within 24h
}
`;

test('an account is linked, votes, and is unlinked', async () => {
  const service = await startService({ startsWith: policies, slack: slackSettings(slack) });
  const admin = await firstAdmin(service);
  const email = 'ben@example.com';
  await personWith(service, admin, { email, roles: ['approver', 'auditor'], groups: ['finance'] });
  const { page } = await open(service, { email });
  await page.goto('/account');
  await page.getByRole('button', { name: 'Link an account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current password').fill(password);
  await dialog.getByRole('button', { name: 'Create a code' }).click();
  const text = await dialog.locator('pre').innerText();
  expect(text).toMatch(/^\/writ link [A-Z2-9]{10}$/);
  expect(await accessibilityFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Code not entered yet').waitFor();
  const user = { id: 'U0BEN', team: appTeam, name: 'ben.k' };
  await deliver(service, commandDelivery(user, text.replace('/writ ', '')));
  await page.getByRole('button', { name: 'Confirm…' }).click();
  await page.getByRole('dialog').getByText('Slack: ben.k (U0BEN)').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'It is mine: link it' }).click();
  await page.getByText('The account is linked', { exact: true }).waitFor();
  await page.getByText('A chat account was linked to your account').waitFor();
  await page.getByRole('button', { name: 'End the link' }).waitFor();

  const { request_id: id } = await ask(service, 'pay.send', { payload: { vendor: 'Staples', amount: 20 } });
  const message = await vi.waitFor(() => slack.about(id) ?? Promise.reject(new Error('none')), 10_000);
  await deliver(service, formDelivery(pressed(user, message, 'writ_approve')));
  await page.goto(`/requests/${id}`);
  await page.getByText('approved for finance in Slack').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);

  const { page: phone } = await open(service, { email, size: sizes.phone, theme: 'dark' });
  await phone.goto('/account');
  await phone.getByRole('button', { name: 'End the link' }).click();
  expect(await accessibilityFaults(phone)).toEqual([]);
  await phone.getByRole('button', { name: 'End it' }).click();
  await phone.getByText('No linked account').waitFor();
});
