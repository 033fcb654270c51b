// Alerts as people see them: a person's own rule, a message to a chat, an alert that is on with a mark in the
// menu, and its end.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { firstAdmin, personWith, signedIn } from '../../service/http/person-client.ts';
import { authorize, shareService } from '../../service/http/service.ts';
import { accessibilityFaults, shareBrowser, sizes } from './browser.ts';

const service = shareService({ areWebhooksPrivate: true, alerts: { everyMs: 100 } });
const open = shareBrowser();
const email = 'ann@example.com';

test('a rule is added, announced in a chat, and starts and ends an alert', async () => {
  const admin = await firstAdmin(service());
  await personWith(service(), admin, { email: 'otto@example.com', roles: ['operator'] });
  // A group that policies ask and that nobody is in would be an alert, too.
  await personWith(service(), admin, { email: 'fin@example.com', roles: ['approver'], groups: ['finance'] });
  const got: string[] = [];
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    got.push((JSON.parse(body) as { readonly text: string }).text.split('\n')[0] ?? '');
    response.end('ok');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const { page } = await open(service(), { email, expected: /400/ });
  await page.goto('/alerts');
  await page.getByText('No active alerts').waitFor();
  await page.getByRole('tab', { name: 'Webhooks and chat' }).click();
  await page.getByRole('button', { name: 'Add a webhook or chat' }).click();
  await page.getByLabel(/^People in a chat/).check();
  await page.getByLabel('Address').fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`);
  await page.getByRole('button', { name: 'Add the chat' }).click();
  await page.getByText('Chat', { exact: true }).waitFor();
  await page.getByRole('tab', { name: 'Rules' }).click();
  await page
    // Nobody is notified by mail, because there is no mail server.
    .getByRole('row', {
      name: /^Many denials 50 % or more of the decisions are denials within 15 minutes subscribed webhooks/,
    })
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByLabel('Name').fill('Broken bodies');
  await page.getByLabel('Number').fill('1');
  await page.getByLabel('Code').fill('invalid_json');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('row', { name: /^Broken bodies 1 or more requests are refused with invalid_json/ })
    .waitFor();
  expect((await authorize(service(), { body: 'no json' })).status).toBe(400);
  await page.getByRole('link', { name: 'Alerts 1 on' }).click();
  await page.getByText('1 request was refused with invalid_json within 5 minutes').first().waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await expect
    .poll(() => got)
    .toContain(
      'Alert: Broken bodies. 1 request was refused with invalid_json within 5 minutes (1 is the threshold).',
    );
  await page.getByRole('tab', { name: 'Rules' }).click();
  await page.getByRole('button', { name: 'Delete Broken bodies' }).click();
  await page.getByRole('link', { name: 'Alerts', exact: true }).first().waitFor();
  await expect.poll(() => got.at(-1)).toMatch(/^Ended: Broken bodies\. It lasted from /);
});

test('a kill switch is an alert for operators on a phone, who cannot change its rule', async () => {
  const ann = await signedIn(service(), email);
  const stopped = await ann.send('/v1/kill-switches', {
    method: 'POST',
    body: { scope: 'all', reason: 'a drill' },
  });
  const { page } = await open(service(), { email: 'otto@example.com', size: sizes.phone, theme: 'dark' });
  await page.goto('/alerts');
  await page.getByText('1 kill switch is on.').first().waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  const off = { method: 'POST', body: { reason: 'it was a drill' } } as const;
  await ann.send(`/v1/kill-switches/${stopped.body.id}/deactivate`, off);
  await page.getByText('No active alerts').waitFor();
  await page.goto('/alerts?tab=rules');
  await page.getByText('Many denials').waitFor();
  expect(await page.getByRole('button', { name: /^Change/ }).count()).toBe(0);
  const otto = await signedIn(service(), 'otto@example.com');
  expect(
    (await otto.send('/v1/alert-rules/denials', { method: 'PATCH', body: { active: false } })).status,
  ).toBe(403);
});
